"""The sample job on a cluster that a test plays, step by step."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from aksgpu.check.job import SampleJob
from aksgpu.check.outlook import Outlook
from aksgpu.outcome import Cause
from engine.progress import Progress
from kube.client import NOT_FOUND, ApiError, Client

WAITS = Outlook(waits_for="a new node of pool gpu", grows=("gpu",))
IN_VAIN = Outlook(never="no node offers a GPU; pool gpu has 1 of at most 1 nodes")
NO_PLACE: dict[str, Any] = {
    "spec": {},
    "status": {
        "phase": "Pending",
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": "0/7 nodes are available: 1 Insufficient nvidia.com/gpu, no new claims",
            }
        ],
    },
}
PULLING: dict[str, Any] = {"spec": {"nodeName": "n0"}, "status": {"phase": "Pending"}}
EVICTED: dict[str, Any] = {
    "spec": {"nodeName": "n0"},
    "status": {
        "phase": "Failed",
        "conditions": [{"type": "DisruptionTarget", "status": "True"}],
    },
}
# The pods of the job.
Look = dict[str, Any] | list[dict[str, Any]]
RUNNING: dict[str, Any] = {
    "spec": {"nodeName": "n0"},
    "status": {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]},
}
FAILED: dict[str, Any] = {"spec": {"nodeName": "n1"}, "status": {"phase": "Failed"}}


class Played(Client):
    """One look after the other at the pods of the job; after the last one its time is over."""

    def __init__(self, looks: Sequence[Look], job: dict[str, Any] | None) -> None:
        self._looks = iter(looks)
        self._job = job
        self.deleted = False

    async def request(self, method: str, path: str, *_: Any) -> bytes:
        if method == "DELETE":
            self.deleted = True
        if self.deleted:
            raise ApiError(NOT_FOUND, {})
        if method == "GET" and path.endswith("/log"):
            return b"Found device 0 with properties: name: T4"
        if method == "GET" and "/jobs/" in path and self._job:
            return json.dumps({"status": {"conditions": [self._job]}}).encode()
        if method == "GET" and path.endswith("/pods"):
            if (look := next(self._looks, None)) is None:
                raise TimeoutError
            pods = look if isinstance(look, list) else [look]
            return json.dumps(
                {"items": [{"metadata": {"name": "p"}, **pod} for pod in pods]}
            ).encode()
        return b"{}"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aksgpu.check.job._POLL_SECONDS", 0.0)


def run(
    looks: Sequence[Look],
    *,
    ended: dict[str, Any] | None = None,
    outlook: Outlook = WAITS,
    settle: float = 0.0,
) -> tuple[SampleJob, list[str]]:
    """The job at its end, and what was told of its progress."""
    messages: list[str] = []
    progress = Told(messages.append)

    async def look_around() -> Outlook:
        return outlook

    api = Played(looks, ended)
    job = SampleJob(api, {}, [], progress, look_around, settle)
    asyncio.run(job.run(600.0))
    assert api.deleted
    assert job.leftover is None
    return job, messages


class Told(Progress):
    """Progress of which each word counts."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__("", say)
        self._tell = say

    def update(self, detail: str) -> None:
        self._tell(detail)


def test_a_job_that_does_not_end_in_time_is_reported() -> None:
    job, _ = run([PULLING])
    assert job.finding is not None
    assert (job.finding.cause, job.finding.node) == (Cause.TIMEOUT, "n0")
    assert "did not end in 600 s: it was pulling" in job.finding.what


def test_the_reason_of_a_waiting_job_is_reported_briefly() -> None:
    """The scheduler's own words took three lines, with "no new claims" in them."""
    job, messages = run([NO_PLACE, NO_PLACE])
    assert messages.count("it waits for a new node of pool gpu") == 2
    assert "claims" not in "".join(messages)
    assert job.finding is not None
    assert job.finding.cause is Cause.POD_PENDING
    assert "got no GPU in 600 s: it waits for a new node of pool gpu" in job.finding.what


def test_a_job_that_can_never_run_is_not_waited_for() -> None:
    """What kept the new node from having GPUs was known, and 900 s were waited for it."""
    job, _ = run([NO_PLACE] * 3, outlook=IN_VAIN)
    assert job.finding is not None
    assert job.finding.cause is Cause.POD_PENDING
    assert f"gets no GPU: {IN_VAIN.never}" in job.finding.what


def test_a_job_that_seems_unschedulable_gets_time_to_settle() -> None:
    job, messages = run([NO_PLACE], outlook=IN_VAIN, settle=3600.0)
    assert IN_VAIN.never in messages
    assert job.finding is not None
    assert "got no GPU in 600 s" in job.finding.what


@pytest.mark.parametrize("in_both_orders", [False, True])
def test_an_evicted_pod_is_not_the_end_of_the_job(in_both_orders: bool) -> None:
    """On its last node before the autoscaler took that away, the job "failed: backoff limit"."""
    pods = [EVICTED, PULLING]
    job, messages = run([PULLING, EVICTED, pods[::-1] if in_both_orders else pods, FAILED])
    assert messages.count("It was evicted from n0, and starts again.") == 1
    assert job.finding is not None
    assert (job.finding.cause, job.finding.node) == (Cause.JOB_FAILED, "n1")


@pytest.mark.parametrize("how", ["Complete", "Failed"])
def test_a_job_ends_without_its_pod(how: str) -> None:
    """A pod went with its node, right after its end; the check waited 900 s for another one."""
    condition = {"type": how, "status": "True", "message": "why"}
    job, _ = run([RUNNING, []], ended=condition)
    if how == "Complete":
        assert (job.stage, job.finding) == ("succeeded", None)
    else:
        assert job.finding is not None
        assert job.finding.what.endswith("failed: why")
