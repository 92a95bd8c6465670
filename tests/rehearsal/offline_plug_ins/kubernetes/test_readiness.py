"""When objects are ready, and what is told of them until then."""

from typing import Any

import pytest

from rehearsal.offline_plug_ins.kubernetes.objects import Object
from rehearsal.offline_plug_ins.kubernetes.readiness import Verdict, judge_of

GROUPS = {
    "DaemonSet": "apps/v1",
    "Deployment": "apps/v1",
    "Job": "batch/v1",
}


def live(kind: str, status: dict[str, Any], spec: dict[str, Any] | None = None) -> Object:
    return {
        "apiVersion": GROUPS.get(kind, "v1"),
        "kind": kind,
        "metadata": {"name": "x", "namespace": "ns", "generation": 2},
        "spec": spec or {},
        "status": status,
    }


def judged(live_object: Object) -> Verdict:
    judge = judge_of(live_object)
    assert judge is not None
    return judge(live_object)


def daemon_set(generation: int = 2, **status: int) -> Object:
    counts = {
        "currentNumberScheduled": 2,
        "desiredNumberScheduled": 2,
        "numberAvailable": 2,
        "numberReady": 2,
        "updatedNumberScheduled": 2,
    }
    return live("DaemonSet", {"observedGeneration": generation, **counts, **status})


@pytest.mark.parametrize(
    ("live_object", "message"),
    [
        (daemon_set(generation=1), "Waiting for its controller"),
        (daemon_set(updatedNumberScheduled=0), "Ready: 0/2"),
        (daemon_set(numberAvailable=1), "Ready: 1/2"),
        (daemon_set(numberReady=1), "Ready: 1/2"),
    ],
)
def test_a_daemon_set_in_a_rollout_is_not_ready(live_object: Object, message: str) -> None:
    assert judged(live_object) == Verdict(message)


def test_a_daemon_set_is_ready_on_all_nodes_or_on_none() -> None:
    assert judged(daemon_set()).is_ready
    assert judged(
        live("DaemonSet", {"observedGeneration": 2, "desiredNumberScheduled": 0})
    ).is_ready
    assert not judged(live("DaemonSet", {})).is_ready


def job(**status: Any) -> Object:
    return live("Job", status)


def condition(name: str, **more: str) -> dict[str, str]:
    return {"type": name, "status": "True", **more}


def test_a_job_is_ready_when_it_is_complete() -> None:
    assert judged(job()) == Verdict('Waiting for Job "ns/x" to start')
    assert judged(job(startTime="t", active=1)) == Verdict(
        'Waiting for Job "ns/x" to succeed (Active: 1 | Succeeded: 0 | Failed: 0)'
    )
    assert judged(job(startTime="t", conditions=[condition("Complete")])).is_ready
    failed = condition("Failed", reason="DeadlineExceeded", message="too long")
    assert judged(job(startTime="t", conditions=[failed])) == Verdict(
        "[DeadlineExceeded] too long", has_failed=True
    )


def deployment(**status: Any) -> Object:
    counts = {"availableReplicas": 3, "replicas": 3, "updatedReplicas": 3}
    return live("Deployment", {"observedGeneration": 2, **counts, **status}, {"replicas": 3})


@pytest.mark.parametrize(
    ("live_object", "message"),
    [
        (deployment(updatedReplicas=1), "Available: 1/3"),
        (deployment(replicas=4), "Waiting for pods of before to end"),
        (deployment(availableReplicas=2), "Available: 2/3"),
    ],
)
def test_a_deployment_in_a_rollout_is_not_ready(live_object: Object, message: str) -> None:
    assert judged(live_object) == Verdict(message)


def test_a_deployment_is_ready_or_fails_without_progress() -> None:
    assert judged(deployment()).is_ready
    stuck = {"type": "Progressing", "status": "False", "reason": "Late", "message": "m"}
    assert judged(deployment(conditions=[stuck])) == Verdict("[Late] m", has_failed=True)


def test_a_namespace_is_not_waited_for() -> None:
    """The original's table of awaiters knows namespaces when they go only."""
    assert judged(live("Namespace", {"phase": "Active"})).is_ready
    assert judged(live("Namespace", {})).is_ready


def test_objects_of_other_kinds_are_ready_once_they_exist() -> None:
    assert judge_of(live("ConfigMap", {})) is None
    assert judge_of(live("Job", {}) | {"apiVersion": "example.com/v1"}) is None
