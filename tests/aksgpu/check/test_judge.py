"""What is said of a cluster, cause by cause, with nothing but plain facts."""

from dataclasses import replace

import pytest

from aksgpu.check.cluster_view import ClusterView, DaemonSet, Node, Pod
from aksgpu.check.judge import driver_state, has_room, judge, may_pass, plugin_state
from aksgpu.outcome import Cause, Finding, verdict
from catalogue.scheduling import Spec, Taint

SKU = Taint("sku", "gpu", "NoSchedule")
SPOT = Taint("spot", "", "NoExecute")
NODE = Node(name="n0", pool="gpu", capacity=2, allocatable=2, labels={"agentpool": "gpu"})
BARE = replace(NODE, capacity=0, allocatable=0)
PLUGIN = Pod(namespace="ns", name="plugin", node="n0", plugin="ctr", is_running=True)
SET = DaemonSet(namespace="ns", name="set")
WORK = Pod(namespace="ns", name="work", node="n0", gpus=2)
NOT_GPU = {"key": "agentpool", "operator": "NotIn", "values": ["gpu"]}
AWAY = {"nodeSelectorTerms": [{"matchExpressions": [NOT_GPU]}]}


def view(
    *nodes: Node, pods: tuple[Pod, ...] = (), sets: tuple[DaemonSet, ...] = (), log: str = ""
) -> ClusterView:
    logs = {str(pod): log for pod in pods if pod.is_plugin} if log else {}
    return ClusterView(nodes=nodes, pods=pods, daemon_sets=sets, plugin_logs=logs)


def only(seen: ClusterView, *pools: str) -> Finding:
    [finding] = judge(seen, pools or ("gpu",))
    assert finding.advice
    return finding


def test_a_node_with_its_plugin_is_fine() -> None:
    fine = view(NODE, pods=(PLUGIN,), sets=(SET,))
    assert judge(fine, ["gpu"]) == []
    assert verdict([], Cause.GPUS_SCHEDULABLE) is Cause.GPUS_SCHEDULABLE
    assert (driver_state(fine, NODE), plugin_state(fine, NODE)) == ("present", "running")
    own = view(NODE)
    assert judge(own, ["gpu"]) == []
    assert plugin_state(own, NODE) == "the node's own"


def test_a_node_that_is_not_ready_explains_all_else() -> None:
    down = replace(BARE, is_ready=False, reason="KubeletNotReady: PLEG")
    finding = only(view(down))
    assert (finding.cause, finding.node, finding.pool) == (Cause.NODE_NOT_READY, "n0", "gpu")
    assert "KubeletNotReady: PLEG" in finding.what


def test_without_any_daemon_set_there_is_no_plugin() -> None:
    finding = only(view(BARE))
    assert finding.cause is Cause.PLUGIN_MISSING
    assert "no device plugin in this cluster" in finding.what
    assert plugin_state(view(BARE), BARE) == "none"


@pytest.mark.parametrize(
    ("pods", "words"),
    [
        ({}, "because of the taints sku=gpu:NoSchedule, spot:NoExecute"),
        (
            {"tolerations": [{"key": "sku", "operator": "Exists"}]},
            "because of the taint spot:NoExecute",
        ),
        ({"nodeSelector": {"gpus": "yes"}}, "its node selector: the node is not gpus=yes"),
        (
            {
                "affinity": {
                    "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": AWAY}
                }
            },
            "its node affinity: it asks for agentpool NotIn (gpu)",
        ),
        ({"tolerations": [{"operator": "Exists"}]}, "though nothing keeps it away"),
    ],
)
def test_a_plugin_is_kept_away(pods: Spec, words: str) -> None:
    tainted = replace(BARE, taints=(SKU, SPOT, Taint("soft", "", "PreferNoSchedule")))
    finding = only(view(tainted, sets=(replace(SET, pods=pods),)))
    assert finding.cause is Cause.PLUGIN_MISSING
    assert words in finding.what


