"""What the nodes cost before and after: by Azure's price list, and never by a made-up one."""

from fractions import Fraction
from typing import Any

import pytest

from aksgpu.preflight.facts import Unanswered
from aksgpu.review.costs import costs, placed
from aksgpu.review.markdown import _costs
from aksgpu.review.model import Costs, Span
from tests.aksgpu.review.price_list import price_list
from tests.aksgpu.review.reviews import A100, CLUSTER, CPU, T4, seen, step

IN = {"resourceGroupName": "g", "resourceName": "c"}
POOL = {**IN, "agentPoolName": "gpu", "vmSize": T4, "count": 2}
HOME = {**IN, "location": "East US", "agentPoolProfiles": [{"name": "system", "vmSize": CPU}]}
PRICES = {T4: 0.75, A100: 3.5, CPU: 0.25}


def cost(monkeypatch: pytest.MonkeyPatch, *events: Any) -> Costs | Unanswered | None:
    with price_list(PRICES) as address:
        monkeypatch.setenv("AKS_GPU_PRICE_LIST", address)
        monkeypatch.setenv("AKS_GPU_TODAY", "2026-11-22")
        return costs(list(seen(*events).steps.values()))


def test_costs_are_reported_before_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    grown = POOL | {"enableAutoScaling": True, "minCount": 0, "maxCount": 4}
    result = cost(
        monkeypatch,
        step("same", "cluster", HOME, HOME, kind=CLUSTER),
        step("update", "gpu", POOL, grown),
        step("create", "spot", None, POOL | {"agentPoolName": "s", "scaleSetPriority": "Spot"}),
    )
    assert isinstance(result, Costs)
    assert result.before == Span(Fraction("1.75"), Fraction("1.75"))
    assert result.after == Span(Fraction("0.25"), Fraction("3.25"))
    assert _costs(result) == (
        "By the price list of 127.0.0.1 of 2026-11-22, the nodes cost 1.75 USD an hour before, and "
        "0.25 to 3.25 after. Without s: no price known."
    )


@pytest.mark.parametrize("unknown", [{"count": "x"}, {"vmSize": "Standard_None"}])
def test_a_pool_without_a_price_is_named(
    monkeypatch: pytest.MonkeyPatch, unknown: dict[str, Any]
) -> None:
    result = cost(
        monkeypatch,
        step("same", "cluster", HOME, HOME, kind=CLUSTER),
        step("create", "gpu", None, POOL | unknown),
    )
    assert isinstance(result, Costs)
    assert result.unpriced == ["gpu"]


def test_a_pool_is_priced_in_the_region_of_its_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {**HOME, "location": "westeurope"}
    here = {**HOME, "resourceName": "d"}
    result = cost(
        monkeypatch,
        step("same", "cluster", there, there, kind=CLUSTER),
        step("same", "other", here, here, kind=CLUSTER),
        step("create", "gpu", None, POOL | {"resourceName": "nobody's"}),
    )
    assert isinstance(result, Costs)
    assert result.unpriced == ["gpu"]


CLASSIC = "azure:containerservice/kubernetesCluster:KubernetesCluster"
CLASSIC_POOL = "azure:containerservice/kubernetesClusterNodePool:KubernetesClusterNodePool"


def test_classic_clusters_of_one_group_are_priced_in_their_own_regions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of the two was priced as the other's region."""
    clusters = [
        step("same", name, here, here, kind=CLASSIC)
        for name, region in (("a", "eastus"), ("b", "westeurope"))
        for here in [{"resourceGroupName": "G", "name": name, "location": region}]
    ]
    place = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters"
    regions: list[str] = []
    for name in ("a", "B", "c"):
        pool = {"kubernetesClusterId": f"{place}/{name}", "name": "p", "vmSize": T4, "nodeCount": 1}
        events = seen(*clusters, step("create", "p", None, pool, kind=CLASSIC_POOL))
        regions += [region for _, region in placed(list(events.steps.values()), was=False)]
    assert regions == ["eastus", "westeurope", ""]


def test_a_boolean_written_as_text_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    off = POOL | {"enableAutoScaling": "false"}
    cluster = step("same", "cluster", HOME, HOME, kind=CLUSTER)
    result = cost(monkeypatch, cluster, step("create", "gpu", None, off))
    assert isinstance(result, Costs)
    assert result.unpriced == []


def test_costs_are_unknown_without_a_region_or_a_price_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nowhere = cost(monkeypatch, step("create", "gpu", None, POOL))
    assert nowhere == Unanswered("no region is known before the update")
    monkeypatch.setenv("AKS_GPU_PRICE_LIST", "http://127.0.0.1:9/prices")
    result = costs(list(seen(step("create", "c", None, HOME, kind=CLUSTER)).steps.values()))
    assert isinstance(result, Unanswered)
    assert _costs(result).startswith("What the nodes cost is not known: the price")


def test_a_stack_without_pools_sends_no_price_request() -> None:
    assert costs(list(seen(step("same", "c", IN, IN, kind=CLUSTER)).steps.values())) is None
