"""What is said of a cluster, cause by cause, with nothing but plain facts."""

import io
import re
from dataclasses import replace

import pytest

from aks_catalogue.node_problems import PROBLEMS
from aks_catalogue.scheduling import Spec, Taint
from aksgpu.check import report
from aksgpu.check.cluster_view import ClusterView, DaemonSet, Node, Pod
from aksgpu.check.examination import Examination
from aksgpu.check.expected import Expected, Pool
from aksgpu.check.judge import driver_state, judge, may_pass, plugin_state, result
from aksgpu.outcome import Cause, Finding, verdict
from aksgpu.report import ReportConsole

SKU = Taint("sku", "gpu", "NoSchedule")
SPOT = Taint("spot", "", "NoExecute")
NODE = Node(name="n0", pool="gpu", capacity=2, allocatable=2, labels={"agentpool": "gpu"})
BARE = replace(NODE, capacity=0, allocatable=0)
PLUGIN = Pod(namespace="ns", name="plugin", node="n0", plugin="ctr", is_running=True)
SET = DaemonSet(namespace="ns", name="set")
WORK = Pod(namespace="ns", name="work", node="n0", gpus=2)
NOT_GPU = {"key": "agentpool", "operator": "NotIn", "values": ["gpu"]}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
AWAY = {"nodeSelectorTerms": [{"matchExpressions": [NOT_GPU]}]}


def view(
    *nodes: Node, pods: tuple[Pod, ...] = (), sets: tuple[DaemonSet, ...] = (), log: str = ""
) -> ClusterView:
    logs = {str(pod): log for pod in pods if pod.is_plugin} if log else {}
    return ClusterView(nodes=nodes, pods=pods, daemon_sets=sets, plugin_logs=logs)


def stack(*pools: Pool | str, plugins: tuple[str, ...] = ("ns/set",)) -> Expected:
    """A stack with these pools; of those that are only named no more is known."""
    made = [pool if isinstance(pool, Pool) else Pool(name=pool) for pool in pools]
    return Expected(
        pools={pool.name: pool for pool in made},
        plugins=frozenset(plugins),
        restoring_command="put it back",
        is_ours=True,
    )


GPU = stack("gpu")


def only(cluster: ClusterView, expected: Expected = GPU) -> Finding:
    [finding] = judge(cluster, expected)
    assert finding.advice
    return finding


def test_a_node_with_its_plugin_is_fine() -> None:
    fine = view(NODE, pods=(PLUGIN,), sets=(SET,))
    assert judge(fine, GPU) == []
    assert verdict([], Cause.GPUS_SCHEDULABLE) is Cause.GPUS_SCHEDULABLE
    assert (driver_state(fine, NODE), plugin_state(fine, NODE, GPU)) == ("present", "running")
    own = view(NODE)
    assert judge(own, GPU) == []
    assert plugin_state(own, NODE, GPU) == "the node's own"


def test_a_node_that_is_not_ready_explains_all_else() -> None:
    down = replace(BARE, is_ready=False, reason="KubeletNotReady: PLEG")
    finding = only(view(down))
    assert (finding.cause, finding.node, finding.pool) == (Cause.NODE_NOT_READY, "n0", "gpu")
    assert "KubeletNotReady: PLEG" in finding.what


def test_a_cluster_without_daemon_sets_has_no_plugin() -> None:
    finding = only(view(BARE))
    assert finding.cause is Cause.PLUGIN_MISSING
    assert "the cluster has no device plugin" in finding.what
    assert plugin_state(view(BARE), BARE, GPU) == "none"


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
            "its node affinity: it requires agentpool NotIn (gpu)",
        ),
    ],
)
def test_a_daemon_set_that_does_not_select_the_node_is_reported(pods: Spec, words: str) -> None:
    tainted = replace(BARE, taints=(SKU, SPOT, Taint("soft", "", "PreferNoSchedule")))
    finding = only(view(tainted, sets=(replace(SET, pods=pods),)))
    assert finding.cause is Cause.PLUGIN_MISSING
    assert words in finding.what


