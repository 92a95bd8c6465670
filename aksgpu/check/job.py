"""Runs the article's sample job, watches it, and takes it away again, whatever happens."""

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aksgpu.check import cluster_view
from aksgpu.check.api import refused
from aksgpu.check.outlook import Outlook
from aksgpu.outcome import Cause, Finding, StoppedError, stopped
from catalogue.device_plugin import GPU
from catalogue.images import CUDA_MISMATCH, SAMPLE_JOB
from catalogue.shapes import at, mapping, mappings
from engine.progress import Progress
from kube.client import FORBIDDEN, NOT_FOUND, ApiError, Client
from kube.objects import conditions, is_true

Json = Mapping[str, Any]

_NAMESPACE = "default"
_JOBS = f"/apis/batch/v1/namespaces/{_NAMESPACE}/jobs"
_PODS = f"/api/v1/namespaces/{_NAMESPACE}/pods"
_STEPS = 500
# A log that is longer than the sample's ever is tells nothing more.
_LOG_BYTES = "1000000"
_POLL_SECONDS = 0.5
_CLEAN_UP_SECONDS = 20.0
# How often to look what the pod waits for, while it has no place.
_SECONDS_BETWEEN_LOOKS = 5.0
# How much longer the cluster lets the job live than we do, should we be killed.
_GRACE_SECONDS = 120
# The kubelet has tried more than once then, or never will.
_HOPELESS = ("ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError")

_MATRIX = "https://docs.nvidia.com/deploy/cuda-compatibility/"

# TensorFlow goes on with more of the device's properties, in the same line or in the next.
_DEVICE = re.compile(r"Found device \d+ with properties:\s*name: (.+?)(?= major: |\s*$)", re.M)
_ACCURACY = re.compile(r"Accuracy at step (\d+): ([0-9.]+)")


@dataclass(frozen=True)
class JobLog:
    """What the job's log tells: the devices found, and the last step with its accuracy."""

    devices: tuple[str, ...]
    step: int | None
    accuracy: float | None
    is_cuda_mismatch: bool

    @classmethod
    def parse(cls, text: str) -> "JobLog":
        steps = _ACCURACY.findall(text)
        step, accuracy = steps[-1] if steps else (None, None)
        return cls(
            devices=tuple(_DEVICE.findall(text)),
            step=int(step) if step else None,
            accuracy=float(accuracy) if accuracy else None,
            is_cuda_mismatch=CUDA_MISMATCH in text,
        )


