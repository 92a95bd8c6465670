"""The life of containers: they start, end and restart, and have logs."""

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kube_client.objects import is_true

Json = dict[str, Any]

# A kubelet's back-off before it restarts a container, in seconds: it doubles up to the longest. The
# rehearsal waits a tenth of that at time scale 1.
BACKOFF, LONGEST_BACKOFF = 10, 300
REHEARSED_PART = 0.1
# A container seen running this soon after its recorded start time counts as just started.
FRESH_SECONDS = 1.5
MOMENT = "%Y-%m-%dT%H:%M:%SZ"
# The condition of a pod whose sandbox is ready and whose containers have not started.
SANDBOX_READY = "PodReadyToStartContainers"


@dataclass(frozen=True)
class Line:
    """One line of a log, and its time in seconds since the container started."""

    after: float
    text: str


@dataclass(frozen=True)
class Log:
    """The log of a container: `began` is its start time, `is_over` whether it is complete."""

    began: datetime.datetime
    lines: Sequence[Line]
    is_over: bool


@dataclass(frozen=True)
class Run:
    """One run of a container."""

    lines: Sequence[Line]
    # Without an exit code it runs until the pod is deleted.
    exit_code: int | None = None

    @property
    def seconds(self) -> float:
        return self.lines[-1].after if self.lines else 0.0

    @property
    def ends_at_once(self) -> bool:
        return self.exit_code is not None and not self.seconds


# Returns the run of a container by its number, 0 for the first; None if kwok plays the container.
RunOf = Callable[[Json, int], Run | None]


@dataclass(frozen=True)
class Change:
    """A change of a pod: the patch of its status, and the warning events that go with it."""

    patch: Json
    # Reason and message.
    warnings: Sequence[tuple[str, str]] = ()