def test_a_daemon_set_whose_pods_do_not_exist_yet_is_checked_again() -> None:
    """Right after an update the check reported a missing plugin: its pods came a moment later."""
    finding = only(view(BARE, sets=(SET,)))
    assert finding.cause is Cause.PLUGIN_NOT_RUNNING
    assert "can run on this node, but has no pod there" in finding.what
    assert may_pass([finding])


def test_the_best_matching_daemon_set_is_reported() -> None:
    tainted = replace(BARE, taints=(SKU,))
    elsewhere = replace(SET, name="elsewhere", pods={"nodeSelector": {"a": "b"}})
    finding = only(view(tainted, sets=(elsewhere, SET)))
    assert "ns/set" in finding.what
    assert "the taint sku=gpu:NoSchedule" in finding.what


def test_two_plugin_pods_on_one_node_are_reported() -> None:
    other = replace(PLUGIN, name="other")
    harmed = view(replace(NODE, allocatable=0), pods=(PLUGIN, other))
    finding = only(harmed)
    assert finding.cause is Cause.PLUGIN_TWICE
    assert "ns/plugin and ns/other" in finding.what
    assert plugin_state(harmed, NODE, GPU) == "TWICE"


def test_a_plugin_pod_on_a_node_with_its_own_plugin_is_reported() -> None:
    node = replace(NODE, allocatable=0, problems={"DevicePluginConflict": "two"})
    finding = only(view(node, pods=(PLUGIN,)))
    assert finding.cause is Cause.PLUGIN_TWICE
    assert "never install it on the specialized image" in finding.advice
    assert plugin_state(view(node, pods=(PLUGIN,)), node, GPU) == "TWICE"


def test_plugin_pods_on_different_nodes_are_no_duplicate() -> None:
    other = replace(NODE, name="n1")
    pods = (PLUGIN, replace(PLUGIN, name="other", node="n1"))
    assert judge(view(NODE, other, pods=pods), GPU) == []


def test_a_plugin_pod_that_does_not_run_is_reported() -> None:
    stopped = replace(PLUGIN, is_running=False, trouble="CrashLoopBackOff: back-off")
    finding = only(view(BARE, pods=(stopped,), sets=(SET,)))
    assert finding.cause is Cause.PLUGIN_NOT_RUNNING
    assert "ns/plugin does not run: CrashLoopBackOff: back-off" in finding.what
    unplaced = replace(stopped, unplaced="Insufficient cpu", trouble="Pending")
    assert "does not run: Insufficient cpu" in only(view(BARE, pods=(unplaced,))).what
    assert plugin_state(view(BARE, pods=(stopped,)), BARE, GPU) == "not running"


@pytest.mark.parametrize(
    "log_line",
    [
        'E0101 factory.go:112] "Incompatible strategy detected auto"',
        "error getting plugins: invalid device discovery strategy",
        "Failed to initialize NVML: could not load NVML library.",
        'E0101 main.go:120] "Incompatible platform detected"',
        "No devices found. Waiting indefinitely.",
    ],
)
def test_a_plugin_that_finds_no_driver_is_reported(log_line: str) -> None:
    cluster = view(BARE, pods=(PLUGIN,), log=f"Starting.\n{log_line}\nmore")
    finding = only(cluster)
    assert finding.cause is Cause.DRIVER_MISSING
    assert finding.what.endswith(log_line)
    assert driver_state(cluster, BARE) == "missing"


def test_a_plugin_that_crashes_without_a_driver_is_reported() -> None:
    """Plugins from 0.7 on exit where they find no driver."""
    crashing = replace(PLUGIN, is_running=False, trouble="CrashLoopBackOff: back-off")
    finding = only(view(BARE, pods=(crashing,), log="Failed to initialize NVML: ERROR_UNKNOWN"))
    assert finding.cause is Cause.DRIVER_MISSING