class SampleJob:
    """One run of the job, under a name of its own, and how it went."""

    def __init__(
        self,
        api: Client,
        tolerations: Sequence[Json],
        progress: Progress,
        look_around: Callable[[], Awaitable[Outlook]],
        settle: float,
    ) -> None:
        """`look_around` tells what it waits for; `settle`: how long that may be hopeless."""
        self._api = api
        self._tolerations = tolerations
        self._progress = progress
        self._look_around = look_around
        self._settle = settle
        # When to look around again, and since when there is no hope.
        self._next_look = 0.0
        self._hopeless_since: float | None = None
        self._waits_for = ""
        self._pod: Json | None = None
        self.name = f"aksgpu-check-{uuid.uuid4().hex[:8]}"
        self.stage = "created"
        self.node: str | None = None
        self.log = ""
        # What went wrong, if something did.
        self.finding: Finding | None = None
        # Said where the job could not be taken away.
        self.leftover: str | None = None

    @property
    def told(self) -> JobLog:
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
            self.leftover = await self._take_away()

    async def _create(self, seconds: float) -> None:
        try:
            await self._api.post(_JOBS, self._manifest(seconds))
        except ApiError as error:
            if error.status == FORBIDDEN:
                raise StoppedError(refused("the sample job cannot be made", error)) from None
            raise stopped(
                Cause.JOB_FAILED,
                f"the cluster does not take the sample job: {error}",
                "a policy or an admission webhook of the cluster may stand against it",
            ) from None
        self._progress.reached(f"The job {self.name} is created.")

    async def _watch(self) -> Finding | None:
        """Until the job is over; what was wrong with it."""
        while True:
            pods = await self._api.list(_PODS, labelSelector=f"app={self.name}")
            if pods:
                self._pod = pods[-1]
                if hopeless := await self._follow(self._pod):
                    return hopeless
                phase = at(self._pod, "status.phase")
                if phase == "Succeeded":
                    return self._of_success()
                reason = cluster_view.trouble(self._pod)
                if phase == "Failed" or reason.startswith(_HOPELESS):
                    return self._of_failure(reason)
            elif ended := await self._ended_without_pod():
                return ended
            await asyncio.sleep(_POLL_SECONDS)

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
        """Tells from time to time what a pod without a place waits for; whether it is in vain."""
        now = asyncio.get_running_loop().time()
        if now < self._next_look:
            return None
        seen = await self._look_around()
        self._next_look = now + min(_SECONDS_BETWEEN_LOOKS, self._settle)
        self._waits_for = seen.never or f"it waits for {seen.waits_for}"
        self._progress.update(self._waits_for)
        if not seen.never:
            self._hopeless_since = None
        elif self._hopeless_since is None:
            self._hopeless_since = now
        elif now - self._hopeless_since >= self._settle:
            return self._finding(
                Cause.POD_PENDING, f"gets no GPU: {seen.never}", "mend that, and check again"
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
            # Nothing there yet.
            return
        if (told := self.told).step is not None:
            self._progress.update(f"Step {told.step} of {_STEPS}, accuracy {told.accuracy}")

    async def _ended_without_pod(self) -> Finding | None:
        """Somebody may have taken the job away, or a quota may leave it without a pod."""
        try:
            job = await self._api.get(f"{_JOBS}/{self.name}")
        except ApiError as error:
            return self._of_failure(f"it is gone ({error})")
        if not is_true(job, "Failed"):
            return None
        return self._of_failure(str(conditions(job)["Failed"].get("message") or "Failed"))

    def _of_success(self) -> Finding | None:
        self.stage = "succeeded"
        if self.told.devices:
            return None
        what = "ended well, and its log names no GPU"
        return self._finding(Cause.JOB_FAILED, what, "it may have used the CPU: read its log")

    def _of_failure(self, reason: str) -> Finding:
        self.stage = "failed"
        if self.told.is_cuda_mismatch:
            return self._finding(
                Cause.CUDA_MISMATCH,
                f"failed: {CUDA_MISMATCH}",
                "consult NVIDIA's compatibility matrix for a driver that fits the image's "
                f"CUDA, {_MATRIX}; is there a driver at all (gpuStack: none leaves it out)?",
            )
        advice = "read its log, and the events of its node"
        return self._finding(Cause.JOB_FAILED, f"failed: {reason}", advice)

    def _too_late(self, seconds: float) -> Finding:
        if self._waits_for and not self.node:
            return self._finding(
                Cause.POD_PENDING,
                f"got no GPU in {seconds:.0f} s: {self._waits_for}",
                "wait until that is so, or give it longer with --timeout",
            )
        return self._finding(
            Cause.TIMEOUT,
            f"was not over in {seconds:.0f} s: it was {self.stage}",
            "give it longer with --timeout: to pull the image alone takes minutes",
        )

    def _finding(self, cause: Cause, what: str, advice: str) -> Finding:
        nodes = (self.node,) if self.node else ()
        return Finding(cause, f"the job {self.name} {what}", advice, nodes=nodes)

    async def _take_away(self) -> str | None:
        """Deletes the job with its pod and waits for that; what to do where it does not work."""
        self._progress.reached(f"Taking the job {self.name} away.")
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
            f"The job {self.name} could not be taken away ({reason}). "
            f"Do so: kubectl delete job -n {_NAMESPACE} {self.name}"
        )
        self._progress.reached(leftover)
        return leftover

    def _manifest(self, seconds: float) -> dict[str, Any]:
        container = {
            "name": "samples-tf-mnist-demo",
            "image": SAMPLE_JOB,
            "args": ["--max_steps", str(_STEPS)],
            "imagePullPolicy": "IfNotPresent",
            "resources": {"limits": {GPU: 1}},
        }
        labels = {"app": self.name}
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": self.name, "labels": labels},
            "spec": {
                # One try, whose pod and log stay to be read.
                "backoffLimit": 0,
                # Should we be killed before we clean up, the cluster does.
                "activeDeadlineSeconds": int(seconds) + _GRACE_SECONDS,
                "ttlSecondsAfterFinished": _GRACE_SECONDS,
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "containers": [container],
                        "restartPolicy": "Never",
                        "tolerations": list(self._tolerations),
                    },
                },
            },
        }


def _has_started(pod: Json) -> bool:
    statuses = mappings(at(pod, "status.containerStatuses"))
    return any({"running", "terminated"} & mapping(found.get("state")).keys() for found in statuses)