def test_of_several_daemon_sets_the_nearest_is_told_of() -> None:
    tainted = replace(BARE, taints=(SKU,))
    elsewhere = replace(SET, name="elsewhere", pods={"nodeSelector": {"a": "b"}})
    finding = only(view(tainted, sets=(elsewhere, SET)))
    assert "ns/set" in finding.what
    assert "the taint sku=gpu:NoSchedule" in finding.what


def test_two_plugin_pods() -> None:
    other = replace(PLUGIN, name="other")
    harmed = view(replace(NODE, allocatable=0), pods=(PLUGIN, other))
    finding = only(harmed)
    assert finding.cause is Cause.PLUGIN_TWICE
    assert "ns/plugin and ns/other" in finding.what
    assert plugin_state(harmed, NODE) == "TWICE"


def test_a_plugin_pod_beside_the_nodes_own() -> None:
    node = replace(NODE, allocatable=0, problems={"DevicePluginConflict": "two"})
    finding = only(view(node, pods=(PLUGIN,)))
    assert finding.cause is Cause.PLUGIN_TWICE
    assert "never install it on the specialised image" in finding.advice
    assert plugin_state(view(node, pods=(PLUGIN,)), node) == "TWICE"


def test_a_second_plugin_on_another_node_is_no_second_one() -> None:
    other = replace(NODE, name="n1")
    pods = (PLUGIN, replace(PLUGIN, name="other", node="n1"))
    assert judge(view(NODE, other, pods=pods), ["gpu"]) == []


def test_a_plugin_that_does_not_run() -> None:
    stopped = replace(PLUGIN, is_running=False, trouble="CrashLoopBackOff: back-off")
    finding = only(view(BARE, pods=(stopped,), sets=(SET,)))
    assert finding.cause is Cause.PLUGIN_NOT_RUNNING
    assert "ns/plugin does not run: CrashLoopBackOff: back-off" in finding.what
    unplaced = replace(stopped, unplaced="Insufficient cpu", trouble="Pending")
    assert "does not run: Insufficient cpu" in only(view(BARE, pods=(unplaced,))).what
    assert plugin_state(view(BARE, pods=(stopped,)), BARE) == "not running"


@pytest.mark.parametrize(
    "said",
    [
        'E0101 factory.go:112] "Incompatible strategy detected auto"',
        "error getting plugins: invalid device discovery strategy",
        "Failed to initialize NVML: could not load NVML library.",
        'E0101 main.go:120] "Incompatible platform detected"',
        "No devices found. Waiting indefinitely.",
    ],
)
def test_a_plugin_that_finds_no_driver(said: str) -> None:
    seen = view(BARE, pods=(PLUGIN,), log=f"Starting.\n{said}\nmore")
    finding = only(seen)
    assert finding.cause is Cause.DRIVER_MISSING
    assert finding.what.endswith(said)
    assert driver_state(seen, BARE) == "missing"


def test_a_plugin_that_crashes_for_want_of_a_driver() -> None:
    """Plugins from 0.7 on exit where they find no driver."""
    crashing = replace(PLUGIN, is_running=False, trouble="CrashLoopBackOff: back-off")
    finding = only(view(BARE, pods=(crashing,), log="Failed to initialize NVML: ERROR_UNKNOWN"))
    assert finding.cause is Cause.DRIVER_MISSING


def test_a_plugin_that_says_nothing_of_a_driver() -> None:
    seen = view(BARE, pods=(PLUGIN,), log="Starting.")
    assert only(seen).cause is Cause.NO_GPU_ALLOCATABLE
    assert driver_state(seen, BARE) == "unknown"


