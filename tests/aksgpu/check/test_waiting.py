"""Why pods wait, rung by rung; what becomes of a capacity; and machines that Azure takes back."""

from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from aks_catalogue import capacity
from aks_catalogue.node_problems import vm_event
from aks_catalogue.scheduling import Taint
from aksgpu.check import report
from aksgpu.check.cluster_view import ClusterView, DaemonSet, Node, Pod, growth
from aksgpu.check.examination import Examination
from aksgpu.check.expected import Expected, Pool, expected
from aksgpu.check.job import Place, place
from aksgpu.check.judge import judge, result
from aksgpu.check.waiting import reasons, told
from aksgpu.outcome import Cause, Finding
from tests.aksgpu.check.test_odd_clusters import ODD, bent

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
        "the pod ns/work is pending: Insufficient. Capacity training: "
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
    assert words in reasons(SPEC, 1, seen(group("spot", code, message)), STACK)


def test_a_pod_that_fits_no_rung_is_told_so() -> None:
    def selecting(*names: str) -> Any:
        """By affinity, and without tolerations."""
        key = {"key": capacity.LABEL, "operator": "In" if names else "Exists", "values": names}
        term = {"matchExpressions": [key]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        return {"affinity": {"nodeAffinity": required}}

    assert "the pod does not tolerate" not in reasons(selecting(), 1, seen(), STACK)
    text = reasons(selecting("training"), 4, seen(), STACK)
    assert "spot (the pod requests 4 GPUs, a node has 1; the pod does not tolerate" in text
    assert str(OWN) in text
    pod = replace(WAITING, spec={"nodeSelector": SELECTOR}, unplaced="had untolerated taint(s)")
    [finding] = pending_of(seen(pods=(pod,)), STACK)
    assert "the stack's output gpuCapacity has them" in finding.advice


def test_a_pod_of_an_ordinary_pool_is_told_why_too() -> None:
    pool = Pool(name="gpu", size=T4, least=0, most=1, is_scaled=True, taints=(SKU,))
    both = Expected(pools={"gpu": pool, **(STACK.pools or {})})
    spec = {"tolerations": [SKU.toleration]}
    text = reasons(spec, 1, seen(group("gpu", "QuotaExceeded"), SPOT_GONE), both)
    assert text.startswith("Pools: gpu (the quota is too small: QuotaExceeded")
    assert "spot" not in text
    assert reasons({}, 1, seen(group("gpu", "QuotaExceeded")), both) == ""
    by_hand = Expected(pools={"gpu": replace(pool, is_scaled=False)})
    assert reasons(spec, 1, seen(), by_hand) == "Pools: gpu (AKS does not scale it)"
    growing = group("gpu")
    growing["scaleUp"]["status"] = "InProgress"
    assert reasons(spec, 1, seen(growing), both) == "Pools: gpu (AKS adds a node)"


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


@settings(deadline=None)
@given(st.one_of(st.text(), bent(group("spot", "timeout")).map(lambda odd: [odd]), ODD), st.text())
def test_no_status_ends_a_check(groups: object, text: str) -> None:
    status = yaml.safe_dump({"nodeGroups": groups, "time": text}, allow_unicode=True)
    for each in (status, text):
        judge(ClusterView(growth=growth(each), pods=(WAITING,)), STACK)


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


def test_a_capacity_that_no_pool_has_is_named() -> None:
    typo = replace(WAITING, spec={**SPEC, "nodeSelector": {capacity.LABEL: "trainign"}})
    [pending] = pending_of(seen(pods=(typo,)), STACK)
    assert pending.what.endswith(
        "No pool of the stack has the capacity trainign; the stack has training"
    )
    assert pending.advice.startswith("correct the pod's node selector")
    [pending] = pending_of(seen(pods=(typo,)), Expected(pools={}))
    assert pending.what.endswith("No pool of the stack has the capacity trainign")
    [pending] = pending_of(seen(pods=(typo,)), Expected())
    assert pending.what.endswith("Insufficient.")


def test_a_capacity_without_nodes_is_told_as_one() -> None:
    """Each of its rungs was reported as a pool without nodes."""
    [finding] = judge(seen(), STACK)
    assert (finding.cause, finding.pool) == (Cause.POOL_AT_ZERO, None)
    assert finding.what == "the capacity training has no nodes now"
    assert result(seen(), [finding]) is Cause.NO_NODES_NOW


def test_a_lower_rung_that_would_grow_is_a_note() -> None:
    """A rung below it was among those above."""
    full = group("larger", cloudProviderTarget=2)
    [finding] = judge(seen(SPOT_GONE, full, nodes=(NODE,)), STACK)
    assert finding.cause is Cause.LOWER_RUNG
    assert finding.what == (
        "the capacity training would grow on its rung regular, not on spot (Azure has no machines "
        f"for it: SkuNotAvailable, backed off since {SINCE})"
    )


def test_a_capacity_whose_rungs_get_no_node_is_a_problem_unless_a_gpu_is_free() -> None:
    groups = (SPOT_GONE, FAILED, group("larger", cloudProviderTarget=2))
    causes = [f.cause for f in judge(seen(*groups, nodes=(NODE,), pods=(WORK,)), STACK)]
    assert causes == [Cause.CAPACITY_EXHAUSTED]
    assert judge(seen(*groups, nodes=(NODE,)), STACK) == []


def test_a_capacity_that_can_grow_is_fine_with_all_gpus_in_use() -> None:
    """Each job that ran made `check` fail with gpus-all-used."""
    assert judge(seen(nodes=(NODE,), pods=(WORK,)), STACK) == []


def test_the_report_has_the_ladder() -> None:
    view = seen(SPOT_GONE, nodes=(NODE,))
    [ladder] = report.document(Examination(expected=STACK, view=view))["capacities"]
    assert ladder["name"] == "training"
    assert [(rung["pool"], rung["nodes"]) for rung in ladder["rungs"]] == [
        ("spot", 0),
        ("regular", 0),
        ("larger", 1),
    ]
    assert "SkuNotAvailable" in ladder["rungs"][0]["barred"]
    assert ladder["rungs"][1]["barred"] is None


def test_a_stack_has_its_rungs_in_order_with_the_pod_of_the_capacity() -> None:
    """`check --job` asked for a GPU of one rung, where AKS would have taken another.

    The program is another team's: it exports nothing.
    """

    def agent_pool(name: str) -> dict[str, Any]:
        labels = {"nodeLabels": SELECTOR}
        outputs = {"name": name, "vmSize": T4, "enableAutoScaling": True, "maxCount": 2, **labels}
        return {"type": "azure-native:containerservice:AgentPool", "inputs": {}, "outputs": outputs}

    names = ["spot", "regular", "larger"]
    component = {
        "type": "aks-gpu:components:GpuCapacity",
        "outputs": {"poolNames": names, "pod": POD},
    }
    read = expected([component, *map(agent_pool, sorted(names))], {}, "")
    assert [pool.name for pool in read.ladders()["training"]] == names
    every = DaemonSet(namespace="ns", name="set", pods={"tolerations": [{"operator": "Exists"}]})
    view = ClusterView(daemon_sets=(every,))
    assert place(view, read) == Place(POD, grows="spot")
    free = replace(NODE, pool="regular")
    assert place(replace(view, nodes=(free,)), read) == Place(POD)


def test_a_job_that_waits_is_told_the_rungs_reasons() -> None:
    text = told("the job got no GPU: full.", SPEC, 1, seen(SPOT_GONE), STACK)
    assert text.startswith("the job got no GPU: full. Capacity training: spot (Azure has no")
    assert told("it failed.", SPEC, 1, seen(), Expected()) == "it failed."


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
