"""How containers begin, end and begin again, and what of that their pod shows."""

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehearsal.control_planes import containers
from rehearsal.control_planes.containers import Clock, Life, Line, Run, RunOf

Json = dict[str, Any]

FOR_EVER = Run([Line(0.0, "runs")])
FAILS = Run([Line(0.0, "starting"), Line(0.0, "no GPU here")], 1)
FAILS_LATER = Run([Line(0.0, "starting"), Line(5.0, "too late")], 1)
SUCCEEDS = Run([Line(0.0, "done")], 0)


class Time:
    """A clock that the tests move on."""

    moment = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)


@pytest.fixture(autouse=True)
def _time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "this_moment", lambda: Time.moment)


def pass_seconds(seconds: float) -> None:
    Time.moment += datetime.timedelta(seconds=seconds)


def pod(*names: str, is_placed: bool = True, **spec: Any) -> Json:
    """A pod whose containers have not begun yet."""
    conditions = [{"type": "PodReadyToStartContainers", "status": "True"}] if is_placed else []
    return {
        "metadata": {"name": "p", "namespace": "n", "uid": "u"},
        "spec": {"containers": [{"name": name, "image": "i"} for name in names], **spec},
        "status": {
            "phase": "Pending",
            "conditions": conditions,
            "containerStatuses": [
                {
                    "name": name,
                    "image": "i",
                    "imageID": "",
                    "ready": False,
                    "started": False,
                    "restartCount": 0,
                    "state": {"waiting": {"reason": "ContainerCreating"}},
                }
                for name in names
            ],
        },
    }


class Lived:
    """A pod, moved on step by step as the server does it."""

    def __init__(self, start: Json, run_of: RunOf) -> None:
        self.pod = start
        self._run_of = run_of
        self._clock = Clock()
        # All that has ever been seen of readiness.
        self.readiness: list[str] = []
        self.warnings: list[tuple[str, str]] = []

    @property
    def _life(self) -> Life:
        return Life(self.pod, self._run_of, self._clock, time_scale=1.0)

    def step(self) -> bool:
        change = self._life.change()
        if change is None:
            return False
        status = self.pod["status"] | change.patch["status"]
        kept = {
            condition_found["type"]: condition_found
            for condition_found in self.pod["status"]["conditions"]
        }
        kept |= {
            condition_found["type"]: condition_found for condition_found in status["conditions"]
        }
        self.pod = self.pod | {"status": status | {"conditions": list(kept.values())}}
        self.readiness.append(kept["Ready"]["status"])
        self.warnings += change.warnings
        return True

    def live(self, seconds: int) -> None:
        for _ in range(seconds * 10):
            self.step()
            pass_seconds(0.1)

    @property
    def phase(self) -> str:
        phase: str = self.pod["status"]["phase"]
        return phase

    def status(self, at: int = 0) -> Json:
        status: Json = self.pod["status"]["containerStatuses"][at]
        return status

    def condition(self, kind: str) -> Json:
        conditions: list[Json] = self.pod["status"]["conditions"]
        return next(
            condition_found for condition_found in conditions if condition_found["type"] == kind
        )

    def log(self) -> list[str] | None:
        log = self._life.log("c")
        return None if log is None else [line.text for line in log.lines]


def always(run: Run | None) -> RunOf:
    return lambda _container, _number: run


