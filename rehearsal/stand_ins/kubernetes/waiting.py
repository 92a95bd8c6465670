"""Waits until an object is ready, or gone, and tells the user how it goes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from provider_kit.serving import ProviderError
from rehearsal.pace import time_limit
from rehearsal.stand_ins.kubernetes.cluster import ApiError, Cluster, ConnectionFailedError
from rehearsal.stand_ins.kubernetes.objects import (
    SKIP_AWAIT,
    TIMEOUT_SECONDS,
    Object,
    annotation,
    metadata,
    name_of,
    namespace_of,
    says_yes,
)
from rehearsal.stand_ins.kubernetes.pods import complaints
from rehearsal.stand_ins.kubernetes.readiness import Rule, rule_of

_SECONDS_BETWEEN_LOOKS = 0.1
_SECONDS_BETWEEN_LOOKS_AT_MOST = 1.0
# pulumi-kubernetes gives every kind of object the same time, to be ready and to be gone.
_SECONDS = 600.0
_FAILED = "Resource '{}' was created but failed to initialize"

Tell = Callable[[str], Awaitable[None]]


class NotReadyError(ProviderError):
    """What was there did not become ready; `reasons` are those of its pods and events."""

    def __init__(self, message: str, reasons: Iterable[str] = ()) -> None:
        lines = dict.fromkeys(reasons)
        super().__init__("\n".join((message, *(f"    - {line}" for line in lines))))


class Waiting:
    """One object that was asked for, and what was last seen of it."""

    def __init__(self, cluster: Cluster, asked: Object, live: Object, tell: Tell) -> None:
        self.live = live
        self._cluster = cluster
        self._asked = asked
        self._tell = _without_repetitions(tell)
        self._pods: list[Object] = []

    @property
    def complaints(self) -> list[str]:
        """What its pods have to say, as far as they were seen."""
        return [line for pod in self._pods for line in complaints(pod)]

    async def require_ready(self) -> None:
        """Looks once; NotReadyError says why the object is not ready now."""
        rule = rule_of(self._asked)
        if rule is None or says_yes(self._asked, SKIP_AWAIT):
            return
        verdict = rule.judge(self.live)
        if not verdict.is_ready:
            self._pods = await self._pods_of(rule)
            reasons = (verdict.message, *self.complaints)
            raise NotReadyError(_FAILED.format(name_of(self.live)), reasons)

    async def until_ready(self, within: float) -> None:
        """Ends when the object is ready; NotReadyError says why it will not be, or was not."""
        rule = rule_of(self._asked)
        if rule is None or says_yes(self._asked, SKIP_AWAIT):
            return
        try:
            async with asyncio.timeout(_time_limit(self._asked, within)):
                await self._until_ready(rule)
        except TimeoutError:
            reasons = (*self.complaints, *await self._events())
            raise NotReadyError(rule.timed_out.format(name_of(self.live)), reasons) from None
        await self._tell("")

    async def until_gone(self, within: float) -> None:
        """Ends when the object is gone, or another one has taken its name."""
        rule = rule_of(self._asked)
        if rule is not None and says_yes(self._asked, SKIP_AWAIT):
            return
        try:
            async with asyncio.timeout(_time_limit(self._asked, within)):
                await self._until_gone(rule)
        except TimeoutError:
            finalizers = ", ".join(metadata(self.live).get("finalizers") or [])
            hint = f"; finalizers might be preventing deletion ({finalizers})" if finalizers else ""
            raise ProviderError(
                f'timed out waiting for {self.live["kind"]} "{name_of(self.live)}" to be '
                f"deleted{hint}"
            ) from None
        await self._tell("")

    async def _until_ready(self, rule: Rule) -> None:
        async for live in self._looks():
            if live is None:
                raise NotReadyError(f'{self.live["kind"]} "{name_of(self.live)}" was deleted')
            self.live = live
            verdict = rule.judge(live)
            if verdict.is_ready:
                return
            self._pods = await self._pods_of(rule)
            if verdict.has_failed:
                raise NotReadyError(
                    _FAILED.format(name_of(live)),
                    (verdict.message, *self.complaints, *await self._events()),
                )
            await self._tell("; ".join((verdict.message, *self.complaints[-1:])))

    async def _until_gone(self, rule: Rule | None) -> None:
        uid = metadata(self.live).get("uid")
        async for live in self._looks():
            if live is None or metadata(live).get("uid") != uid:
                return
            self.live = live
            more = rule.of_deletion(live) if rule else ""
            await self._tell(f'{live["kind"]} "{name_of(live)}" still exists {more}'.rstrip())

    async def _looks(self) -> Any:
        """The object again and again, None once it is not there; in between some rest."""
        rest = _SECONDS_BETWEEN_LOOKS
        while True:
            try:
                yield await self._cluster.get_if_there(self.live)
            except ConnectionFailedError as error:
                # An API server that goes away for a moment comes back.
                await self._tell(str(error))
            await asyncio.sleep(rest)
            rest = min(rest * 1.5, _SECONDS_BETWEEN_LOOKS_AT_MOST)

    async def _pods_of(self, rule: Rule) -> list[Object]:
        if rule.is_pod:
            return [self.live]
        labels = ((self.live.get("spec") or {}).get("selector") or {}).get("matchLabels")
        if not rule.has_pods or not labels:
            return []
        selector = ",".join(f"{name}={value}" for name, value in labels.items())
        return await self._list("Pod", {"labelSelector": selector})

    async def _events(self) -> list[str]:
        """Warnings about the object itself, as of a quota that keeps it from having pods."""
        uid = metadata(self.live).get("uid", "")
        found = await self._list(
            "Event", {"fieldSelector": f"type=Warning,involvedObject.uid={uid}"}
        )
        return [f"[{event.get('reason')}] {event.get('message')}" for event in found]

    async def _list(self, kind: str, query: dict[str, str]) -> list[Object]:
        """Objects beside this one; to have none of them is no reason to fail."""
        beside = {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {"namespace": namespace_of(self.live) or "default"},
        }
        try:
            path = await self._cluster.path_of(beside, collection=True)
            return list((await self._cluster.request("GET", path, query=query)).get("items") or [])
        except (ApiError, ConnectionFailedError):
            return []


def _time_limit(asked: Object, within: float) -> float:
    """How long to wait: as the custom timeout has it, or the annotation, or ten minutes."""
    annotated = annotation(asked, TIMEOUT_SECONDS)
    return time_limit(within or (float(annotated) if annotated.isdecimal() else 0) or _SECONDS)


def _without_repetitions(tell: Tell) -> Tell:
    last = ""

    async def tell_news(message: str) -> None:
        nonlocal last
        if message != last:
            last = message
            await tell(message)

    return tell_news
