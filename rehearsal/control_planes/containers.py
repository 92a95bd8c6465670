"""What becomes of containers in time: they begin, end, and begin again; and their logs."""

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kube.objects import is_true

Json = dict[str, Any]

# A kubelet's waits before it starts a container again, in seconds: doubled up to the longest. The
# rehearsal waits a tenth of them, at time scale 1.
BACKOFF, LONGEST_BACKOFF = 10, 300
REHEARSED_PART = 0.1
# Who sees a container run so soon after its written beginning has seen it begin.
FRESH_SECONDS = 1.5
MOMENT = "%Y-%m-%dT%H:%M:%SZ"
# The condition of a pod that has its place on the node, and lacks nothing but its containers.
SANDBOX_READY = "PodReadyToStartContainers"


@dataclass(frozen=True)
class Line:
    """One line of a log, and when it is written: in seconds since the container began."""

    after: float
    text: str


@dataclass(frozen=True)
class Log:
    """What a container says: `began` is when it did, `is_over` that no more will come."""

    began: datetime.datetime
    lines: Sequence[Line]
    is_over: bool


@dataclass(frozen=True)
class Run:
    """One run of a container, from its beginning on."""

    lines: Sequence[Line]
    # Without one it runs until it is taken away.
    exit_code: int | None = None

    @property
    def seconds(self) -> float:
        return self.lines[-1].after if self.lines else 0.0

    @property
    def ends_at_once(self) -> bool:
        return self.exit_code is not None and not self.seconds


# How the run of a container goes, by its number: 0 for the first. None where nobody says.
RunOf = Callable[[Json, int], Run | None]


@dataclass(frozen=True)
class Change:
    """What has become of a pod: the patch of its status, and the warnings that go with it."""

    patch: Json
    # Reason and message.
    warnings: Sequence[tuple[str, str]] = ()


class Clock:
    """When containers began and ended, more exactly than Kubernetes writes it: in whole seconds.

    At a hundred times its pace a run is over within such a second.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], datetime.datetime] = {}

    def at(self, pod: Json, what: str, written: str) -> datetime.datetime:
        """The moment at which something was first seen, if that was when it happened."""
        present, moment = this_moment(), _time(written)
        is_fresh = (present - moment).total_seconds() < FRESH_SECONDS
        key = (pod["metadata"]["uid"], what)
        seen = self._seen.get(key, present if is_fresh else moment)
        # A clock that is put back does not make it wait.
        self._seen[key] = min(seen, present)
        return self._seen[key]

    def forget(self, pods: Iterable[Json]) -> None:
        """Forgets all but these pods."""
        known = {pod["metadata"]["uid"] for pod in pods}
        self._seen = {key: seen for key, seen in self._seen.items() if key[0] in known}


@dataclass(frozen=True)
class Life:
    """The containers of one pod in time."""

    pod: Json
    run_of: RunOf
    clock: Clock
    time_scale: float

    def change(self) -> Change | None:
        """What time has done to the pod; None while nothing is due."""
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
            ("BackOff", f"Back-off restarting failed container {found['name']} in pod {self._name}")
            for found in after
            if "waiting" in found["state"] and found["restartCount"] == 1
        ]
        return Change({"status": status}, warnings)

    def log(self, container: str, *, previous: bool = False) -> Log | None:
        """The log of a container's last run, or the one before; None if there is none."""
        spec = self._spec(container)
        status = _named(self.pod["status"].get("containerStatuses", ()), container)
        if spec is None or status is None:
            return None
        state, number = status["state"], status["restartCount"]
        last = status.get("lastState", {}).get("terminated")
        current = state.get("running") or state.get("terminated")
        if current and not previous:
            return self._log_of(spec, number, current, is_over="terminated" in state)
        if last is None:
            return None
        # While it waits for its next run, its number is still that of the one that ended.
        ended = number if "waiting" in state else number - 1
        return self._log_of(spec, ended, last, is_over=True)

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
                wait = _wait(number) * REHEARSED_PART * self.time_scale
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
        # It is never seen to run: whoever counts on that would be misled.
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
            f"back-off {_written(_wait(number))} restarting failed container={status['name']} "
            f"pod={self._name}"
        )
        return ended | {"state": {"waiting": {"reason": "CrashLoopBackOff", "message": message}}}

    def _is_started_again(self, run: Run) -> bool:
        policy = self.pod["spec"].get("restartPolicy", "Always")
        return policy == "Always" or (policy == "OnFailure" and run.exit_code != 0)

    @property
    def _name(self) -> str:
        """The pod's name, as a kubelet's messages have it."""
        metadata = self.pod["metadata"]
        return f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"

    # -- what is known of it

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


def _named(found: Iterable[Json], name: str) -> Json | None:
    return next((one for one in found if one["name"] == name), None)


def _phase(statuses: Iterable[Json]) -> str:
    ended = [status["state"].get("terminated") for status in statuses]
    if not all(ended):
        return "Running"
    return "Failed" if any(found["exitCode"] for found in ended) else "Succeeded"


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
            # None takes away what a condition had before.
            "reason": reason,
            "message": message,
            "lastTransitionTime": now(),
        }
        for kind in ("Ready", "ContainersReady")
    ]


def _wait(number: int) -> int:
    """A kubelet's wait in seconds before the run after this one."""
    doublings = min(number - 1, LONGEST_BACKOFF // BACKOFF)
    return min(LONGEST_BACKOFF, BACKOFF << doublings)


def _written(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _since(moment: datetime.datetime) -> float:
    return (this_moment() - moment).total_seconds()


def _time(moment: str) -> datetime.datetime:
    return datetime.datetime.strptime(moment, MOMENT).replace(tzinfo=datetime.UTC)


def now() -> str:
    """This moment, as Kubernetes writes it."""
    return this_moment().strftime(MOMENT)


def this_moment() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
