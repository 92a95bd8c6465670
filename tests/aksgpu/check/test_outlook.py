"""Whether the job would get a GPU: it neither waits for nothing, nor wakes a pool for nothing."""

from dataclasses import replace

import pytest

from aksgpu.check.cluster_view import ClusterView, DaemonSet, Node, Pod
from aksgpu.check.expected import Expected, Pool
from aksgpu.check.outlook import Outlook, outlook, requested_resource
from catalogue.device_plugin import GPU
from catalogue.scheduling import Taint

SKU = Taint("sku", "gpu", "NoSchedule")
NODE = Node(name="n0", pool="gpu", capacity=1, allocatable=1, requestable=1)
BARE = replace(NODE, capacity=0, allocatable=0, requestable=0)
PLUGIN = Pod(namespace="ns", name="plugin", node="n0", plugin="ctr", is_running=True)
SET = DaemonSet(namespace="ns", name="set", pods={"tolerations": [{"operator": "Exists"}]})
TAKER = Pod(namespace="ns", name="taker", node="n0", gpus=1, requestable=1)
POOL = Pool(
    name="gpu",
    size="Standard_NC8as_T4_v3",
    gpu_stack="device-plugin",
    least=0,
    most=1,
    is_scaled=True,
    taints=(SKU,),
)


def seen(
    *nodes: Node, pods: tuple[Pod, ...] = (), sets: tuple[DaemonSet, ...] = (SET,)
) -> ClusterView:
    return ClusterView(nodes=nodes, pods=pods, daemon_sets=sets)


def of(view: ClusterView, *pools: Pool, is_coming: bool = False) -> Outlook:
    expected = Expected(pools={pool.name: pool for pool in pools}, plugins=frozenset({"ns/set"}))
    return outlook(view, expected, is_coming=is_coming)


def test_a_job_runs_on_a_free_gpu() -> None:
    assert of(seen(NODE), POOL) == Outlook(waits_for="a place on a node with a free GPU")


def test_a_pool_at_zero_nodes_scales_up_for_the_job() -> None:
    assert of(seen(), POOL) == Outlook(waits_for="a new node of pool gpu", grows=("gpu",))
    # Of a pool of which no more is known than its name, nothing else is.
    assert of(seen(), Pool(name="gpu")).grows == ("gpu",)


@pytest.mark.parametrize("size", ["standard_nc8as_t4_v3", "Standard_NC8as_T4_v99", ""])
def test_a_plugin_can_select_new_nodes_by_azures_name_of_their_size(size: str) -> None:
    """With the size in another case in the stack file, the plugin was missing on new nodes."""
    pods = {**SET.pods, "nodeSelector": {"node.kubernetes.io/instance-type": POOL.size}}
    view = seen(sets=(replace(SET, pods=pods),))
    assert of(view, replace(POOL, size=size)).grows == ("gpu",)
    other = of(view, replace(POOL, size="Standard_NC6s_v3"))
    assert "the node is not node.kubernetes.io/instance-type=" in other.never


@pytest.mark.parametrize(
    ("view", "pool", "words"),
    [
        (seen(sets=()), POOL, "the cluster has no device plugin"),
        (seen(sets=(replace(SET, pods={}),)), POOL, "because of the taint sku=gpu:NoSchedule"),
        (
            seen(sets=(replace(SET, pods={"nodeSelector": {"agentpool": "x"}}),)),
            POOL,
            "the node is not agentpool=x",
        ),
        (seen(sets=()), replace(POOL, gpu_stack="none"), "has no device plugin for it"),
        (seen(), replace(POOL, least=0, most=0, is_scaled=False), "has no nodes, and AKS does not"),
        (seen(), replace(POOL, most=0), "has 0 of at most 0 nodes"),
        (seen(NODE, pods=(TAKER,)), POOL, "all GPUs are in use; pool gpu has 1 of at most 1 nodes"),
        (seen(replace(NODE, is_ready=False)), POOL, "no node offers a GPU"),
        (seen(replace(NODE, is_cordoned=True)), POOL, "no node offers a GPU"),
        # MIG slices with names of their own are no GPUs for a pod that requests nvidia.com/gpu.
        (
            seen(replace(NODE, capacity=7, allocatable=7, requestable=0)),
            POOL,
            "no node offers a GPU",
        ),
        (
            seen(replace(NODE, capacity=7, allocatable=7, requestable=0)),
            replace(POOL, most=2),
            "its nodes offer no nvidia.com/gpu",
        ),
        (seen(BARE, sets=()), replace(POOL, most=2), "its nodes offer no nvidia.com/gpu"),
    ],
)
def test_a_job_that_no_pool_can_run_is_never_scheduled(
    view: ClusterView, pool: Pool, words: str
) -> None:
    """`check --job` waited its whole time, and woke every pool, where the reason was known."""
    forecast = of(view, pool)
    assert words in forecast.never
    assert not forecast.grows


