"""Where a pod looks for GPUs that it did not ask for, and what it then tells."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import typer

from aks_catalogue.sample_pod import sample_pod
from aks_catalogue.scheduling import Taint
from aksgpu.check import command, isolation
from aksgpu.check.cluster_view import ClusterView, Node, Pod
from aksgpu.check.examination import CheckOptions, Examination, isolation_place
from aksgpu.check.expected import Expected, Pool
from aksgpu.check.job import Place, SampleJob
from aksgpu.check.target import Target
from aksgpu.outcome import Cause, Finding

SKU = Taint("sku", "gpu", "NoSchedule")
NODE = Node(name="n0", pool="gpu", capacity=1, allocatable=1, taints=(SKU,))
TAKER = Pod(namespace="ns", name="taker", node="n0", gpus=1)
SELECTOR = {"kubernetes.azure.com/agentpool": "gpu"}
POOL = Pool(
    name="gpu",
    size="Standard_NC8as_T4_v3",
    most=1,
    is_scaled=True,
    taints=(SKU,),
    output_pod=sample_pod(None, SELECTOR, [SKU.toleration]),
)


def place(view: ClusterView, *pools: Pool) -> Place | None:
    return isolation.place(view, Expected(pools={pool.name: pool for pool in pools}))


def selector(found: Place | None) -> Any:
    assert found is not None
    (container,) = found.pod["spec"]["containers"]
    assert "resources" not in container
    assert found.pod["spec"]["tolerations"] == [SKU.toleration]
    return found.pod["spec"]["nodeSelector"]


@pytest.mark.parametrize("pools", [(), (POOL,)])
def test_it_looks_on_a_node_with_gpus_also_if_they_are_in_use(pools: tuple[Pool, ...]) -> None:
    found = place(ClusterView(nodes=(NODE,), pods=(TAKER,)), *pools)
    assert selector(found) == {"kubernetes.io/hostname": "n0"}
    assert found is not None
    assert not found.grows


def test_a_pool_without_nodes_may_have_to_grow() -> None:
    found = place(ClusterView(), POOL)
    assert selector(found) == SELECTOR
    assert found is not None
    assert found.grows == "gpu"


@pytest.mark.parametrize(
    "view",
    [
        ClusterView(),
        ClusterView(nodes=(replace(NODE, is_ready=False),)),
        ClusterView(nodes=(replace(NODE, is_cordoned=True),)),
        # Without a driver there is nothing to see.
        ClusterView(nodes=(replace(NODE, capacity=0, allocatable=0),)),
    ],
)
def test_without_a_node_it_does_not_look(view: ClusterView) -> None:
    assert place(view, replace(POOL, is_scaled=False)) is None


class _Looked(SampleJob):
    def __init__(self, log: str, finding: Finding | None = None) -> None:
        self.log, self.finding, self.node = log, finding, "n0"


FAILED = Finding(Cause.TIMEOUT, "too late", "wait")


@pytest.mark.parametrize(
    ("log", "devices"),
    [
        ("/dev/nvidia0\n/dev/nvidia1\nlooked\n", ["/dev/nvidia0", "/dev/nvidia1"]),
        ("looked\n", []),
        ("", None),
        ("sh: not found", None),
    ],
)
def test_only_a_pod_that_looked_tells_something(log: str, devices: list[str] | None) -> None:
    assert isolation.devices(_Looked(log)) == devices
    found = isolation.finding(_Looked(log, FAILED))
    if devices is None:
        assert found is not None
        assert found.cause is Cause.ISOLATION_UNKNOWN
        assert "too late" in found.what
    elif devices:
        assert found is not None
        assert found.cause is Cause.GPUS_OPEN
        assert "/dev/nvidia0 and /dev/nvidia1" in found.what
    else:
        assert found is None


def test_a_log_that_cannot_be_read_proves_nothing() -> None:
    """A check of security passed without having looked."""
    found = isolation.finding(_Looked(""))
    assert found is not None
    assert found.cause is Cause.ISOLATION_UNKNOWN


def asked(monkeypatch: pytest.MonkeyPatch, may_grow: Callable[[str], bool]) -> list[Finding]:
    """What a check finds for a pool without nodes, when it asks whether the pool may grow."""

    async def examined(examination: Examination, *_: Any) -> None:
        examination.view, examination.expected = ClusterView(), Expected(pools={"gpu": POOL})

    monkeypatch.setattr(command, "examine", examined)
    target = Target(title="", kubeconfig={})
    options = CheckOptions(isolation=True, may_grow=may_grow)
    return command.examine_cluster(lambda: target, options, lambda _: None).findings


def test_a_pool_does_not_grow_without_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = asked(monkeypatch, lambda _: False)
    assert found.cause is Cause.ISOLATION_UNKNOWN
    assert "AKS add a node to pool gpu, which costs" in found.what
    assert found.advice == "add --yes"


def test_the_question_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was asked inside the event loop: the first Ctrl-C was lost, the second a traceback."""

    def interrupted(_: str) -> bool:
        raise typer.Abort

    (found,) = asked(monkeypatch, interrupted)
    assert found.cause is Cause.INTERRUPTED


def test_without_the_nodes_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    examination = Examination(view=ClusterView(unread=frozenset({"nodes"})))
    examination.expected = Expected(pools={"gpu": POOL})
    assert isolation_place(examination) is None
    (found,) = examination.findings
    assert found.cause is Cause.ISOLATION_UNKNOWN
