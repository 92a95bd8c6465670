"""Where the job gets a GPU: it neither waits for nothing, nor wakes a pool for nothing."""

from dataclasses import replace

import pytest

from aks_catalogue.sample_pod import sample_pod
from aks_catalogue.scheduling import Taint
from aksgpu.check.cluster_view import ClusterView, DaemonSet, Node, Pod
from aksgpu.check.expected import Expected, Pool
from aksgpu.check.job import Place, place

SKU = Taint("sku", "gpu", "NoSchedule")
NODE = Node(name="n0", pool="gpu", capacity=1, allocatable=1)
BARE = replace(NODE, capacity=0, allocatable=0)
SET = DaemonSet(namespace="ns", name="set", pods={"tolerations": [{"operator": "Exists"}]})
TAKER = Pod(namespace="ns", name="taker", node="n0", gpus=1)
OUTPUT_POD = sample_pod(None, {"kubernetes.azure.com/agentpool": "gpu"}, [SKU.toleration])
POOL = Pool(
    name="gpu",
    size="Standard_NC8as_T4_v3",
    gpu_stack="device-plugin",
    least=0,
    most=1,
    is_scaled=True,
    taints=(SKU,),
    output_pod=OUTPUT_POD,
)


def seen(
    *nodes: Node, pods: tuple[Pod, ...] = (), sets: tuple[DaemonSet, ...] = (SET,)
) -> ClusterView:
    return ClusterView(nodes=nodes, pods=pods, daemon_sets=sets)


def of(view: ClusterView, *pools: Pool) -> Place | None:
    expected = Expected(pools={pool.name: pool for pool in pools}, plugins=frozenset({"ns/set"}))
    return place(view, expected)


def test_a_free_gpu_gets_the_pod_of_its_pool() -> None:
    assert of(seen(NODE), POOL) == Place(OUTPUT_POD)


def test_a_pool_without_outputs_gets_a_pod_that_fits() -> None:
    without = replace(POOL, output_pod={})
    assert of(seen(NODE), without) == Place(OUTPUT_POD)
    assert of(seen(NODE), replace(POOL, output_pod={"spec": ["no pod"]})) == Place(OUTPUT_POD)


def test_a_node_of_no_known_pool_gets_a_pod_that_fits() -> None:
    """It requested nvidia.com/gpu on a node that offers nvidia.com/gpu.shared, and waited."""
    passing = Taint("ToBeDeletedByClusterAutoscaler", "", "NoSchedule")
    node = replace(NODE, resource="nvidia.com/gpu.shared", taints=(SKU, passing))
    pod = sample_pod("nvidia.com/gpu.shared", {}, [SKU.toleration])
    assert place(seen(node), Expected()) == Place(pod)


@pytest.mark.parametrize(
    ("view", "pool"),
    [
        (seen(), POOL),
        # Of a pool of which no more is known than its name, nothing else is.
        (seen(), Pool(name="gpu", output_pod=OUTPUT_POD)),
        (seen(NODE, pods=(TAKER,)), replace(POOL, most=2)),
        (seen(sets=()), replace(POOL, gpu_stack="specialized-image")),
        (replace(seen(sets=()), unread=frozenset({"DaemonSets"})), POOL),
    ],
)
def test_a_pool_that_can_grow_does_so_for_the_job(view: ClusterView, pool: Pool) -> None:
    assert of(view, pool) == Place(OUTPUT_POD, grows="gpu")


@pytest.mark.parametrize("size", ["standard_nc8as_t4_v3", "Standard_NC8as_T4_v99", ""])
def test_a_plugin_can_select_new_nodes_by_azures_name_of_their_size(size: str) -> None:
    """With the size in another case in the stack file, the plugin was missing on new nodes."""
    pods = {**SET.pods, "nodeSelector": {"node.kubernetes.io/instance-type": POOL.size}}
    view = seen(sets=(replace(SET, pods=pods),))
    assert of(view, replace(POOL, size=size))
    assert of(view, replace(POOL, size="Standard_NC6s_v3")) is None


@pytest.mark.parametrize(
    ("view", "pool"),
    [
        (seen(sets=()), POOL),
        (seen(sets=(replace(SET, pods={}),)), POOL),
        (seen(sets=()), replace(POOL, gpu_stack="none")),
        (seen(), replace(POOL, least=0, most=0, is_scaled=False)),
        (seen(), replace(POOL, most=0)),
        (seen(NODE, pods=(TAKER,)), POOL),
        (seen(replace(NODE, is_ready=False)), POOL),
        (seen(replace(NODE, is_cordoned=True)), POOL),
        # Another node would offer no GPU either.
        (seen(BARE, sets=()), replace(POOL, most=2)),
    ],
)
def test_a_job_that_no_pool_can_run_is_not_started(view: ClusterView, pool: Pool) -> None:
    """`check --job` waited its whole time, and woke every pool, where the reason was known."""
    assert of(view, pool) is None


def test_a_cluster_without_pools_and_nodes_runs_no_job() -> None:
    assert place(seen(), Expected()) is None


def test_a_job_waits_where_a_pool_that_is_not_the_stacks_may_grow() -> None:
    taken = seen(replace(NODE, pool="theirs"), pods=(TAKER,))
    assert place(taken, Expected())
    assert of(taken, replace(POOL, most=0))