def test_a_cluster_without_pools_and_nodes_never_runs_the_job() -> None:
    assert outlook(seen(), Expected(), is_coming=False).never == "no node offers a GPU"


def test_a_job_waits_where_other_pools_may_scale_up() -> None:
    taken = seen(NODE, pods=(TAKER,))
    assert "in use" in outlook(taken, Expected(), is_coming=False).waits_for
    theirs = replace(NODE, pool="theirs")
    assert "in use" in of(seen(theirs, pods=(TAKER,)), replace(POOL, most=0)).waits_for


def test_a_full_pool_that_can_grow_does_so() -> None:
    assert of(seen(NODE, pods=(TAKER,)), replace(POOL, most=2)).grows == ("gpu",)


def test_a_pool_with_the_specialized_image_scales_up_without_a_daemon_set() -> None:
    assert of(seen(sets=()), replace(POOL, gpu_stack="specialized-image")).grows == ("gpu",)


@pytest.mark.parametrize(
    ("node", "pods", "is_hopeful"),
    [
        (replace(BARE, is_ready=False), (), True),
        # Its plugin is about to come, or to find the GPUs.
        (BARE, (), True),
        (BARE, (replace(PLUGIN, is_running=False),), True),
        (replace(NODE, allocatable=0, requestable=0), (PLUGIN,), False),
    ],
)
def test_a_new_node_gets_time_to_offer_its_gpus(
    node: Node, pods: tuple[Pod, ...], is_hopeful: bool
) -> None:
    forecast = of(seen(node, pods=pods), POOL, is_coming=True)
    assert bool(forecast.never) != is_hopeful


def test_a_node_without_a_driver_gets_no_time() -> None:
    log = {"ns/plugin": "Failed to initialize NVML: could not load NVML library."}
    view = replace(seen(BARE, pods=(PLUGIN,)), plugin_logs=log)
    assert of(view, POOL, is_coming=True).never


def test_daemon_sets_that_could_not_be_read_prevent_no_scale_up() -> None:
    view = replace(seen(sets=()), unread=frozenset({"DaemonSets"}))
    assert of(view, POOL).grows == ("gpu",)


SHARED, SLICE = "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb"


@pytest.mark.parametrize(
    ("offered", "pools", "requested"),
    [
        ((), (), GPU),
        ((GPU, SHARED), (), GPU),
        ((SHARED,), (), SHARED),
        ((SHARED,), (replace(POOL, resource=SHARED),), SHARED),
        # No node yet: what the pools are going to offer.
        ((), (replace(POOL, resource=SLICE),), SLICE),
        ((), (replace(POOL, resource=SLICE), POOL), GPU),
        # Whoever grows for the usual name comes first, and who never does not at all.
        ((SHARED,), (replace(POOL, is_scaled=True, most=2),), GPU),
        ((SHARED,), (replace(POOL, is_scaled=False),), SHARED),
    ],
)
def test_the_job_requests_the_gpu_resource_that_the_node_offers(
    offered: tuple[str, ...], pools: tuple[Pool, ...], requested: str
) -> None:
    """It requested nvidia.com/gpu on a node that offers nvidia.com/gpu.shared, and waited."""
    named = {f"pool{index}": pool for index, pool in enumerate(pools)}
    assert requested_resource(offered, Expected(pools=named)) == requested