def test_a_plugin_log_without_a_driver_leaves_the_driver_unknown() -> None:
    cluster = view(BARE, pods=(PLUGIN,), log="Starting.")
    assert only(cluster).cause is Cause.NO_GPU_ALLOCATABLE
    assert driver_state(cluster, BARE) == "unknown"


def test_unhealthy_gpus_are_reported() -> None:
    none = replace(NODE, allocatable=0, problems={"GpuProblem": "Xid 79"})
    finding = only(view(none, pods=(PLUGIN,)))
    assert finding.cause is Cause.NO_GPU_ALLOCATABLE
    assert "none of 2 GPUs can be allocated" in finding.what
    assert "GpuProblem: Xid 79" in finding.what
    one = only(view(replace(NODE, allocatable=1), pods=(PLUGIN,)))
    assert one.cause is Cause.GPUS_PARTLY_UNHEALTHY
    assert "1 of 2 GPUs can be allocated" in one.what
    assert not one.is_problem


def test_a_gpu_that_an_application_made_unhealthy_needs_no_new_node() -> None:
    """An H100 went for an Xid 94: the plugin takes a GPU back only when it is started again."""
    finding = only(view(replace(NODE, allocatable=1), pods=(PLUGIN,)))
    assert f"kubectl delete pod -n {PLUGIN.namespace} {PLUGIN.name}" in finding.advice
    for advice in (finding.advice, PROBLEMS["XIDErrors"].advice):
        assert advice.index("RESTART_APP") < advice.index("drain the node")


@pytest.mark.parametrize(
    ("condition", "cause", "words"),
    [
        *((name, Cause.GPU_FAULT, "Xid") for name in ("XIDErrors", "GPUXIDErrors", "XIDError")),
        ("GPUMissing", Cause.GPU_FAULT, "fewer GPUs than its VM size"),
        ("NVLinkStatusInactive", Cause.GPU_FAULT, "NVLink is down"),
        ("IBLinkFlapping", Cause.GPU_FAULT, "InfiniBand"),
        ("UnhealthyNvidiaDevicePlugin", Cause.GPU_FAULT, "device plugin that AKS manages"),
        ("GPUECCErrors", Cause.GPU_FAULT, "the GPUs have a problem"),
        ("GPUClockThrottling", Cause.GPUS_IMPAIRED, "throttled"),
        ("GPUThermalThrottle", Cause.GPUS_IMPAIRED, "throttled"),
        ("UnhealthyNvidiaDCGMServices", Cause.GPUS_IMPAIRED, "DCGM"),
    ],
)
def test_gpu_conditions_of_aks_are_reported(condition: str, cause: Cause, words: str) -> None:
    """A node with Xid errors was fine, since all of its GPUs were allocatable."""
    reported = replace(NODE, problems={condition: "Found: more", "MemoryPressure": "x"})
    finding = only(view(reported, pods=(PLUGIN,)))
    assert finding.cause is cause
    assert words in finding.what
    assert f"({condition}: Found: more)" in finding.what


@pytest.mark.parametrize("condition", ["GPUHealthy", "GPUDriverReady", "KernelDeadlock", "IBM"])
def test_conditions_without_a_gpu_problem_are_ignored(condition: str) -> None:
    assert judge(view(replace(NODE, problems={condition: ""}), pods=(PLUGIN,)), GPU) == []


LABELED = replace(NODE, labels={"kubernetes.azure.com/dcgm-exporter": "enabled"})
MANAGED = stack(Pool(name="gpu", gpu_stack="managed"), plugins=())


def test_a_node_with_managed_gpus_is_judged_by_its_own_plugin() -> None:
    assert judge(view(LABELED), MANAGED) == []
    assert plugin_state(view(LABELED), LABELED, MANAGED) == "the node's own"
    unlabeled = only(view(NODE), MANAGED)
    assert (unlabeled.cause, unlabeled.is_problem) == (Cause.GPUS_IMPAIRED, False)
    assert "kubernetes.azure.com/dcgm-exporter=enabled" in unlabeled.what
    bare = replace(LABELED, capacity=0, allocatable=0)
    for expected, brings in ((MANAGED, "gpuStack managed"), (Expected(), "the node")):
        without = only(view(bare), expected)
        assert without.cause is Cause.PLUGIN_MISSING
        assert f"comes with {brings} does not run" in without.what


