"""Where a pod looks for GPUs that it did not ask for, and what it then tells."""

from dataclasses import replace
from typing import Any

import pytest

from aks_catalogue.sample_pod import sample_pod
from aks_catalogue.scheduling import Taint
from aksgpu.check import isolation
from aksgpu.check.cluster_view import ClusterView, Node, Pod
from aksgpu.check.expected import Expected, Pool
from aksgpu.check.job import Place, SampleJob
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
        assert found is FAILED
    elif devices:
        assert found is not None
        assert found.cause is Cause.GPUS_OPEN
        assert "/dev/nvidia0 and /dev/nvidia1" in found.what
    else:
        assert found is None
