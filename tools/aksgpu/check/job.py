"""Runs a pool's own sample pod, waits for its end, and always deletes it."""

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aks_catalogue.images import CUDA_MISMATCH
from aks_catalogue.sample_pod import sample_pod
from aks_catalogue.shapes import at
from aksgpu.check import plugin_scheduling
from aksgpu.check.api import refused
from aksgpu.check.cluster_view import ClusterView, Node, trouble, unplaced
from aksgpu.check.expected import Expected
from aksgpu.check.judge import TRANSIENT_TAINTS
from aksgpu.outcome import Cause, Finding, StoppedError, stopped
from kube_client.client import FORBIDDEN, NOT_FOUND, ApiError, Client
from machine_setup.progress import Progress

Json = Mapping[str, Any]

_PODS = "/api/v1/namespaces/default/pods"
_POLL_SECONDS = 0.5
_CLEAN_UP_SECONDS = 20.0
_LOG_LINES = "12"
# If this process is killed, the cluster ends the pod so much later.
_GRACE_SECONDS = 120
# The kubelet has failed more than once, or does not try at all.
_HOPELESS = ("ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError")
_MATRIX = "https://docs.nvidia.com/deploy/cuda-compatibility/"


@dataclass(frozen=True)
class Place:
    """Where a GPU can be had."""

    # The pod that gets it.
    pod: Json
    # The pool to which AKS may add a node for it, which costs; else empty.
    grows: str = ""


def place(view: ClusterView, expected: Expected) -> Place | None:
    """A free GPU, or a pool that AKS scales up for one; None if there is neither."""
    offering = [node for node in view.nodes if node.takes_pods and node.allocatable]
    for node in offering:
        if view.used(node) < node.allocatable:
            return Place(pod_for(node, expected))
    for pool in (expected.pools or {}).values():
        nodes = [node for node in view.nodes if node.pool == pool.name]
        # If a node of the pool offers no GPU, another one would not either.
        has_gpus = all(node.allocatable for node in nodes)
        if (
            has_gpus
            and pool.can_grow(len(nodes))
            and plugin_scheduling.to_pool(view, pool, expected) is None
        ):
            return Place(pool.pod, grows=pool.name)
    for node in offering:
        if expected.pool(node.pool) is None:
            # Its GPUs are in use. Nothing says whether a pool that the stack does not have can
            # grow.
            return Place(pod_for(node, expected))
    return None


def pod_for(node: Node, expected: Expected) -> Json:
    """The pod of a node's pool, or one that tolerates the node."""
    if pool := expected.pool(node.pool):
        return pool.pod
    tolerations = [
        taint.toleration
        for taint in node.taints
        if taint.blocks and not taint.key.startswith(TRANSIENT_TAINTS)
    ]
    return sample_pod(node.resource, {}, tolerations)


class SampleJob:
    """One run of the pod, under a unique name, and its result."""

    def __init__(self, api: Client, pod: Json, progress: Progress) -> None:
        self._api = api
        self._pod = pod
        self._progress = progress
        self.name = f"aksgpu-check-{uuid.uuid4().hex[:8]}"
        self._path = f"{_PODS}/{self.name}"
        # The phase of the pod, or what it waits for.
        self.stage = "Pending"
        self.node: str | None = None
        self.has_succeeded = False
        self.log = ""
        # Why it failed, if it did.
        self.finding: Finding | None = None
        # What to do if the pod could not be deleted.
        self.leftover: str | None = None

    async def run(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._create(int(seconds) + _GRACE_SECONDS)
                self.finding = await self._watch()
        except TimeoutError:
            self.finding = self._too_late(seconds)
        finally:
            # Also when this is cancelled, as on Ctrl-C.
            self.leftover = await self._delete()

    async def _create(self, deadline: int) -> None:
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": self.name},
            "spec": {**self._pod["spec"], "activeDeadlineSeconds": deadline},
        }
        try:
            await self._api.post(_PODS, pod)
        except ApiError as error:
            if error.status == FORBIDDEN:
                raise StoppedError(refused("the job cannot be created", error)) from None
            raise stopped(
                Cause.JOB_FAILED,
                f"the cluster does not accept the job: {error}",
                "check whether a policy or an admission webhook of the cluster denies it",
            ) from None
        self._progress.reached(f"The job {self.name} is created.")

    async def _watch(self) -> Finding | None:
        """Waits until the pod ends; why it failed, if it did."""
        while True:
            try:
                pod = await self._api.get(self._path)
            except ApiError as error:
                if error.status != NOT_FOUND:
                    raise
                return self._finding(
                    Cause.JOB_FAILED,
                    "is gone: its node went away, or another client deleted it",
                    "check again",
                )
            node = at(pod, "spec.nodeName")
            if node and self.node is None:
                self.node = str(node)
                self._progress.reached(f"It is placed on {node}.")
            self.stage = unplaced(pod) or trouble(pod)
            self._progress.update(self.stage)
            phase = at(pod, "status.phase")
            self.has_succeeded = phase == "Succeeded"
            if self.has_succeeded or phase == "Failed":
                self.log = await self._read_log()
                return None if self.has_succeeded else self._failure()
            if self.stage.startswith(_HOPELESS):
                return self._failure()
            await asyncio.sleep(_POLL_SECONDS)

    async def _read_log(self) -> str:
        try:
            return await self._api.text(f"{self._path}/log", tailLines=_LOG_LINES)
        except ApiError:
            # Its node went away.
            return ""

    def _failure(self) -> Finding:
        if CUDA_MISMATCH in self.log:
            return self._finding(
                Cause.CUDA_MISMATCH,
                f"failed: {CUDA_MISMATCH}",
                "find a driver for the image's CUDA version in NVIDIA's compatibility matrix, "
                f"{_MATRIX}; a pool for which AKS installs no driver may have none at all",
            )
        advice = "read its log, and the events of its node"
        return self._finding(Cause.JOB_FAILED, f"failed: {self.stage}", advice)

    def _too_late(self, seconds: float) -> Finding:
        if self.node is None:
            return self._finding(
                Cause.POD_PENDING,
                f"got no GPU in {seconds:.0f} s: {self.stage}",
                "do what the scheduler says; or wait longer for a new node: raise --timeout",
            )
        return self._finding(
            Cause.TIMEOUT,
            f"did not end in {seconds:.0f} s: {self.stage}",
            "raise --timeout: pulling the image takes minutes",
        )

    def _finding(self, cause: Cause, what: str, advice: str) -> Finding:
        nodes = (self.node,) if self.node else ()
        return Finding(cause, f"the job {self.name} {what}", advice, nodes=nodes)

    async def _delete(self) -> str | None:
        """Deletes the pod, and waits until it is gone; what to do if that fails."""
        self._progress.reached(f"Deleting the job {self.name}.")
        try:
            async with asyncio.timeout(_CLEAN_UP_SECONDS):
                # The sample does not react to SIGTERM.
                await self._api.delete(self._path, gracePeriodSeconds="1")
                while True:
                    await self._api.get(self._path)
                    await asyncio.sleep(_POLL_SECONDS)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return None
            reason = str(error)
        except TimeoutError:
            reason = f"it is still there after {_CLEAN_UP_SECONDS:.0f} s"
        leftover = (
            f"The job {self.name} could not be deleted ({reason}). "
            f"Delete it: kubectl delete pod -n default {self.name}"
        )
        self._progress.reached(leftover)
        return leftover