def test_a_daemon_set_on_a_node_with_managed_gpus_is_reported() -> None:
    """Two plugins: no condition of Azure's reports that."""
    cluster = view(LABELED, pods=(PLUGIN,), sets=(SET,))
    finding = only(cluster, MANAGED)
    assert finding.cause is Cause.PLUGIN_TWICE
    assert "the one that comes with the node" in finding.what
    assert plugin_state(cluster, LABELED, MANAGED) == "TWICE"


def test_a_cordoned_node_is_no_problem() -> None:
    finding = only(view(replace(NODE, is_cordoned=True), pods=(PLUGIN,)))
    assert finding.cause is Cause.NODE_CORDONED
    assert not finding.is_problem


def test_pools_at_zero_nodes_are_reported_once() -> None:
    cluster = view(NODE, pods=(PLUGIN,), sets=(SET,))
    finding = only(cluster, stack("gpu", "spare"))
    assert (finding.cause, finding.pool) == (Cause.POOL_AT_ZERO, "spare")
    assert "costs" in finding.advice
    several = only(cluster, stack("gpu", "a", "b", "c"))
    assert several.what == "the pools a, b and c have no nodes now"
    fixed = only(cluster, stack("gpu", Pool(name="off", least=0, most=0, is_scaled=False)))
    assert "AKS does not scale it" in fixed.advice


def test_a_gpu_pool_without_nodes_has_its_own_cause() -> None:
    """Zero nodes were "GPUs are there to be scheduled"."""
    none = view(sets=(SET,))
    assert result(none, judge(none, GPU)) is Cause.NO_NODES_NOW
    there = view(NODE, pods=(PLUGIN,), sets=(SET,))
    assert result(there, judge(there, stack("gpu", "spare"))) is Cause.GPUS_SCHEDULABLE


def test_a_cluster_without_a_gpu_pool_is_reported() -> None:
    [finding] = judge(ClusterView(), Expected())
    assert finding.cause is Cause.NO_GPU_POOL
    # Where the stack says of none, its nodes may be there all the same; and the other way round.
    assert judge(view(NODE, pods=(PLUGIN,)), Expected()) == []
    assert [findings.cause for findings in judge(view(sets=(SET,)), GPU)] == [Cause.POOL_AT_ZERO]


def test_a_node_whose_gpus_are_all_in_use_is_reported() -> None:
    finding = only(view(NODE, pods=(PLUGIN, WORK)))
    assert (finding.cause, finding.what) == (Cause.GPUS_ALL_USED, "all 2 GPUs are in use")
    ended = replace(WORK, is_over=True)
    assert judge(view(NODE, pods=(PLUGIN, ended)), GPU) == []
    other = replace(NODE, name="n1")
    assert judge(view(NODE, other, pods=(PLUGIN, WORK)), GPU) == []
    cordoned = replace(other, is_cordoned=True)
    causes = {findings.cause for findings in judge(view(NODE, cordoned, pods=(WORK,)), GPU)}
    assert causes == {Cause.NODE_CORDONED, Cause.GPUS_ALL_USED}


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("0/2 nodes are available: 1 node(s) had untolerated taint {sku: gpu}", "tolerations"),
        ("0/2 nodes are available: 2 Insufficient nvidia.com/gpu", "free a GPU"),
        ("1 node(s) didn't match Pod's node affinity/selector", "node selector"),
        ("no nodes available to schedule pods", "what the scheduler says"),
    ],
)
def test_a_pending_pod_is_reported_with_advice(reason: str, advice: str) -> None:
    waiting = replace(WORK, node=None, unplaced=reason)
    finding = only(view(NODE, pods=(PLUGIN, waiting)))
    assert finding.cause is Cause.POD_PENDING
    assert finding.what == f"the pod ns/work is pending: {reason}"
    assert advice in finding.advice


