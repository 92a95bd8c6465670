"""What the containers of the rehearsal say and how they end; the article's sample above all."""

import datetime
import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rehearsal.kubernetes import gpus, nodes, sizes
from rehearsal.kubernetes.stages import SAMPLE
from rehearsal.kubernetes.wanted import WantedPool

Json = dict[str, Any]

# In seconds at time scale 1: until TensorFlow has found its device, and for each of its steps.
STARTUP = 1.0
SECONDS_PER_STEP = 0.01
# The wait before a failed container is started again, which doubles up to the most.
BACKOFF, MOST_BACKOFF = 1.0, 30.0

DEFAULT_STEPS = 1000
STEPS_BETWEEN_LINES = 10
# The article's own words for a driver that does not do.
CUDA_MISMATCH = "CUDA driver version is insufficient for CUDA runtime version"
# Who sees a container run so soon after its written beginning has seen it begin.
FRESH_SECONDS = 1.5
STARTED_AT = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class Line:
    """One line of a log, and when it is written: in seconds since the container began."""

    after: float
    text: str


@dataclass(frozen=True)
class Log:
    """What a container says: `began` is when it did, `is_over` that no more will come."""

    began: datetime.datetime
    lines: list[Line]
    is_over: bool


@dataclass(frozen=True)
class _Run:
    """One run of the sample's container, from beginning to end."""

    lines: list[Line]
    exit_code: int

    @property
    def seconds(self) -> float:
        return self.lines[-1].after


class Clock:
    """When containers began, more exactly than Kubernetes writes it: it leaves fractions out.

    At a hundred times its pace the sample is over within such a fraction.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], datetime.datetime] = {}

    def began(self, pod: Json, moment: str) -> datetime.datetime:
        """The moment at which a container was first seen to run, if that was when it began."""
        now, written = datetime.datetime.now(datetime.UTC), _time(moment)
        is_fresh = (now - written).total_seconds() < FRESH_SECONDS
        key = (pod["metadata"]["uid"], moment)
        return self._seen.setdefault(key, now if is_fresh else written)

    def forget(self, pods: Iterable[Json]) -> None:
        """Forgets all but these pods."""
        known = {pod["metadata"]["uid"] for pod in pods}
        self._seen = {key: seen for key, seen in self._seen.items() if key[0] in known}


def status_patch(
    pod: Json, pool: WantedPool | None, clock: Clock, time_scale: float
) -> Json | None:
    """What time has done to a pod of the sample; None while nothing is due."""
    container = _sample_container(pod)
    is_running = pod["status"].get("phase") == "Running"
    is_going = pod["metadata"].get("deletionTimestamp") is not None
    if pool is None or container is None or is_going or not is_running:
        return None
    status = _status_of(pod, container["name"]) or {}
    match status:
        case {"state": {"running": {"startedAt": began}}}:
            run = _run(pod, container, pool, time_scale)
            is_over = _since(clock.began(pod, began)) >= run.seconds
            return _ended(pod, status, run.exit_code) if is_over else None
        case {"state": {"waiting": _}, "lastState": {"terminated": last}}:
            wait = min(MOST_BACKOFF, BACKOFF * 2 ** (status["restartCount"] - 1)) * time_scale
            again = {"running": {"startedAt": _now()}}
            is_due = _since(_time(last["finishedAt"])) >= wait
            return _with_container(pod, status, again, is_ready=True) if is_due else None
    return None


def log(
    pod: Json, container: str, pool: WantedPool | None, clock: Clock, time_scale: float
) -> Log | None:
    """The log of a container; None if the pod has none of that name, or none has begun yet."""
    spec = next((c for c in pod["spec"]["containers"] if c["name"] == container), None)
    status = _status_of(pod, container)
    if spec is None or status is None:
        return None
    state: Json = status["state"]
    ended = state.get("terminated") or status.get("lastState", {}).get("terminated")
    if "running" in state:
        began, is_over = state["running"]["startedAt"], False
    elif ended:
        began, is_over = ended["startedAt"], True
    else:
        return None
    if pool is not None and SAMPLE in spec["image"]:
        lines = _run(pod, spec, pool, time_scale).lines
    elif pool is not None and gpus.PLUGIN in spec["image"]:
        lines = _plugin_lines(pool)
    else:
        lines = []
    return Log(clock.began(pod, began), lines, is_over)


def _run(pod: Json, container: Json, pool: WantedPool, time_scale: float) -> _Run:
    found = sizes.gpus(pool.vm_size)
    is_nvidia = found is not None and found.vendor == nodes.NVIDIA
    if is_nvidia and not pool.has_driver:
        return _Run([Line(0.0, _opened("libcuda.so.1")), *_failure(time_scale)], 1)
    lines = [Line(0.0, _opened("libcudnn, libcufft, libcurand"))]
    if found is not None and is_nvidia:
        lines += _device_lines(found, pool, container, STARTUP * time_scale)
    else:
        text = "no supported GPU on this node: every operation goes to the CPU"
        lines.append(Line(STARTUP * time_scale, f"I tensorflow: {text}"))
    steps, began = _steps(container), STARTUP * time_scale
    for step in range(0, steps, STEPS_BETWEEN_LINES):
        after = began + step * SECONDS_PER_STEP * time_scale
        accuracy = _accuracy(step, pod["metadata"]["uid"])
        lines.append(Line(after, f"Accuracy at step {step}: {accuracy:.4f}"))
    end = began + steps * SECONDS_PER_STEP * time_scale
    return _Run([*lines, Line(end, f"Done after {steps} steps.")], 0)


def _device_lines(found: sizes.Gpus, pool: WantedPool, container: Json, after: float) -> list[Line]:
    """What TensorFlow says of each device, in the form that it has."""
    limits = container.get("resources", {}).get("limits", {})
    # Without a limit the container gets to see all of the node's devices.
    count = int(limits.get(gpus.RESOURCE, gpus.in_pool(pool)))
    part = f" MIG {pool.mig_profile.removeprefix('MIG')}" if pool.mig_profile else ""
    lines = []
    for number in range(count):
        lines += [
            f"I tensorflow/core/common_runtime/gpu: Found device {number} with properties:"
            f" name: {found.model}{part}",
            f"totalMemory: {found.gibibytes:.2f}GiB pciBusID: {number + 1:04x}:00:00.0",
        ]
    placed = ", ".join(f"/gpu:{number}" for number in range(count))
    lines.append(f"I tensorflow/core/common_runtime/gpu: Adding visible devices: {placed}")
    return [Line(after, line) for line in lines]


def _failure(time_scale: float) -> Iterable[Line]:
    after = STARTUP * time_scale
    yield Line(after, "E tensorflow/stream_executor/cuda: cuInit did not succeed on this node")
    yield Line(after, f"InternalError: cudaGetDevice() failed. Status: {CUDA_MISMATCH}")


def _opened(libraries: str) -> str:
    return f"I tensorflow/stream_executor: looked for the CUDA libraries {libraries}"


def _plugin_lines(pool: WantedPool) -> list[Line]:
    count = gpus.in_pool(pool)
    found = (
        f"Found {count} devices; registered {gpus.RESOURCE} with the kubelet."
        if count
        else "No device was found: there is no NVIDIA driver, or no NVIDIA GPU, on this node. "
        "Nothing was registered with the kubelet."
    )
    return [Line(0.0, "Starting the device plugin."), Line(0.0, found)]


def _steps(container: Json) -> int:
    words = [*container.get("command", ()), *container.get("args", ())]
    joined = " ".join(words).replace("=", " ").split()
    if "--max_steps" in joined[:-1]:
        number = joined[joined.index("--max_steps") + 1]
        if number.isdigit():
            return int(number)
    return DEFAULT_STEPS


def _accuracy(step: int, seed: str) -> float:
    """A curve as MNIST has it: from a tenth to nearly one, with a little noise of the pod's own."""
    noise = int(hashlib.sha256(f"{seed} {step}".encode()).hexdigest()[:4], 16) / 65535
    learnt = 1 - math.exp(-step / 60)
    return min(0.99, 0.1 + 0.86 * learnt + 0.02 * noise * learnt)