def test_a_container_that_fails_at_once_backs_off_as_with_a_kubelet() -> None:
    lived = Lived(pod("c"), always(FAILS))
    assert lived.step()
    assert lived.phase == "Running"
    status = lived.status()
    assert status["state"]["waiting"] == {
        "reason": "CrashLoopBackOff",
        "message": "back-off 10s restarting failed container=c pod=p_n(u)",
    }
    assert status["restartCount"] == 1
    assert (status["ready"], status["started"]) == (False, False)
    ended = status["lastState"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (1, "Error")
    ready = lived.condition("Ready")
    assert (ready["status"], ready["reason"]) == ("False", "ContainersNotReady")
    assert ready["message"] == "containers with unready status: [c]"
    assert lived.condition("ContainersReady")["status"] == "False"
    assert lived.warnings == [("BackOff", "Back-off restarting failed container c in pod p_n(u)")]
    assert not lived.step()
    lived.live(200)
    assert set(lived.readiness) == {"False"}
    # One warning is enough.
    assert len(lived.warnings) == 1


def test_each_back_off_doubles_up_to_five_minutes() -> None:
    lived = Lived(pod("c"), always(FAILS))
    waits = []
    for _ in range(8):
        assert lived.step()
        message = lived.status()["state"]["waiting"]["message"]
        waits.append(message.split()[1])
        began = Time.moment
        while lived._life.change() is None:
            pass_seconds(0.5)
        # The rehearsal waits a tenth.
        waited = (Time.moment - began).total_seconds()
        assert waited == pytest.approx(min(30, 2 ** (len(waits) - 1)), abs=0.5)
    assert waits == ["10s", "20s", "40s", "1m20s", "2m40s", "5m0s", "5m0s", "5m0s"]
    assert lived.status()["restartCount"] == 8


def test_a_container_runs_once_the_cause_of_its_failure_is_gone() -> None:
    lived = Lived(pod("c"), lambda _, number: FAILS if number < 3 else FOR_EVER)
    lived.live(2)
    assert lived.log() == ["starting", "no GPU here"]
    lived.live(10)
    status = lived.status()
    assert (status["ready"], status["restartCount"]) == (True, 3)
    assert "running" in status["state"]
    assert status["lastState"]["terminated"]["exitCode"] == 1
    assert lived.condition("Ready")["status"] == "True"
    assert lived.log() == ["runs"]


def test_an_unscheduled_pod_has_no_log() -> None:
    lived = Lived(pod("c", is_placed=False), always(FOR_EVER))
    assert not lived.step()
    assert lived.log() is None


def test_a_container_that_fails_later_is_ready_before() -> None:
    lived = Lived(pod("c"), always(FAILS_LATER))
    lived.step()
    assert lived.condition("Ready")["status"] == "True"
    lived.live(4)
    lived.live(2)
    # The first time it is started again at once.
    assert lived.status()["restartCount"] == 1
    assert "running" in lived.status()["state"]
    lived.live(5)
    assert lived.status()["state"]["waiting"]["message"].startswith("back-off 10s")


@pytest.mark.parametrize(
    ("policy", "run", "phase", "reason"),
    [
        ("Never", FAILS, "Failed", "PodFailed"),
        ("Never", SUCCEEDS, "Succeeded", "PodCompleted"),
        ("OnFailure", SUCCEEDS, "Succeeded", "PodCompleted"),
        ("OnFailure", FAILS, "Running", "ContainersNotReady"),
        ("Always", SUCCEEDS, "Running", "ContainersNotReady"),
    ],
)
def test_the_restart_policy_decides_about_restarts(
    policy: str, run: Run, phase: str, reason: str
) -> None:
    lived = Lived(pod("c", restartPolicy=policy), always(run))
    lived.step()
    assert lived.phase == phase
    assert lived.condition("Ready")["reason"] == reason
    assert ("waiting" in lived.status()["state"]) == (phase == "Running")


def test_a_pod_is_ready_when_all_of_its_containers_are() -> None:
    """It was ready when the one container that the server looks after was."""
    lived = Lived(pod("a", "c"), lambda spec, _: FAILS if spec["name"] == "c" else None)
    lived.live(60)
    assert "running" in lived.status(0)["state"]
    assert lived.status(0)["restartCount"] == 0
    assert lived.condition("Ready")["message"] == "containers with unready status: [c]"
    assert set(lived.readiness) == {"False"}
    assert lived.phase == "Running"


def test_a_pod_that_is_being_deleted_is_not_changed() -> None:
    going = pod("c")
    going["metadata"]["deletionTimestamp"] = "2026-11-01T00:00:00Z"
    assert not Lived(going, always(FAILS)).step()


def test_a_restarted_rehearsal_continues_from_the_pods_status() -> None:
    """The rehearsal was started again, and remembers no beginning."""
    lived = Lived(pod("c"), always(FAILS_LATER))
    lived.step()
    pass_seconds(60)
    assert Lived(lived.pod, always(FAILS_LATER)).step()


@given(
    ends=st.lists(st.sampled_from([0, 1, None]), max_size=8),
    policy=st.sampled_from(["Always", "OnFailure", "Never"]),
)
def test_the_status_of_a_pod_agrees_with_its_containers(
    ends: list[int | None], policy: str
) -> None:
    def run_of(_: Json, number: int) -> Run:
        return Run([Line(0.0, str(number))], ends[number]) if number < len(ends) else FOR_EVER

    lived = Lived(pod("c", restartPolicy=policy), run_of)
    restarts = 0
    for _ in range(80):
        lived.step()
        status = lived.status()
        assert status["restartCount"] >= restarts
        restarts = status["restartCount"]
        is_running = "running" in status["state"]
        assert status["ready"] is is_running
        assert (lived.condition("Ready")["status"] == "True") is is_running
        assert (lived.phase in ("Failed", "Succeeded")) == ("terminated" in status["state"])
        # Nobody sees a run that ends as it begins.
        assert not is_running or restarts >= len(ends) or ends[restarts] is None
        assert lived.log() == [*(line.text for line in run_of({}, restarts).lines)]
        pass_seconds(5)