def test_a_finding_that_may_pass_is_checked_again() -> None:
    assert may_pass(judge(view(replace(NODE, is_ready=False)), GPU))
    assert not may_pass(judge(view(BARE), GPU))
    assert not may_pass([])


def test_the_driver_version_is_reported_if_known() -> None:
    node = replace(NODE, driver_version="580.95.05")
    assert driver_state(view(node), node) == "580.95.05"


T4 = Pool(
    name="gpu",
    size="Standard_NC8as_T4_v3",
    gpu_stack="device-plugin",
    least=1,
    most=2,
    is_scaled=True,
    taints=(SKU,),
)
T4_NODE = replace(NODE, capacity=1, allocatable=1, taints=(SKU,))


def test_a_missing_plugin_of_the_stack_is_restored_by_an_update() -> None:
    """`gpuStack: device-plugin` was the advice where it was set, and the plugin deleted by hand."""
    gone = replace(T4_NODE, capacity=0, allocatable=0)
    for cluster in (view(gone), view()):
        finding, *_ = judge(cluster, stack(replace(T4, least=0)))
        assert finding.cause is Cause.PLUGIN_MISSING
        assert "ns/set of the stack was deleted" in finding.what
        assert finding.advice == "restore it: `put it back`"


def test_a_program_of_others_is_never_told_keys_of_our_stack_files() -> None:
    """Its advice was to edit `aks-gpu:gpuPools`, a key that it does not have."""
    bare = replace(T4_NODE, capacity=0, allocatable=0)
    away = replace(SET, pods={"affinity": {"nodeAffinity": {_REQUIRED: AWAY}}})
    managed = Pool(name="gpu", gpu_stack="managed")
    crashing = replace(PLUGIN, is_running=False)
    no_driver = view(bare, pods=(crashing,), log="Failed to initialize NVML: no driver")
    waiting = replace(WORK, node="", unplaced="1 node(s) had untolerated taint(s)")
    clusters = [
        (view(), stack()),
        (view(), Expected()),
        (view(bare), GPU),
        (view(bare), Expected()),
        (view(bare, sets=(away,)), GPU),
        (view(bare), stack(Pool(name="gpu", gpu_stack="none"))),
        (view(bare), stack(managed)),
        (no_driver, GPU),
        (view(T4_NODE, pods=(waiting,)), GPU),
    ]
    for cluster, expected in clusters:
        findings = judge(cluster, replace(expected, is_ours=False))
        assert findings
        for finding in findings:
            words = f"{finding.what} {finding.advice}"
            assert not re.search(r"aks-gpu:|gpuStack|gpuPools|kubernetesVersion", words), words


def test_a_changed_daemon_set_of_the_stack_is_restored_by_an_update() -> None:
    gone = replace(T4_NODE, capacity=0, allocatable=0)
    finding = only(view(gone, sets=(SET,)), stack(T4))
    assert "the taint sku=gpu:NoSchedule" in finding.what
    assert "put it back" in finding.advice


def test_a_plugin_that_the_stack_leaves_out_is_not_missing() -> None:
    left_out = replace(T4, gpu_stack="none")
    elsewhere = replace(SET, pods={"nodeSelector": {"agentpool": "other"}})
    for sets in ((), (elsewhere,)):
        bare = replace(T4_NODE, capacity=0, allocatable=0, labels={"agentpool": "gpu"})
        cluster = view(bare, sets=sets)
        finding = only(cluster, stack(left_out))
        assert (finding.cause, finding.is_problem) == (Cause.GPUS_LEFT_OUT, False)
        assert result(cluster, [finding]) is Cause.GPUS_LEFT_OUT


def test_a_specialized_image_needs_no_daemon_set() -> None:
    specialized = replace(T4, gpu_stack="specialized-image")
    assert judge(view(T4_NODE), stack(specialized, plugins=())) == []
    bare = replace(T4_NODE, capacity=0, allocatable=0)
    finding = only(view(bare), stack(specialized, plugins=()))
    assert (finding.cause, "specialized-image" in finding.what) == (Cause.PLUGIN_MISSING, True)


