"""Runs a sample job, watches it, and always deletes it afterwards."""

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from aksgpu.check import cluster_view
from aksgpu.check.api import refused
from aksgpu.check.outlook import Outlook
from aksgpu.outcome import Cause, Finding, StoppedError, stopped
from catalogue.images import CUDA_MISMATCH, SAMPLE_JOB, VECTOR_ADD
from catalogue.shapes import at, mapping, mappings
from engine.progress import Progress
from kube.client import FORBIDDEN, NOT_FOUND, ApiError, Client
from kube.objects import conditions, is_true

Json = Mapping[str, Any]

_NAMESPACE = "default"
_JOBS = f"/apis/batch/v1/namespaces/{_NAMESPACE}/jobs"
_PODS = f"/api/v1/namespaces/{_NAMESPACE}/pods"
_STEPS = 500
# Longer than any log of the sample.
_LOG_BYTES = "1000000"
_POLL_SECONDS = 0.5
_CLEAN_UP_SECONDS = 20.0
# How often to look what a pending pod waits for.
_SECONDS_BETWEEN_LOOKS = 5.0
# How much longer the cluster keeps the job, if this process is killed before it deletes it.
_GRACE_SECONDS = 120
# The condition of pods that the cluster ends, not themselves.
_EVICTED = "DisruptionTarget"
# The kubelet has failed more than once, or does not try at all.
_HOPELESS = ("ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError")

_MATRIX = "https://docs.nvidia.com/deploy/cuda-compatibility/"

# TensorFlow prints more properties of the device, on the same line or on the next.
_DEVICE = re.compile(r"Found device \d+ with properties:\s*name: (.+?)(?= major: |\s*$)", re.M)
_ACCURACY = re.compile(r"Accuracy at step ([0-9]{1,9}): ([0-9]*\.?[0-9]+)(?!\.?[0-9])")


# What NVIDIA's sample prints when the GPU's result is right.
_PASSED = "Test PASSED"


@dataclass(frozen=True)
class Sample:
    """A container that uses a GPU and ends."""

    name: str
    image: str
    args: tuple[str, ...] = ()


SAMPLES: Mapping[str, Sample] = MappingProxyType(
    {
        "article": Sample("samples-tf-mnist-demo", SAMPLE_JOB, ("--max_steps", str(_STEPS))),
        "vectoradd": Sample("vectoradd", VECTOR_ADD),
    }
)


@dataclass(frozen=True)
class JobLog:
    """The devices in the job's log, and the last step with its accuracy."""

    devices: tuple[str, ...]
    step: int | None
    accuracy: float | None
    is_cuda_mismatch: bool
    # Whether NVIDIA's sample has compared the GPU's result with the CPU's.
    has_passed: bool

    @classmethod
    def parse(cls, text: str) -> "JobLog":
        steps = _ACCURACY.findall(text)
        step, accuracy = steps[-1] if steps else (None, None)
        return cls(
            devices=tuple(_DEVICE.findall(text)),
            step=int(step) if step else None,
            accuracy=float(accuracy) if accuracy else None,
            is_cuda_mismatch=CUDA_MISMATCH in text,
            has_passed=_PASSED in text,
        )

    @property
    def has_used_gpu(self) -> bool:
        return bool(self.devices) or self.has_passed