class Clock:
    """Start and end times of containers, more exact than the whole seconds of Kubernetes.

    In a fast rehearsal a run is over within one second.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], datetime.datetime] = {}

    def at(self, pod: Json, what: str, written: str) -> datetime.datetime:
        """Returns the exact time of an event: when it was first seen, if that was in time."""
        present, moment = this_moment(), _time(written)
        is_fresh = (present - moment).total_seconds() < FRESH_SECONDS
        key = (pod["metadata"]["uid"], what)
        seen = self._seen.get(key, present if is_fresh else moment)
        # Nothing waits when the clock is set back.
        self._seen[key] = min(seen, present)
        return self._seen[key]

    def forget(self, pods: Iterable[Json]) -> None:
        """Forgets all pods except these."""
        known = {pod["metadata"]["uid"] for pod in pods}
        self._seen = {key: seen for key, seen in self._seen.items() if key[0] in known}


@dataclass(frozen=True)
class Life:
    """The containers of one pod over time."""

    pod: Json
    run_of: RunOf
    clock: Clock
    time_scale: float

    def change(self) -> Change | None:
        """Returns the change of the pod that is due; None if there is none."""
        if self.pod["metadata"].get("deletionTimestamp"):
            return None
        before: list[Json] = self.pod["status"].get("containerStatuses", [])
        after = [self._next(status) for status in before]
        if after == before:
            return None
        phase = _phase(after)
        conditions = _conditions(after, phase)
        status = {"phase": phase, "conditions": conditions, "containerStatuses": after}
        warnings = [
            (
                "BackOff",
                f"Back-off restarting failed container {container['name']} in pod {self._name}",
            )
            for container in after
            if "waiting" in container["state"] and container["restartCount"] == 1
        ]
        return Change({"status": status}, warnings)

    def log(self, container: str) -> Log | None:
        """Returns the log of a container's last run; None if there is none."""
        spec = self._spec(container)
        status = _named(self.pod["status"].get("containerStatuses", ()), container)
        if spec is None or status is None:
            return None
        state, number = status["state"], status["restartCount"]
        current = state.get("running") or state.get("terminated")
        # While it waits for its next run, restartCount still counts the run that ended.
        shown = current or status.get("lastState", {}).get("terminated")
        return self._log_of(spec, number, shown, is_over="running" not in state) if shown else None

    # -- one container

    def _next(self, status: Json) -> Json:
        match status:
            case {"state": {"running": {"startedAt": written}}, "restartCount": number}:
                run = self._run(status, number)
                if run is None or run.exit_code is None:
                    return status
                began = self._at(status["name"], "began", number, written)
                return self._ended(status, run) if _since(began) >= run.seconds else status
            case {"state": {"waiting": _}, "lastState": {"terminated": last}}:
                number = status["restartCount"]
                ended = self._at(status["name"], "ended", number, last["finishedAt"])
                wait = _backoff(number) * REHEARSED_PART * self.time_scale
                return self._begun(status, number + 1) if _since(ended) >= wait else status
            case {"state": {"waiting": {"reason": "ContainerCreating"}}}:
                return self._begun(status, 0) if is_true(self.pod, SANDBOX_READY) else status
        return status

    def _begun(self, status: Json, number: int) -> Json:
        begun = status | {
            "state": {"running": {"startedAt": now()}},
            "restartCount": number,
            "imageID": status["image"],
            "ready": True,
            "started": True,
        }
        run = self._run(status, number)
        # It never shows as running, which clients could rely on.
        return self._ended(begun, run) if run and run.ends_at_once else begun

    def _ended(self, status: Json, run: Run) -> Json:
        terminated = {
            "exitCode": run.exit_code,
            "reason": "Error" if run.exit_code else "Completed",
            "startedAt": status["state"]["running"]["startedAt"],
            "finishedAt": now(),
        }
        number = status["restartCount"]
        ended = status | {"ready": False, "started": False}
        if not self._is_started_again(run):
            return ended | {"state": {"terminated": terminated}}
        ended["lastState"] = {"terminated": terminated}
        if number == 0:
            return self._begun(ended, 1)
        message = (
            f"back-off {_duration(_backoff(number))} restarting failed container={status['name']} "
            f"pod={self._name}"
        )
        return ended | {"state": {"waiting": {"reason": "CrashLoopBackOff", "message": message}}}

    def _is_started_again(self, run: Run) -> bool:
        policy = self.pod["spec"].get("restartPolicy", "Always")
        return policy == "Always" or (policy == "OnFailure" and run.exit_code != 0)

    @property
    def _name(self) -> str:
        """Returns the pod's name as in a kubelet's messages."""
        metadata = self.pod["metadata"]
        return f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"

    # -- runs, logs and status

    def _run(self, status: Json, number: int) -> Run | None:
        spec = self._spec(status["name"])
        return self.run_of(spec, number) if spec else None

    def _log_of(self, spec: Json, number: int, state: Json, *, is_over: bool) -> Log:
        run = self.run_of(spec, number)
        began = self._at(spec["name"], "began", number, state["startedAt"])
        return Log(began, run.lines if run else (), is_over)

    def _at(self, container: str, what: str, number: int, written: str) -> datetime.datetime:
        return self.clock.at(self.pod, f"{container} {number} {what}", written)

    def _spec(self, container: str) -> Json | None:
        return _named(self.pod["spec"]["containers"], container)


def _named(items: Iterable[Json], name: str) -> Json | None:
    return next((item for item in items if item["name"] == name), None)


def _phase(statuses: Iterable[Json]) -> str:
    ended = [status["state"].get("terminated") for status in statuses]
    if not all(ended):
        return "Running"
    return "Failed" if any(state["exitCode"] for state in ended) else "Succeeded"


def _conditions(statuses: Iterable[Json], phase: str) -> list[Json]:
    unready = [status["name"] for status in statuses if not status["ready"]]
    reason = message = None
    if phase in ("Succeeded", "Failed"):
        reason = "PodCompleted" if phase == "Succeeded" else "PodFailed"
    elif unready:
        reason = "ContainersNotReady"
        message = f"containers with unready status: [{' '.join(unready)}]"
    return [
        {
            "type": kind,
            "status": "False" if unready else "True",
            # In a patch, None removes what a condition had before.
            "reason": reason,
            "message": message,
            "lastTransitionTime": now(),
        }
        for kind in ("Ready", "ContainersReady")
    ]


def _backoff(number: int) -> int:
    """Returns a kubelet's back-off in seconds before the next run."""
    doublings = min(number - 1, LONGEST_BACKOFF // BACKOFF)
    return min(LONGEST_BACKOFF, BACKOFF << doublings)


def _duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _since(moment: datetime.datetime) -> float:
    return (this_moment() - moment).total_seconds()


def _time(moment: str) -> datetime.datetime:
    return datetime.datetime.strptime(moment, MOMENT).replace(tzinfo=datetime.UTC)


def now() -> str:
    """Returns the current time as Kubernetes writes it."""
    return this_moment().strftime(MOMENT)


def this_moment() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