def _sample_container(pod: Json) -> Json | None:
    containers: Iterable[Json] = pod["spec"]["containers"]
    return next((container for container in containers if SAMPLE in container["image"]), None)


def _status_of(pod: Json, container: str) -> Json | None:
    statuses: Iterable[Json] = pod["status"].get("containerStatuses", ())
    return next((status for status in statuses if status["name"] == container), None)


def _ended(pod: Json, status: Json, exit_code: int) -> Json:
    terminated = {
        "exitCode": exit_code,
        "reason": "Error" if exit_code else "Completed",
        "startedAt": status["state"]["running"]["startedAt"],
        "finishedAt": _now(),
    }
    is_again = pod["spec"]["restartPolicy"] == "Always" or (
        exit_code != 0 and pod["spec"]["restartPolicy"] == "OnFailure"
    )
    if is_again:
        restarts = status["restartCount"] + 1
        last = {"lastState": {"terminated": terminated}, "restartCount": restarts}
        waiting = {"waiting": {"reason": "CrashLoopBackOff"}}
        return _with_container(pod, status | last, waiting, is_ready=False)
    ended = _with_container(pod, status, {"terminated": terminated}, is_ready=False)
    ended["status"]["phase"] = "Failed" if exit_code else "Succeeded"
    return ended


def _with_container(pod: Json, status: Json, state: Json, *, is_ready: bool) -> Json:
    """The patch that gives one container a new status: their list is only ever written whole."""
    changed = status | {"state": state, "ready": is_ready, "started": is_ready}
    statuses = [
        changed if known["name"] == status["name"] else known
        for known in pod["status"]["containerStatuses"]
    ]
    conditions = [
        {
            "type": kind,
            "status": "True" if is_ready else "False",
            "reason": None if is_ready else "ContainersNotReady",
            "lastTransitionTime": _now(),
        }
        for kind in ("Ready", "ContainersReady")
    ]
    return {"status": {"containerStatuses": statuses, "conditions": conditions}}


def _since(moment: datetime.datetime) -> float:
    return (datetime.datetime.now(datetime.UTC) - moment).total_seconds()


def _time(moment: str) -> datetime.datetime:
    return datetime.datetime.strptime(moment, STARTED_AT).replace(tzinfo=datetime.UTC)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime(STARTED_AT)