EVERYWHERE = {"tolerations": [{"operator": "Exists"}]}


def test_a_missing_pool_of_the_stack_is_reported() -> None:
    finding = only(view(sets=(replace(SET, pods=EVERYWHERE),)), stack(T4))
    assert (finding.cause, finding.pool) == (Cause.NODES_MISSING, "gpu")
    assert "put it back" in finding.advice
    assert may_pass([finding])


def test_a_finding_is_of_all_nodes_of_a_pool_with_the_same_case() -> None:
    names = ["n0", "n1", "n2"]
    bare = [replace(BARE, name=name) for name in names]
    crashing = tuple(
        replace(PLUGIN, name=f"plugin-{name}", node=name, is_running=False, trouble="CrashLoop")
        for name in names
    )
    finding = only(view(*bare, pods=crashing, sets=(SET,)))
    assert finding.nodes == ("n0", "n1", "n2")
    # The reason of one node was told as that of all.
    others = (replace(crashing[0], trouble="ImagePullBackOff"), *crashing[1:])
    findings = judge(view(*bare, pods=others, sets=(SET,)), stack())
    assert [finding.nodes for finding in findings] == [("n0",), ("n1", "n2")]
    # Other cases of the cause, and other pools, are findings of their own.
    gone, flapping = ({kind: ""} for kind in ("GPUMissing", "IBLinkFlapping"))
    broken = (replace(NODE, problems=gone), replace(NODE, name="n1", problems=flapping))
    other = replace(NODE, name="n2", pool="other", problems=gone)
    pods = tuple(replace(PLUGIN, name=name, node=name) for name in names)
    findings = judge(view(*broken, other, pods=pods), stack("gpu", "other"))
    assert [finding.nodes for finding in findings] == [("n0",), ("n1",), ("n2",)]


def test_a_pod_that_requests_more_than_any_node_has_is_reported() -> None:
    large = Pod(namespace="ns", name="large", gpus=8, unplaced="0/1: 1 Insufficient nvidia.com/gpu")
    finding = only(view(T4_NODE, pods=(large,)), stack(T4))
    assert "requests 8 GPUs, and no node has more than 1" in finding.what
    unknown = only(view(NODE, pods=(large,)), GPU)
    assert "Insufficient" in unknown.what


def test_objects_that_could_not_be_read_are_not_missing() -> None:
    bare = replace(view(BARE), unread=frozenset({"pods"}))
    assert judge(bare, GPU) == []
    assert plugin_state(bare, BARE, GPU) == "unknown"


OPERATORS = DaemonSet(
    namespace="ns",
    name="nvidia-device-plugin-daemonset",
    pods={"nodeSelector": {"nvidia.com/gpu.deploy.device-plugin": "true"}},
)


def test_a_gpu_operator_without_tolerations_is_reported_with_the_taints() -> None:
    """The missing label, which Node Feature Discovery would set, follows from them."""
    finding = only(view(replace(BARE, taints=(SKU,)), sets=(OPERATORS,)), stack("gpu", plugins=()))
    assert finding.cause is Cause.PLUGIN_MISSING
    assert "the taints sku=gpu:NoSchedule" in finding.what
    assert "node-feature-discovery.worker.tolerations" in finding.advice


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"driver"}, "but not the container toolkit"),
        ({"container-toolkit"}, "but not the driver"),
        ({"driver", "container-toolkit"}, "does not run: no reason given"),
    ],
)
def test_a_partly_deployed_gpu_operator_explains_its_waiting_plugin(
    parts: set[str], words: str
) -> None:
    waiting = replace(PLUGIN, is_running=False)
    cluster = replace(
        view(BARE, pods=(waiting,), sets=(OPERATORS,)), operators_parts=frozenset(parts)
    )
    finding = only(cluster)
    assert finding.cause is Cause.PLUGIN_NOT_RUNNING
    assert words in finding.what


