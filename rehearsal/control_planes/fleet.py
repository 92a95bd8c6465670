"""All clusters of one rehearsal cloud: started, kept, and taken away as they are wanted."""

import asyncio
import base64
import contextlib
import math
import shutil
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kube.client import ApiError, Client
from kube.kubeconfig import Files, choose, connect, read, written
from rehearsal.control_planes import memory
from rehearsal.control_planes.cluster import Cluster, pause
from rehearsal.control_planes.control_plane import (
    STEADY_SECONDS,
    ControlPlane,
    ControlPlaneError,
    ask_about_tokens,
    settle_in,
)
from rehearsal.control_planes.desired_state import Era, Refusal, Source, WantedCluster
from rehearsal.control_planes.etcd import keep_room
from rehearsal.control_planes.processes import Processes, end_leftovers, records
from rehearsal.files import log_line

# How often the wishes are looked at when nobody says that they have changed.
LOOK_SECONDS = 0.5
# How long the server's start waits for them: less than those who wait for the server.
START_SECONDS = 100.0
# How often a cluster is started at once: a port that was free may be taken by then...
ATTEMPTS = 2
# ...and how long to wait before each further time: twice as long, up to this.
LONGEST_PAUSE = 60.0


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
class Health:
    """How a cluster is, and why, where it is not as it shall be."""

    name: str
    group: str
    # Running, Starting, Failed, Stopping, Stopped or Deleting.
    state: str
    reason: str | None = None


