"""Why pods wait, pool by pool; when all GPUs are in use; and machines that Azure takes back."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from aks_catalogue import capacity
from aks_catalogue.node_problems import vm_event
from aks_catalogue.scheduling import Taint
from aksgpu.check.cluster_view import ClusterView, DaemonSet, Node, Pod, growth
from aksgpu.check.expected import Expected, Pool
from aksgpu.check.job import place
from aksgpu.check.judge import judge
from aksgpu.check.waiting import told
from aksgpu.outcome import Cause, Finding

T4 = "Standard_NC8as_T4_v3"
OWN, SKU = Taint.parse(capacity.taint("training")), Taint("sku", "gpu", "NoSchedule")
SELECTOR = {capacity.LABEL: "training"}
SPEC = {"nodeSelector": SELECTOR, "tolerations": [OWN.toleration, SKU.toleration]}
POD = {"spec": SPEC}
RUNG = Pool(
    name="spot",
    size=T4,
    gpu_stack="specialized-image",
    least=0,
    most=2,
    is_scaled=True,
    taints=(SKU, OWN),
    labels=SELECTOR,
    output_pod=POD,
)
RUNGS = [RUNG, replace(RUNG, name="regular"), replace(RUNG, name="larger")]
STACK = Expected(pools={rung.name: rung for rung in RUNGS}, is_ours=True)
WAITING = Pod(namespace="ns", name="work", gpus=1, unplaced="Insufficient.", spec=SPEC)
NODE = Node(name="n0", pool="larger", capacity=1, allocatable=1, taints=(SKU, OWN))
WORK = Pod(namespace="ns", name="on", node="n0", gpus=1)
SOLD_OUT = 'failed to increase node group size: Code="SkuNotAvailable" Message="not in eastus"'
SINCE = "2026-11-28T10:00:00Z"


def group(pool: str, code: str = "", message: str = "", **more: Any) -> dict[str, Any]:
    """A pool in the status of the autoscaler, with the keys that its 1.34 writes."""
    up: dict[str, Any] = {"status": "NoActivity", "lastTransitionTime": SINCE}
    if code:
        info = {"errorCode": code, "errorMessage": message}
        up |= {"status": "Backoff", "backoffInfo": info}
    health = {"cloudProviderTarget": 0, "minSize": 0, "maxSize": 2}
    return {
        "name": f"aks-{pool}-27632138-vmss",
        "health": health | more,
        "scaleUp": {**up, "lastProbeTime": SINCE},
    }


def seen(*groups: dict[str, Any], nodes: tuple[Node, ...] = (), **more: Any) -> ClusterView:
    status = yaml.safe_dump({"autoscalerStatus": "Running", "nodeGroups": list(groups)})
    return ClusterView(nodes=nodes, growth=growth(status), **more)


def pending_of(view: ClusterView, stack: Expected) -> list[Finding]:
    return [each for each in judge(view, stack) if each.cause is Cause.POD_PENDING]


SPOT_GONE, FAILED = (
    group("spot", "cloudProviderError", SOLD_OUT),
    group("regular", "provisioning-state-failed", "Azure failed to provision a node"),
)


def test_a_pod_that_waits_for_a_capacity_is_told_why_by_each_rung() -> None:
    view = seen(SPOT_GONE, FAILED, group("larger", cloudProviderTarget=2), pods=(WAITING,))
    [pending] = pending_of(view, STACK)
    assert pending.what == (
        "the pod ns/work is pending: Insufficient. Pools: "
        f"spot (Azure has no machines for it: SkuNotAvailable, backed off since {SINCE}), "
        "regular (Azure could not start its machines, as if sold out: provisioning-state-failed, "
        f"backed off since {SINCE}), "
        "larger (it has its most nodes, 2 of 2)"
    )


@pytest.mark.parametrize(
    ("code", "message", "words"),
    [
        ("QuotaExceeded", "", "the quota is too small: QuotaExceeded"),
        # As in Azure/AKS#1184.
        (
            "cloudProviderError",
            'Status=<nil> Code="OperationNotAllowed" Message="exceeding quota limits of Core"',
            "the quota is too small: OperationNotAllowed",
        ),
        ("ZonalAllocationFailed", "", "Azure has no machines for it: ZonalAllocationFailed"),
        ("timeout", "after 15m0s", "its nodes did not come in time: timeout"),
        ("newCode", "", "a scale-up failed: newCode"),
    ],
)
def test_the_codes_of_azure_are_told_in_words(code: str, message: str, words: str) -> None:
    assert words in told("", SPEC, 1, seen(group("spot", code, message)), STACK)


def test_a_pod_that_fits_no_rung_is_told_so() -> None:
    def selecting(*names: str) -> Any:
        """By affinity, and without tolerations."""
        key = {"key": capacity.LABEL, "operator": "In" if names else "Exists", "values": names}
        term = {"matchExpressions": [key]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        return {"affinity": {"nodeAffinity": required}}

    text = told("", selecting("training"), 4, seen(), STACK)
    assert "spot (the pod requests 4 GPUs, a node has 1; the pod does not tolerate" in text
    assert str(OWN) in text
    pod = replace(WAITING, spec={"nodeSelector": SELECTOR}, unplaced="had untolerated taint(s)")
    [finding] = pending_of(seen(pods=(pod,)), STACK)
    assert "the stack's output gpuPools has them" in finding.advice


def test_a_pod_of_an_ordinary_pool_is_told_why_too() -> None:
    pool = Pool(name="gpu", size=T4, least=0, most=1, is_scaled=True, taints=(SKU,))
    both = Expected(pools={"gpu": pool, **(STACK.pools or {})})
    spec = {"tolerations": [SKU.toleration]}
    text = told("", spec, 1, seen(group("gpu", "QuotaExceeded"), SPOT_GONE), both)
    assert text.startswith(". Pools: gpu (the quota is too small: QuotaExceeded")
    assert "spot" not in text
    assert told("", {}, 1, seen(group("gpu", "QuotaExceeded")), both) == ""
    by_hand = Expected(pools={"gpu": replace(pool, is_scaled=False)})
    assert told("", spec, 1, seen(), by_hand) == ". Pools: gpu (AKS does not scale it)"
    growing = group("gpu")
    growing["scaleUp"]["status"] = "InProgress"
    assert told("", spec, 1, seen(growing), both) == ". Pools: gpu (AKS adds a node)"


@pytest.mark.parametrize(
    "status",
    [
        None,
        "",
        "Cluster-autoscaler status at 2019:\n  Health: x (y=3)",
        "[" * 5000,
        "at: 2026-02-31",
    ],
)
def test_a_status_that_cannot_be_read_says_nothing(status: object) -> None:
    """Clusters before 1.30 have plain text there; others have none, or nobody may read it."""
    assert growth(status) == {}


def test_a_pod_for_which_a_node_comes_is_left_alone() -> None:
    """It was to be deleted."""
    growing = group("regular")
    growing["scaleUp"]["status"] = "InProgress"
    untold = "1 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint(s)"
    pods = (WAITING, replace(WAITING, name="other", unplaced=untold))
    advice = {f.advice for f in judge(seen(SPOT_GONE, growing, pods=pods), STACK) if f.is_problem}
    assert advice == {"nothing to do: AKS adds a node for it"}
    strange = replace(WAITING, spec={"nodeSelector": SELECTOR})
    [pending] = pending_of(seen(growing, pods=(strange,)), STACK)
    assert "AKS adds" not in pending.advice


def test_a_job_that_waits_is_told_the_rungs_reasons() -> None:
    text = told("the job got no GPU: full.", SPEC, 1, seen(SPOT_GONE), STACK)
    assert text.startswith("the job got no GPU: full. Pools: spot (Azure has no")
    assert told("it failed.", SPEC, 1, seen(), Expected()) == "it failed."


def test_gpus_in_use_are_a_problem_if_no_pool_grows() -> None:
    """Each job that ran on a pool that can grow made `check` fail with gpus-all-used."""
    assert not any(each.is_problem for each in judge(seen(nodes=(NODE,), pods=(WORK,)), STACK))
    groups = (SPOT_GONE, FAILED, group("larger", cloudProviderTarget=2))
    view = seen(*groups, nodes=(NODE,), pods=(WORK,))
    [finding] = [each for each in judge(view, STACK) if each.is_problem]
    assert finding.cause is Cause.GPUS_ALL_USED
    assert "no pool grows: spot (Azure has no machines for it: SkuNotAvailable" in finding.what


def test_a_pod_gets_a_gpu_of_any_pool_with_its_label() -> None:
    """`check --job` asked for a GPU of one rung, where AKS would have taken another."""
    every = DaemonSet(namespace="ns", name="set", pods={"tolerations": [{"operator": "Exists"}]})
    found = place(ClusterView(daemon_sets=(every,)), STACK)
    assert found is not None
    assert (found.grows, found.pod["spec"]["nodeSelector"]) == ("spot", SELECTOR)


PREEMPT = "Preempt Scheduled: Sat, 28 Nov 2026 10:00:00 GMT. For more information, see ..."


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ({"VMEventScheduled": PREEMPT, "PreemptionScheduled": PREEMPT}, "takes this spot machine"),
        ({"PreemptionScheduled": "Preempt Started."}, "takes this spot machine back"),
        ({"PreemptionScheduled": "SpotRebalanceRecommendation Advisory: x"}, "may soon take"),
        ({"VMEventScheduled": PREEMPT}, "takes this spot machine back, with about 30 seconds'"),
        ({"VMEventScheduled": "Redeploy Scheduled: x"}, "announced something for its machine (VM"),
        ({"VMEventScheduled": "VMEventScheduled"}, "has announced something"),
    ],
)
def test_what_azure_announces_of_a_machine_is_a_note(
    conditions: dict[str, str], words: str
) -> None:
    [finding] = judge(ClusterView(nodes=(replace(NODE, problems=conditions),)), Expected())
    assert (finding.cause, finding.nodes) == (Cause.NODE_GOES, ("n0",))
    assert words in finding.what
    assert not finding.is_problem


def test_a_spot_machine_that_goes_is_no_broken_node() -> None:
    """Evictions made `check` fail with node-not-ready."""
    gone = replace(NODE, is_ready=False, reason="NodeStatusUnknown")
    taken = replace(gone, problems={"PreemptionScheduled": PREEMPT})
    drained = replace(taken, is_ready=True, is_cordoned=True)
    assert [f.cause for f in judge(ClusterView(nodes=(drained,)), Expected())] == [Cause.NODE_GOES]
    frozen = replace(gone, problems={"VMEventScheduled": "Freeze Scheduled: x"})
    assert [f.cause for f in judge(ClusterView(nodes=(taken,)), Expected())] == [Cause.NODE_GOES]
    causes = [f.cause for f in judge(ClusterView(nodes=(frozen,)), Expected())]
    assert causes == [Cause.NODE_NOT_READY, Cause.NODE_GOES]
    assert vm_event({"MemoryPressure": "x"}) is None