class SampleJob:
    """One run of the job, under a unique name, and its result."""

    def __init__(
        self,
        api: Client,
        container: Json,
        tolerations: Sequence[Json],
        progress: Progress,
        look_around: Callable[[], Awaitable[Outlook]],
        settle: float,
    ) -> None:
        """`container` is a sample's.

        `look_around` returns the job's outlook; `settle`: how long it may be hopeless.
        """
        self._api = api
        self._container = container
        self._tolerations = tolerations
        self._progress = progress
        self._look_around = look_around
        self._settle = settle
        # When to look around again, and since when the job is hopeless.
        self._next_look = 0.0
        self._hopeless_since: float | None = None
        self._waits_for = ""
        self.name = f"aksgpu-check-{uuid.uuid4().hex[:8]}"
        self.stage = "created"
        self.node: str | None = None
        self.log = ""
        # Why the job failed, if it did.
        self.finding: Finding | None = None
        # What to do if the job could not be deleted.
        self.leftover: str | None = None

    @property
    def parsed_log(self) -> JobLog:
        return JobLog.parse(self.log)

    async def run(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._create(seconds)
                self.finding = await self._watch()
        except TimeoutError:
            self.finding = self._too_late(seconds)
        finally:
            # Also when this is cancelled, as on Ctrl-C.
            self.leftover = await self._delete()

    async def _create(self, seconds: float) -> None:
        try:
            await self._api.post(_JOBS, self._manifest(seconds))
        except ApiError as error:
            if error.status == FORBIDDEN:
                raise StoppedError(refused("the sample job cannot be created", error)) from None
            raise stopped(
                Cause.JOB_FAILED,
                f"the cluster does not accept the sample job: {error}",
                "check whether a policy or an admission webhook of the cluster denies it",
            ) from None
        self._progress.reached(f"The job {self.name} is created.")

    async def _watch(self) -> Finding | None:
        """Waits until the job ends; why it failed, if it did."""
        while True:
            pods = await self._api.list(_PODS, labelSelector=f"app={self.name}")
            pod = max(pods, key=_recency, default=None)
            if end := await (self._end_without_pod() if pod is None else self._end_of(pod)):
                return end.finding
            await asyncio.sleep(_POLL_SECONDS)

    async def _end_of(self, pod: Json) -> "_End | None":
        """How the job ends with its last pod; None if it goes on."""
        if _is_evicted(pod):
            node = at(pod, "spec.nodeName")
            self._reach("evicted", f"It was evicted from {node}, and starts again.")
            return None
        if hopeless := await self._follow(pod):
            return _End(hopeless)
        phase, reason = at(pod, "status.phase"), cluster_view.trouble(pod)
        if phase == "Succeeded":
            return _End(self._of_success())
        is_over = phase == "Failed" or reason.startswith(_HOPELESS)
        return _End(self._of_failure(reason)) if is_over else None

    async def _follow(self, pod: Json) -> Finding | None:
        """Tells how far the pod has got, or why it gets no place."""
        node = at(pod, "spec.nodeName")
        if node is None:
            return await self._waiting()
        if self.node != node:
            self.node = str(node)
            self._reach("placed", f"It is placed on {node}.")
        if _has_started(pod):
            self._reach("running", "Its image is pulled; it is running.")
            await self._read_log(pod)
        else:
            self.stage = "pulling"
            self._progress.update(f"The image is being pulled: {cluster_view.trouble(pod)}")
        return None

    async def _waiting(self) -> Finding | None:
        """Shows from time to time what a pending pod waits for; a finding if it waits in vain."""
        now = asyncio.get_running_loop().time()
        if now < self._next_look:
            return None
        outlook = await self._look_around()
        self._next_look = now + min(_SECONDS_BETWEEN_LOOKS, self._settle)
        self._waits_for = outlook.never or f"it waits for {outlook.waits_for}"
        self._progress.update(self._waits_for)
        if not outlook.never:
            self._hopeless_since = None
        elif self._hopeless_since is None:
            self._hopeless_since = now
        elif now - self._hopeless_since >= self._settle:
            return self._finding(
                Cause.POD_PENDING, f"gets no GPU: {outlook.never}", "correct that, and check again"
            )
        return None

    def _reach(self, stage: str, line: str) -> None:
        if self.stage != stage:
            self.stage = stage
            self._progress.reached(line)

    async def _read_log(self, pod: Json) -> None:
        try:
            path = f"{_PODS}/{at(pod, 'metadata.name')}/log"
            self.log = await self._api.text(path, limitBytes=_LOG_BYTES)
        except ApiError:
            # There is no log yet.
            return
        if (parsed := self.parsed_log).step is not None:
            self._progress.update(f"Step {parsed.step} of {_STEPS}, accuracy {parsed.accuracy}")

    async def _end_without_pod(self) -> "_End | None":
        """The pod may have gone with its node, or not been created because of a quota."""
        try:
            job = await self._api.get(f"{_JOBS}/{self.name}")
        except ApiError as error:
            return _End(self._of_failure(f"it is gone ({error})"))
        if is_true(job, "Complete"):
            return _End(self._of_success())
        if is_true(job, "Failed"):
            reason = conditions(job)["Failed"].get("message") or "Failed"
            return _End(self._of_failure(str(reason)))
        return None

    def _of_success(self) -> Finding | None:
        self.stage = "succeeded"
        if self.parsed_log.has_used_gpu:
            return None
        what = "succeeded, but its log shows no GPU"
        return self._finding(Cause.JOB_FAILED, what, "it may have used the CPU: read its log")

    def _of_failure(self, reason: str) -> Finding:
        self.stage = "failed"
        if self.parsed_log.is_cuda_mismatch:
            return self._finding(
                Cause.CUDA_MISMATCH,
                f"failed: {CUDA_MISMATCH}",
                "find a driver for the image's CUDA version in NVIDIA's compatibility matrix, "
                f"{_MATRIX}; with gpuStack: none there is no driver at all",
            )
        advice = "read its log, and the events of its node"
        return self._finding(Cause.JOB_FAILED, f"failed: {reason}", advice)

    def _too_late(self, seconds: float) -> Finding:
        if self._waits_for and not self.node:
            return self._finding(
                Cause.POD_PENDING,
                f"got no GPU in {seconds:.0f} s: {self._waits_for}",
                "wait for that, or raise --timeout",
            )
        return self._finding(
            Cause.TIMEOUT,
            f"did not end in {seconds:.0f} s: it was {self.stage}",
            "raise --timeout: pulling the image takes minutes",
        )

    def _finding(self, cause: Cause, what: str, advice: str) -> Finding:
        nodes = (self.node,) if self.node else ()
        return Finding(cause, f"the job {self.name} {what}", advice, nodes=nodes)

    async def _delete(self) -> str | None:
        """Deletes the job with its pod, and waits; what to do if that fails."""
        self._progress.reached(f"Deleting the job {self.name}.")
        try:
            async with asyncio.timeout(_CLEAN_UP_SECONDS):
                await self._api.delete(f"{_JOBS}/{self.name}", propagationPolicy="Foreground")
                while True:
                    await self._api.get(f"{_JOBS}/{self.name}")
                    await asyncio.sleep(_POLL_SECONDS)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return None
            reason = str(error)
        except StoppedError as error:
            reason = str(error)
        except TimeoutError:
            reason = f"it is still there after {_CLEAN_UP_SECONDS:.0f} s"
        leftover = (
            f"The job {self.name} could not be deleted ({reason}). "
            f"Delete it: kubectl delete job -n {_NAMESPACE} {self.name}"
        )
        self._progress.reached(leftover)
        return leftover

    def _manifest(self, seconds: float) -> dict[str, Any]:
        labels = {"app": self.name}
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": self.name, "labels": labels},
            "spec": {
                # One attempt: its pod and log can be read afterwards.
                "backoffLimit": 0,
                # A pod whose node goes, to an upgrade, the autoscaler or a price, is no attempt.
                "podFailurePolicy": {
                    "rules": [{"action": "Ignore", "onPodConditions": [{"type": _EVICTED}]}]
                },
                # The cluster deletes the job if this process is killed first.
                "activeDeadlineSeconds": int(seconds) + _GRACE_SECONDS,
                "ttlSecondsAfterFinished": _GRACE_SECONDS,
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "containers": [self._container],
                        "restartPolicy": "Never",
                        "tolerations": list(self._tolerations),
                    },
                },
            },
        }


@dataclass(frozen=True)
class _End:
    """The end of a job: why it failed, if it did."""

    finding: Finding | None


def container_of(sample: str, resource: str) -> Json:
    """The sample's container, which requests one unit of the GPU resource."""
    chosen = SAMPLES[sample]
    container = {
        "name": chosen.name,
        "image": chosen.image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {"limits": {resource: 1}},
    }
    return {**container, "args": [*chosen.args]} if chosen.args else container


def _recency(pod: Json) -> tuple[bool, str]:
    """Orders the pods of a job: the last one is the one that counts."""
    return not _is_evicted(pod), str(at(pod, "metadata.creationTimestamp"))


def _is_evicted(pod: Json) -> bool:
    """Whether a pod ended with its node's end, or another pod took its place."""
    return is_true(pod, _EVICTED) and at(pod, "status.phase") != "Succeeded"


def _has_started(pod: Json) -> bool:
    statuses = mappings(at(pod, "status.containerStatuses"))
    states = (mapping(container.get("state")) for container in statuses)
    return any({"running", "terminated"} & state.keys() for state in states)