@dataclass(frozen=True)
class _Setback:
    """Why a cluster has ended by itself, and when it is started again."""

    reason: str
    # The last of its own that wanted it; a new one is tried at once.
    operation: str | None
    attempts: int
    again: float

    @property
    def is_told(self) -> bool:
        """Whether there is more to it than what a second try mends."""
        return self.attempts >= ATTEMPTS

    def is_of(self, operation: str | None) -> bool:
        return operation in (None, self.operation)


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
        # Since when each of them runs.
        self._up: dict[str, float] = {}
        self._setbacks: dict[str, _Setback] = {}
        # Why the files of a cluster that goes cannot be removed.
        self._kept_files: dict[str, str] = {}
        self._last_complaint = ""
        self._ready: dict[str, asyncio.Event] = {}
        self._woken = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    # -- what Resource Manager's side asks

    def lacks_memory(self) -> str | None:
        """Why one more cluster cannot be started now, if it cannot."""
        coming = [health for health in self.health() if health.state == "Starting"]
        return memory.lacking(len(coming))

    def wake(self) -> None:
        """The wishes may have changed."""
        self._woken.set()
        for cluster in self._running.values():
            cluster.changed.set()

    def has(self, uid: str) -> bool:
        """Whether there is anything left of a cluster."""
        return uid in self._tasks or uid in self._folders()

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
        """Why a cluster does not come up, if it does not; for a new operation of its own it may."""
        setback = self._setbacks.get(uid)
        if setback is None or uid in self._running or not setback.is_told:
            return None
        return setback.reason if setback.is_of(operation) else None

    def removal_failure(self, uid: str) -> str | None:
        """Why there is still something left of a cluster that goes, if that stays so."""
        return self._kept_files.get(uid)

    def health(self) -> list[Health]:
        """How all clusters are."""
        return [
            Health(found.name, found.group, *self._health(found))
            for found in self._source.clusters()
        ]

    def _health(self, wanted: WantedCluster) -> tuple[str, str | None]:
        uid = wanted.uid
        if wanted.is_going:
            return "Deleting", self.removal_failure(uid)
        if wanted.is_stopped:
            return ("Stopping" if self.runs(uid) else "Stopped"), None
        if uid in self._running:
            return "Running", None
        if failure := self.failure(uid):
            return "Failed", failure
        setback = self._setbacks.get(uid)
        return "Starting", setback.reason if setback else None

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
        self._loop = asyncio.create_task(self._run())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                await asyncio.gather(*(event.wait() for event in self._ready.values()))

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
                log_line(traceback.format_exc())

    def _look(self) -> None:
        wanted = {cluster.uid: cluster for cluster in self._source.clusters()}
        staying = {uid for uid, cluster in wanted.items() if not cluster.is_going}
        running = {uid for uid in staying if not wanted[uid].is_stopped}
        for uid, cluster in wanted.items():
            if uid in running and uid not in self._tasks and self._is_due(cluster):
                self._ready.setdefault(uid, asyncio.Event())
                self._tasks[uid] = asyncio.create_task(self._keep(cluster))
        for uid in self._tasks.keys() - running:
            self._end(uid)
        for uid in self._folders() - staying - self._tasks.keys() - self._kept_files.keys():
            self._remove(uid)
        for known in (self._setbacks, self._ready):
            for uid in known.keys() - wanted.keys():
                del known[uid]
        for uid in self._kept_files.keys() & staying:
            del self._kept_files[uid]

    def _is_due(self, wanted: WantedCluster) -> bool:
        """Whether to start a cluster now."""
        setback = self._setbacks.get(wanted.uid)
        if setback and not setback.is_of(wanted.operation):
            del self._setbacks[wanted.uid]
            return True
        return setback is None or time.monotonic() >= setback.again

    def _folders(self) -> set[str]:
        """The uids of the clusters of which there are files."""
        folder = self._settings.folder
        return {path.stem for path in folder.iterdir() if path.is_dir()} - {records(folder).stem}

    def _remove(self, uid: str) -> None:
        """Removes the files of a cluster. Where that fails, it is not tried at each look."""
        # First under another name: no cluster begins with half of them.
        going = self._folder(uid).with_suffix(".going")
        try:
            for folder in (going, self._folder(uid)):
                if folder.exists():
                    shutil.rmtree(folder.rename(going))
        except OSError as error:
            reason = f"The files of the cluster's control plane cannot be removed: {error}"
            self._kept_files[uid] = reason
            # Of a part of its files it is not started again, unless somebody asks for that.
            operation = self._setbacks[uid].operation if uid in self._setbacks else None
            self._setbacks[uid] = _Setback(reason, operation, ATTEMPTS, math.inf)
            log_line(reason)

    async def _keep(self, wanted: WantedCluster) -> None:
        uid = wanted.uid
        try:
            await self._live(wanted)
        except Exception as error:
            self._set_back(wanted, error)
        finally:
            self._up.pop(uid, None)
            self._ending.discard(uid)
            self._tasks.pop(uid, None)
            self._woken.set()

    def _set_back(self, wanted: WantedCluster, error: Exception) -> None:
        """Has a cluster that ended started again: some times at once, then ever more slowly."""
        uid, moment = wanted.uid, time.monotonic()
        before = self._setbacks.get(uid)
        was_steady = moment - self._up.get(uid, moment) > STEADY_SECONDS
        attempts = before.attempts + 1 if before and not was_steady else 1
        pause = min(2.0 ** (attempts - ATTEMPTS), LONGEST_PAUSE) if attempts >= ATTEMPTS else 0.0
        reason = _reason(error)
        operation = wanted.operation or (before.operation if before else None)
        self._setbacks[uid] = _Setback(reason, operation, attempts, moment + pause)
        log_line(
            f"The control plane of {wanted.name} ended; it is started again in {pause:.0f} s.\n"
            f"{reason}"
        )
        if attempts >= ATTEMPTS:
            self._ready[uid].set()

    async def _live(self, wanted: WantedCluster) -> None:
        """A cluster from the start of its processes to their end."""
        uid = wanted.uid
        settings = self._settings
        place = settle_in(self._folder(uid), settings.time_scale)
        ask_about_tokens(place, settings.reviewer(uid), settings.reviewers_authority)
        plane = ControlPlane(place, self._settings.binaries, wanted.services, self._processes)
        # Whatever fails is tried again at the next look anyway.
        api = Client(await connect(choose(read(place.config("nodes")))), pauses=())
        room = asyncio.create_task(keep_room(place))
        try:
            await plane.start(api)
            era, time_scale = self._settings.era, self._settings.time_scale
            self._running[uid] = cluster = Cluster(plane, api, self._source, era, time_scale)
            self._up[uid] = time.monotonic()
            self._ready[uid].set()
            await cluster.run(lambda: self._wish(uid))
        finally:
            self._running.pop(uid, None)
            room.cancel()
            await api.close()
            await plane.stop()

    def _wish(self, uid: str) -> WantedCluster | None:
        return next((found for found in self._source.clusters() if found.uid == uid), None)

    def _folder(self, uid: str) -> Path:
        return self._settings.folder / uid


def _reason(error: Exception) -> str:
    """Why a cluster ended, in words; a fault of the rehearsal's own is in the log."""
    if isinstance(error, ExceptionGroup):
        return "\n".join(dict.fromkeys(map(_reason, error.exceptions)))
    if isinstance(error, ControlPlaneError):
        return str(error)
    if isinstance(error, ApiError):
        return f"Its API server refuses what the rehearsal asks for: {error}"
    if isinstance(error, OSError):
        return str(error)
    log_line("".join(traceback.format_exception(error)))
    return "The rehearsal failed; see its server.log."
