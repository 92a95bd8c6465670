"""Whether the nodes of a pool are on one InfiniBand network, as a check tells it."""

from typing import Any

import pytest

from aksgpu.check import fabric
from aksgpu.check.cluster_view import ScaleSet, scale_sets
from aksgpu.outcome import Cause

FABRIC = "Standard_ND96isr_MI300X_v5"
GROUP = "/subscriptions/s/resourceGroups/mc/providers/Microsoft.Compute"


def node(pool: str, number: int, size: str = FABRIC) -> dict[str, Any]:
    labels = {"kubernetes.azure.com/agentpool": pool, "node.kubernetes.io/instance-type": size}
    machine = f"{GROUP}/virtualMachineScaleSets/aks-{pool}-1-vmss/virtualMachines/{number}"
    return {"metadata": {"labels": labels}, "spec": {"providerID": f"azure://{machine}"}}


def test_only_pools_of_several_nodes_with_infiniband_are_asked_for() -> None:
    """AMD's GPUs too, which the rest of a check does not know."""
    without = {"metadata": {"labels": {"node.kubernetes.io/instance-type": FABRIC}}}
    nodes = [node("two", 0), node("two", 1), node("one", 0), without, {}]
    nodes += [node("plain", number, "Standard_ND96is_MI300X_v5") for number in range(2)]
    assert scale_sets(nodes) == (
        ScaleSet("two", f"{GROUP}/virtualMachineScaleSets/aks-two-1-vmss", "s"),
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [(True, None), (False, "not limited to one placement group"), ("no login", "known: no login")],
)
def test_what_is_not_known_to_be_one_network_is_a_note(
    answer: bool | str, words: str | None
) -> None:
    found = fabric.findings({"training": answer})
    assert [finding.cause for finding in found] == [Cause.SEVERAL_FABRICS] * (words is not None)
    assert all(str(words) in finding.what and not finding.is_problem for finding in found)
