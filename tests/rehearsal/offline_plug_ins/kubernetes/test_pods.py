"""What pods complain of."""

from typing import Any

from rehearsal.offline_plug_ins.kubernetes.readiness import complaints


def pod(*conditions: dict[str, str], **state: Any) -> dict[str, Any]:
    container = {"name": "c", "ready": False, "state": state, "lastState": {}}
    return {
        "metadata": {"name": "p", "namespace": "default"},
        "status": {"conditions": list(conditions), "containerStatuses": [container]},
    }


def false(name: str, message: str) -> dict[str, str]:
    return {"type": name, "status": "False", "reason": "r", "message": message}


def test_an_unschedulable_pod_is_reported() -> None:
    unfit = pod(false("PodScheduled", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."))

    assert complaints(unfit) == ["[Pod p]: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu."]


def test_a_container_that_does_not_start_is_reported_with_its_reason() -> None:
    pulling = pod(waiting={"reason": "ErrImagePull", "message": "x"})

    assert complaints(pulling) == ["[Pod p]: [ErrImagePull] x"]
    assert complaints(pod(waiting={"reason": "ContainerCreating"})) == []


def test_a_terminated_container_is_reported_with_its_exit_code() -> None:
    ended = {"reason": "Error", "exitCode": 3}
    assert complaints(pod(terminated=ended)) == [
        '[Pod p]: container "c" completed with exit code 3'
    ]
    status = {**ended, "message": "out of memory"}
    assert complaints(pod(terminated=status)) == ["[Pod p]: [Error] out of memory"]

    crashing = pod(waiting={"reason": "CrashLoopBackOff", "message": "back-off"})
    last = {"terminated": {"finishedAt": "now", "reason": "OOMKilled", "exitCode": 137}}
    crashing["status"]["containerStatuses"][0]["lastState"] = last
    assert complaints(crashing) == [
        "[Pod p]: [CrashLoopBackOff] back-off",
        '[Pod p]: container "c" terminated at now (OOMKilled: exit code 137)',
    ]


def test_a_ready_or_finished_pod_has_no_complaints() -> None:
    running = pod(running={"startedAt": "now"})
    running["status"]["containerStatuses"][0]["ready"] = True
    assert complaints(running) == []
    done = pod(false("Ready", "done"), terminated={"reason": "Completed", "exitCode": 0})
    done["status"]["phase"] = "Succeeded"
    assert complaints(done) == []
