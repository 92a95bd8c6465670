"""Waits until an object is ready or deleted, and reports its progress to the user."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from kube_client.client import ApiError
from provider_kit.serving import ProviderError
from rehearsal.offline_plug_ins.kubernetes.cluster import Cluster
from rehearsal.offline_plug_ins.kubernetes.objects import (
    SKIP_AWAIT,
    TIMEOUT_SECONDS,
    Object,
    annotation,
    is_enabled,
    metadata,
    name_of,
)
from rehearsal.offline_plug_ins.kubernetes.readiness import Judge, complaints, judge_of
from rehearsal.pace import SHORTEST_LIMIT, time_limit

_SECONDS_BETWEEN_LOOKS = 0.1
_SECONDS_BETWEEN_LOOKS_AT_MOST = 1.0
# pulumi-kubernetes has the same time limit for all kinds, and for deletions.
_SECONDS = 600.0
# Kubernetes looks at a namespace that has pods only after half of their grace period, at any scale.
_SHORTEST_DELETION = 60.0
# The original uses a library for DaemonSets, which has one message for every end of a wait.
OF_DAEMON_SETS = "timed out waiting for the condition"
_TIMED_OUT = {"DaemonSet": OF_DAEMON_SETS}
_TIMED_OUT_USUALLY = "'{}' timed out waiting to be Ready"
_FAILED = "Resource '{}' was created but failed to initialize"

Report = Callable[[str], Awaitable[None]]


class NotReadyError(ProviderError):
    """An object did not become ready; `reasons` come from its pods and events."""

    def __init__(self, message: str, reasons: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.reasons = tuple(dict.fromkeys(reasons))


class Waiting:
    """Waits for one object; `live` is its last known content."""

    def __init__(self, cluster: Cluster, inputs: Object, live: Object, report: Report) -> None:
        self.live = live
        self._cluster = cluster
        self._inputs = inputs
        self._last_report = ""
        self._send = report
        self._pods: list[Object] = []

    @property
    def complaints(self) -> list[str]:
        """Returns why its pods are not ready, as far as is known."""
        return [line for pod in self._pods for line in complaints(pod)]

    async def require_ready(self) -> None:
        """Raises NotReadyError unless the object is ready."""
        judge = judge_of(self._inputs)
        if judge is None or is_enabled(self._inputs, SKIP_AWAIT):
            return
        verdict = judge(self.live)
        if not verdict.is_ready:
            self._pods = await self._find_pods()
            reasons = (verdict.message, *self.complaints)
            raise NotReadyError(_FAILED.format(name_of(self.live)), reasons)

    async def until_ready(self, within: float) -> None:
        """Returns once the object is ready; raises NotReadyError if it fails or the time is up."""
        judge = judge_of(self._inputs)
        if judge is None or is_enabled(self._inputs, SKIP_AWAIT):
            return
        try:
            async with asyncio.timeout(_time_limit(self._inputs, within)):
                await self._until_ready(judge)
        except TimeoutError:
            reasons = (*self.complaints, *await self._events())
            words = _TIMED_OUT.get(self.live["kind"], _TIMED_OUT_USUALLY)
            raise NotReadyError(words.format(name_of(self.live)), reasons) from None
        await self._report("")

    async def until_gone(self, within: float) -> None:
        """Returns once the object is deleted, even if another one has its name already."""
        judge = judge_of(self._inputs)
        if judge is not None and is_enabled(self._inputs, SKIP_AWAIT):
            return
        try:
            async with asyncio.timeout(_time_limit(self._inputs, within, _SHORTEST_DELETION)):
                await self._until_gone()
        except TimeoutError:
            finalizers = ", ".join(metadata(self.live).get("finalizers") or [])
            hint = f"; finalizers might be preventing deletion ({finalizers})" if finalizers else ""
            raise ProviderError(
                f'timed out waiting for {self.live["kind"]} "{name_of(self.live)}" to be '
                f"deleted{hint}"
            ) from None
        await self._report("")

    async def _report(self, message: str) -> None:
        if message != self._last_report:
            self._last_report = message
            await self._send(message)

    async def _until_ready(self, judge: Judge) -> None:
        async for live in self._looks():
            if live is None:
                raise NotReadyError(f'{self.live["kind"]} "{name_of(self.live)}" was deleted')
            self.live = live
            verdict = judge(live)
            if verdict.is_ready:
                return
            self._pods = await self._find_pods()
            if verdict.has_failed:
                raise NotReadyError(
                    _FAILED.format(name_of(live)),
                    (verdict.message, *self.complaints, *await self._events()),
                )
            await self._report("; ".join((verdict.message, *self.complaints[-1:])))

    async def _until_gone(self) -> None:
        uid = metadata(self.live).get("uid")
        async for live in self._looks():
            if live is None or metadata(live).get("uid") != uid:
                return
            self.live = live
            await self._report(f'{live["kind"]} "{name_of(live)}" still exists')

    async def _looks(self) -> Any:
        """Yields the object repeatedly, with pauses; None if it does not exist."""
        rest = _SECONDS_BETWEEN_LOOKS
        while True:
            try:
                yield await self._cluster.get(self.live)
            except ApiError as error:
                # The API server may be away for a moment.
                if not error.is_temporary:
                    raise
                await self._report(str(error))
            await asyncio.sleep(rest)
            rest = min(rest * 1.5, _SECONDS_BETWEEN_LOOKS_AT_MOST)

    async def _find_pods(self) -> list[Object]:
        labels = ((self.live.get("spec") or {}).get("selector") or {}).get("matchLabels")
        if not labels:
            return []
        selector = ",".join(f"{name}={value}" for name, value in labels.items())
        return await self._list("pods", labelSelector=selector)

    async def _events(self) -> list[str]:
        """Returns warnings about the object itself, such as a quota that forbids its pods."""
        uid = metadata(self.live).get("uid", "")
        selector = f"type=Warning,involvedObject.uid={uid}"
        events = await self._list("events", fieldSelector=selector)
        return [f"[{event.get('reason')}] {event.get('message')}" for event in events]

    async def _list(self, kind: str, **query: str) -> list[Object]:
        """Returns the objects of a kind in the same namespace; none if listing fails."""
        try:
            return await self._cluster.list_beside(self.live, kind, **query)
        except ApiError:
            return []


def _time_limit(inputs: Object, within: float, shortest: float = SHORTEST_LIMIT) -> float:
    """Returns the custom timeout in seconds, or the annotation's, or ten minutes."""
    annotated = annotation(inputs, TIMEOUT_SECONDS)
    seconds = within or (float(annotated) if annotated.isdecimal() else 0) or _SECONDS
    return time_limit(seconds, shortest)
