"""The sample job on a cluster that a test plays, step by step."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from aks_catalogue.images import CUDA_MISMATCH
from aks_catalogue.sample_pod import sample_pod
from aksgpu.check.job import SampleJob
from aksgpu.outcome import Cause, Finding
from kube_client.client import NOT_FOUND, ApiError, Client
from machine_setup.progress import Progress

NO_GPU = "0/7 nodes are available: 1 Insufficient nvidia.com/gpu"
NO_PLACE: dict[str, Any] = {
    "spec": {},
    "status": {
        "phase": "Pending",
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": NO_GPU,
            }
        ],
    },
}
PLACED: dict[str, Any] = {"spec": {"nodeName": "n0"}, "status": {"phase": "Pending"}}
SUCCEEDED: dict[str, Any] = {"spec": {"nodeName": "n0"}, "status": {"phase": "Succeeded"}}
KILLED = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
FAILED: dict[str, Any] = {
    "spec": {"nodeName": "n0"},
    "status": {"phase": "Failed", "containerStatuses": [{"state": KILLED}]},
}
NO_IMAGE = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}
UNPULLED: dict[str, Any] = {
    "spec": {"nodeName": "n0"},
    "status": {"phase": "Pending", "containerStatuses": [{"state": NO_IMAGE}]},
}
GONE: dict[str, Any] = {}


class Played(Client):
    """One look after the other at the pod of the job; after the last one its time is over."""

    def __init__(self, looks: Sequence[dict[str, Any]], log: str, *, keeps_pods: bool) -> None:
        self._looks = iter(looks)
        self._log = log
        self._keeps_pods = keeps_pods
        self.created: list[dict[str, Any]] = []
        self.deleted = False

    async def request(self, method: str, path: str, _: Any, body: Any = None, *_more: Any) -> bytes:
        if method == "POST":
            self.created.append(body)
            return b"{}"
        if method == "DELETE":
            self.deleted = True
            return b"{}"
        assert path.split("/")[6] == self.created[0]["metadata"]["name"]
        if path.endswith("/log"):
            return self._log.encode()
        if self.deleted:
            if self._keeps_pods:
                raise TimeoutError
            raise ApiError(NOT_FOUND, {})
        if (look := next(self._looks, None)) is None:
            raise TimeoutError
        if look is GONE:
            raise ApiError(NOT_FOUND, {})
        return json.dumps(look).encode()


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aksgpu.check.job._POLL_SECONDS", 0.0)


class Told(Progress):
    """Progress of which each word counts."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__("", say)
        self._tell = say

    def update(self, detail: str) -> None:
        self._tell(detail)


def run(
    *looks: dict[str, Any], log: str = "", keeps_pods: bool = False
) -> tuple[SampleJob, Played, list[str]]:
    """The job at its end, the cluster, and what was told of the job's progress."""
    messages: list[str] = []
    cluster = Played(looks, log, keeps_pods=keeps_pods)
    job = SampleJob(cluster, sample_pod(None, {"a": "b"}, []), Told(messages.append))
    asyncio.run(job.run(600.0))
    assert cluster.deleted
    return job, cluster, messages


def failed(*looks: dict[str, Any], log: str = "") -> Finding:
    job, _, _ = run(*looks, log=log)
    assert not job.has_succeeded
    assert job.leftover is None
    assert job.finding is not None
    return job.finding


def test_the_pools_own_pod_runs_under_a_name_of_its_own() -> None:
    job, cluster, messages = run(NO_PLACE, PLACED, SUCCEEDED, log="Test PASSED")
    assert (job.has_succeeded, job.finding, job.node) == (True, None, "n0")
    assert job.log == "Test PASSED"
    [pod] = cluster.created
    spec = {**sample_pod(None, {"a": "b"}, [])["spec"], "activeDeadlineSeconds": 720}
    assert (pod["metadata"], pod["spec"]) == ({"name": job.name}, spec)
    assert messages == [
        f"The job {job.name} is created.",
        NO_GPU,
        "It is placed on n0.",
        "Pending",
        "Succeeded",
        f"Deleting the job {job.name}.",
    ]


def test_a_job_that_does_not_end_in_time_is_reported() -> None:
    finding = failed(PLACED)
    assert (finding.cause, finding.node) == (Cause.TIMEOUT, "n0")
    assert "did not end in 600 s: Pending" in finding.what


def test_a_job_without_a_gpu_is_reported_in_the_schedulers_words() -> None:
    finding = failed(NO_PLACE)
    assert finding.cause is Cause.POD_PENDING
    assert finding.what.endswith(f"got no GPU in 600 s: {NO_GPU}")


@pytest.mark.parametrize(
    ("look", "reason"),
    [
        (FAILED, "failed: OOMKilled: exit code 137"),
        # It would stay so until the end of --timeout.
        (UNPULLED, "failed: ImagePullBackOff: Back-off pulling image"),
        (GONE, "is gone: its node went away, or another client deleted it"),
    ],
)
def test_a_failed_job_is_reported_with_the_reason(look: dict[str, Any], reason: str) -> None:
    finding = failed(look)
    assert finding.cause is Cause.JOB_FAILED
    assert finding.what.endswith(reason)


def test_a_driver_that_does_not_fit_is_reported() -> None:
    finding = failed(FAILED, log=f"Failed to allocate device vector A ({CUDA_MISMATCH})!")
    assert finding.cause is Cause.CUDA_MISMATCH


def test_a_pod_that_stays_is_reported() -> None:
    job, _, messages = run(SUCCEEDED, keeps_pods=True)
    assert job.leftover == messages[-1]
    assert job.leftover.endswith(f"kubectl delete pod -n default {job.name}")
