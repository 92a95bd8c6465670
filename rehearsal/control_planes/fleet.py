"""All clusters of one rehearsal cloud: started, kept, and taken away as they are wanted."""

import asyncio
import base64
import contextlib
import shutil
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kube.client import Client
from kube.kubeconfig import Files, choose, connect, read, written
from rehearsal.control_planes import memory
from rehearsal.control_planes.cluster import Cluster, pause
from rehearsal.control_planes.control_plane import (
    ControlPlane,
    ControlPlaneError,
    ask_about_tokens,
    settle_in,
)
from rehearsal.control_planes.desired_state import Era, Refusal, Source, WantedCluster
from rehearsal.control_planes.processes import Processes, end_leftovers, records

# How often the wishes are looked at when nobody says that they have changed.
LOOK_SECONDS = 0.5
# How long the server's start waits for them: less than those who wait for the server.
START_SECONDS = 100.0
# A port that was free may be taken by the time it is wanted.
ATTEMPTS = 3


@dataclass(frozen=True)
class Settings:
    """Of what, where and how the clusters are made."""

    folder: Path
    binaries: Path
    era: Era
    time_scale: float
    # Whom an API server asks about tokens: the address, by the cluster's uid, and its authority.
    reviewer: Callable[[str], str]
    reviewers_authority: Path


@dataclass(frozen=True)
class _Failure:
    """Why a cluster did not come up, and the operation of its own that wanted it."""

    reason: str
    operation: str | None