def test_a_gpu_operator_of_the_stack_without_daemon_sets_is_reported() -> None:
    pools = stack(Pool(name="gpu", gpu_stack="operator"), plugins=())
    assert "the GPU Operator has not created its DaemonSets" in only(view(BARE), pools).what


NO_RUNTIME = (
    'FailedCreatePodSandBox: failed to get sandbox runtime: no runtime for "nvidia" is configured'
)


@pytest.mark.parametrize(
    ("sets", "parts", "words", "advice"),
    [
        # Both parts beside AKS's driver: no mixture of the operator's, and yet no runtime.
        ((OPERATORS,), {"driver", "container-toolkit"}, "the node has no container runtime nvidia",
         "operator.runtimeClass to nvidia-container-runtime"),
        ((OPERATORS,), {"driver"}, "but not the container toolkit that belongs to it",
         "toolkit.enabled"),
        ((SET,), set(), "the node has no container runtime nvidia", "the runtimeClassName"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("node", [BARE, replace(NODE, allocatable=0)])
def test_a_missing_container_runtime_is_reported(
    node: Node, sets: tuple[DaemonSet, ...], parts: set[str], words: str, advice: str
) -> None:
    """It was Pending, with the advice to describe the pod, or unhealthy GPUs with Xid errors."""
    waiting = replace(PLUGIN, is_running=False, trouble="Pending")
    cluster = replace(
        view(node, pods=(waiting,), sets=sets),
        operators_parts=frozenset(parts),
        plugin_warnings={str(waiting): NO_RUNTIME},
    )
    finding = only(cluster)
    assert finding.cause is Cause.PLUGIN_NOT_RUNNING
    assert words in finding.what
    assert 'no runtime for "nvidia" is configured' in finding.what
    assert advice in finding.advice


@pytest.mark.parametrize(
    ("trouble", "unplaced", "reason"),
    [
        ("Pending", "", "FailedMount: not found"),
        ("CrashLoopBackOff: back-off", "", "CrashLoopBackOff"),
        ("Pending", "0/3 nodes", "0/3 nodes"),
    ],
)
def test_a_warning_is_reported_if_the_pod_has_no_message(
    trouble: str, unplaced: str, reason: str
) -> None:
    waiting = replace(PLUGIN, is_running=False, trouble=trouble, unplaced=unplaced)
    warnings = {str(waiting): "FailedMount: not found"}
    cluster = replace(view(BARE, pods=(waiting,)), plugin_warnings=warnings)
    assert f"does not run: {reason}" in only(cluster).what


def shown(cluster: ClusterView, expected: Expected) -> list[str]:
    page = io.StringIO()
    findings = judge(cluster, expected)
    examination = Examination("A cluster", expected, cluster, findings)
    report.print_tables(examination, ReportConsole(file=page, width=80))
    return page.getvalue().splitlines()


def test_five_pools_are_on_one_screen() -> None:
    """A row for each of thirty nodes pushed the findings out of sight."""
    pools = [f"pool{number}" for number in range(5)]
    nodes = [replace(NODE, name=f"{pool}-{n}", pool=pool) for pool in pools for n in range(6)]
    nodes[0] = replace(nodes[0], is_ready=False, reason="KubeletNotReady")
    work = replace(WORK, node="pool1-0")
    lines = shown(view(*nodes, pods=(work,)), stack(*pools))
    assert len(lines) < 15
    [row] = [line.split() for line in lines if line.startswith("pool1 ")]
    assert row[:7] == ["pool1", "6", "nodes", "yes", "12", "12", "2"]
    assert [line.split()[1] for line in lines if line.startswith("pool0 ")] == ["pool0-0", "5"]


def test_a_terminal_shows_the_first_findings() -> None:
    waiting = [replace(WORK, name=f"work{n}", node=None, unplaced="full") for n in range(20)]
    lines = shown(view(NODE, pods=(PLUGIN, *waiting)), GPU)
    assert sum(line.startswith("pod-pending") for line in lines) == 14
    assert lines[-1] == "6 more findings: --json has all"