def test_unhealthy_gpus() -> None:
    none = replace(NODE, allocatable=0, problems={"GpuProblem": "Xid 79"})
    finding = only(view(none, pods=(PLUGIN,)))
    assert finding.cause is Cause.NO_GPU_ALLOCATABLE
    assert "of 2 GPUs none can be allocated" in finding.what
    assert "GpuProblem: Xid 79" in finding.what
    one = only(view(replace(NODE, allocatable=1), pods=(PLUGIN,)))
    assert one.cause is Cause.GPUS_PARTLY_UNHEALTHY
    assert "of 2 GPUs 1 can be allocated" in one.what
    assert not one.is_problem


def test_a_cordoned_node_is_no_problem() -> None:
    finding = only(view(replace(NODE, is_cordoned=True), pods=(PLUGIN,)))
    assert finding.cause is Cause.NODE_CORDONED
    assert not finding.is_problem


def test_a_pool_at_zero_is_fine() -> None:
    seen = view(NODE, pods=(PLUGIN,))
    finding = only(seen, "gpu", "spare")
    assert (finding.cause, finding.pool) == (Cause.POOL_AT_ZERO, "spare")
    assert verdict([finding.cause], Cause.GPUS_SCHEDULABLE) is Cause.GPUS_SCHEDULABLE
    assert has_room(ClusterView(), ["spare"])


def test_no_gpu_pool_at_all() -> None:
    [finding] = judge(ClusterView(), [])
    assert finding.cause is Cause.NO_GPU_POOL
    assert not has_room(ClusterView(), [])
    # Where the stack says of none, its nodes may be there all the same; and the other way round.
    assert judge(view(NODE, pods=(PLUGIN,)), []) == []
    assert [found.cause for found in judge(ClusterView(), ["gpu"])] == [Cause.POOL_AT_ZERO]


def test_all_gpus_used() -> None:
    finding = only(view(NODE, pods=(PLUGIN, WORK)))
    assert (finding.cause, finding.what) == (Cause.GPUS_ALL_USED, "all 2 GPUs are in use")
    ended = replace(WORK, is_over=True)
    assert judge(view(NODE, pods=(PLUGIN, ended)), ["gpu"]) == []
    other = replace(NODE, name="n1")
    assert judge(view(NODE, other, pods=(PLUGIN, WORK)), ["gpu"]) == []
    cordoned = replace(other, is_cordoned=True)
    causes = {found.cause for found in judge(view(NODE, cordoned, pods=(WORK,)), ["gpu"])}
    assert causes == {Cause.NODE_CORDONED, Cause.GPUS_ALL_USED}


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("0/2 nodes are available: 1 node(s) had untolerated taint {sku: gpu}", "tolerations"),
        ("0/2 nodes are available: 2 Insufficient nvidia.com/gpu", "free a GPU"),
        ("1 node(s) didn't match Pod's node affinity/selector", "node selector"),
        ("no nodes available to schedule pods", "what the scheduler says"),
    ],
)
def test_a_pending_pod(said: str, advice: str) -> None:
    waiting = replace(WORK, node=None, unplaced=said)
    finding = only(view(NODE, pods=(PLUGIN, waiting)))
    assert finding.cause is Cause.POD_PENDING
    assert finding.what == f"the pod ns/work is pending: {said}"
    assert advice in finding.advice


def test_room_is_where_a_node_offers_gpus_and_takes_pods() -> None:
    assert has_room(view(NODE), ["gpu"])
    for closed in (
        replace(NODE, is_ready=False),
        replace(NODE, is_cordoned=True),
        replace(NODE, allocatable=0),
    ):
        assert not has_room(view(closed), ["gpu"])


def test_what_may_pass_is_looked_at_again() -> None:
    assert may_pass(judge(view(replace(NODE, is_ready=False)), ["gpu"]))
    assert not may_pass(judge(view(BARE), ["gpu"]))
    assert not may_pass([])


def test_the_driver_version_is_told_where_it_is_known() -> None:
    node = replace(NODE, driver_version="580.95.05")
    assert driver_state(view(node), node) == "580.95.05"