class Fleet:
    """The clusters, each with a task that keeps it."""

    def __init__(self, settings: Settings, source: Source) -> None:
        self._settings = settings
        self._source = source
        end_leftovers(records(settings.folder))
        self._processes = Processes(records(settings.folder))
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ending: set[str] = set()
        self._running: dict[str, Cluster] = {}
        self._failures: dict[str, _Failure] = {}
        self._last_complaint = ""
        self._ready: dict[str, asyncio.Event] = {}
        self._woken = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    # -- what Resource Manager's side asks

    def lacks_memory(self) -> str | None:
        """Why one more cluster cannot be started now, if it cannot."""
        coming = [found for found in self._source.clusters() if found.uid not in self._running]
        return memory.lacking(len(coming))

    def wake(self) -> None:
        """The wishes may have changed."""
        self._woken.set()
        for cluster in self._running.values():
            cluster.changed.set()

    def has(self, uid: str) -> bool:
        """Whether there is anything left of a cluster."""
        return uid in self._tasks or self._folder(uid).exists()

    def runs(self, uid: str) -> bool:
        """Whether a cluster has processes."""
        return uid in self._tasks

    def nodes(self, uid: str) -> list[dict[str, Any]]:
        """The nodes of a cluster; none while it does not run."""
        cluster = self._running.get(uid)
        return list(cluster.nodes.objects) if cluster else []

    def is_settled(self, uid: str, operation: str) -> bool:
        """Whether what an operation asked for is there."""
        cluster = self._running.get(uid)
        return cluster is not None and operation in cluster.settled

    def refusal(self, uid: str, operation: str) -> Refusal | None:
        """Why there cannot be what an operation asked for, if there cannot."""
        cluster = self._running.get(uid)
        return cluster.refused.get(operation) if cluster else None

    def failure(self, uid: str, operation: str | None = None) -> str | None:
        """Why a cluster did not come up, if it did not; for a new operation of its own it may."""
        failure = self._failures.get(uid)
        if failure is None or operation not in (None, failure.operation):
            return None
        return failure.reason

    def kubeconfig(
        self, uid: str, cluster: str, user: str, login: Mapping[str, Any] | None
    ) -> str | None:
        """The kubeconfig of a cluster that runs, as Azure gives it: in base64.

        `login` is how its user signs in; None: with a certificate.
        """
        running = self._running.get(uid)
        if running is None:
            return None
        place = running.plane.place
        certificates = place.certificates
        files = certificates.files("user")
        if login is not None:
            files = Files(certificates.authority, login=login)
        names = {"cluster": cluster, "user": user, "context": cluster}
        text = written(place.server, files, **names, is_whole=True)
        return base64.b64encode(text.encode()).decode()

    # -- its life

    async def start(self) -> None:
        """Brings back the clusters that there were; returns when they are ready, or have failed.

        Whoever waits for the server does not wait for ever for one that does neither.
        """
        self._try_look()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                await asyncio.gather(*(event.wait() for event in self._ready.values()))
        self._loop = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._loop is not None:
            self._loop.cancel()
        tasks = list(self._tasks.values())
        for uid in list(self._tasks):
            self._end(uid)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _end(self, uid: str) -> None:
        """Lets the task of a cluster take it down: told once, or it would be interrupted at it."""
        if uid not in self._ending:
            self._ending.add(uid)
            self._tasks[uid].cancel()

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            self._try_look()
            await pause(self._woken, LOOK_SECONDS)

    def _try_look(self) -> None:
        try:
            self._look()
        except Exception as error:
            # It is tried again and again.
            if repr(error) != self._last_complaint:
                self._last_complaint = repr(error)
                traceback.print_exc()

    def _look(self) -> None:
        wanted = {cluster.uid: cluster for cluster in self._source.clusters()}
        staying = {uid for uid, cluster in wanted.items() if not cluster.is_going}
        running = {uid for uid in staying if not wanted[uid].is_stopped}
        for uid, cluster in wanted.items():
            failure = self._failures.get(uid)
            is_up_to_them = failure and cluster.operation in (None, failure.operation)
            if uid not in running or uid in self._tasks or is_up_to_them:
                continue
            self._failures.pop(uid, None)
            self._ready[uid] = asyncio.Event()
            self._tasks[uid] = asyncio.create_task(self._keep(cluster))
        for uid in self._tasks.keys() - running:
            self._end(uid)
        folder = self._settings.folder
        folders = {path.name for path in folder.iterdir() if path != records(folder)}
        for uid in folders - staying - self._tasks.keys():
            shutil.rmtree(self._folder(uid), ignore_errors=True)
        self._failures = {uid: why for uid, why in self._failures.items() if uid in wanted}

    async def _keep(self, wanted: WantedCluster) -> None:
        uid = wanted.uid
        try:
            for attempt in range(ATTEMPTS):
                try:
                    await self._live(wanted)
                except ControlPlaneError:
                    if attempt == ATTEMPTS - 1:
                        raise
        except ControlPlaneError as error:
            self._failures[uid] = _Failure(str(error), wanted.operation)
        except Exception:
            traceback.print_exc()
            reason = "The rehearsal failed; see its server.log."
            self._failures[uid] = _Failure(reason, wanted.operation)
        finally:
            self._ready[uid].set()
            self._ending.discard(uid)
            self._tasks.pop(uid, None)
            self._woken.set()

    async def _live(self, wanted: WantedCluster) -> None:
        """A cluster from the start of its processes to their end."""
        uid = wanted.uid
        settings = self._settings
        place = settle_in(self._folder(uid), settings.time_scale)
        ask_about_tokens(place, settings.reviewer(uid), settings.reviewers_authority)
        plane = ControlPlane(place, self._settings.binaries, wanted.services, self._processes)
        # Whatever fails is tried again at the next look anyway.
        api = Client(await connect(choose(read(place.config("nodes")))), pauses=())
        try:
            await plane.start(api)
            era, time_scale = self._settings.era, self._settings.time_scale
            self._running[uid] = cluster = Cluster(plane, api, self._source, era, time_scale)
            self._ready[uid].set()
            await cluster.run(lambda: self._wish(uid))
        finally:
            self._running.pop(uid, None)
            await api.close()
            await plane.stop()

    def _wish(self, uid: str) -> WantedCluster | None:
        return next((found for found in self._source.clusters() if found.uid == uid), None)

    def _folder(self, uid: str) -> Path:
        return self._settings.folder / uid
