"""All control planes of one rehearsal cloud: starts, restarts and removes them as desired."""

import asyncio
import base64
import contextlib
import shutil
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kube_client.backoff import Backoff
from kube_client.client import ApiError, Client
from kube_client.kubeconfig import Files, choose, connect, read, written
from rehearsal.control_planes.cluster import Cluster, pause
from rehearsal.control_planes.control_plane import (
    ControlPlane,
    ControlPlaneError,
    ask_about_tokens,
    settle_in,
)
from rehearsal.control_planes.desired_state import DesiredCluster, Era, Refusal, Source
from rehearsal.control_planes.processes import Processes, end_leftovers, records
from rehearsal.files import log_line

# How often the desired state is read if nothing signals a change.
LOOK_SECONDS = 0.5
# How long the server's start waits for its clusters: less than clients wait for the server.
START_SECONDS = 100.0
# How many failures in a row are told; the first restart is at once.
ATTEMPTS = 2
# A cluster that lived this long did not fail at its start.
STEADY_SECONDS = 30.0
# The pauses between restarts after the first, which is at once.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0


@dataclass(frozen=True)
class Settings:
    """The settings of all clusters: folders, binaries, era, pace and authentication."""

    folder: Path
    binaries: Path
    era: Era
    time_scale: float
    # The webhook of API servers for token reviews: its URL by cluster uid, and its authority.
    reviewer: Callable[[str], str]
    reviewers_authority: Path


@dataclass(frozen=True)
class Health:
    """The state of a cluster's control plane, and the reason for it."""

    name: str
    group: str
    # Running, Starting, Failed, Stopping, Stopped or Deleting.
    state: str
    reason: str | None = None


@dataclass(frozen=True)
class _Setback:
    """Why a cluster has failed, and when it is restarted."""

    reason: str
    # The cluster's last operation; a new one restarts it at once.
    operation: str | None
    backoff: Backoff

    @property
    def is_reported(self) -> bool:
        """Whether an immediate restart has not helped, so that users see the failure."""
        return self.backoff.failures >= ATTEMPTS

    def is_of(self, operation: str | None) -> bool:
        return operation in (None, self.operation)


class Fleet:
    """The clusters, each with a task that runs it."""

    def __init__(self, settings: Settings, source: Source) -> None:
        self._settings = settings
        self._source = source
        end_leftovers(records(settings.folder))
        self._processes = Processes(records(settings.folder))
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ending: set[str] = set()
        self._running: dict[str, Cluster] = {}
        # When each cluster was started.
        self._up: dict[str, float] = {}
        self._setbacks: dict[str, _Setback] = {}
        self._last_complaint = ""
        self._ready: dict[str, asyncio.Event] = {}
        self._woken = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    # -- what the ARM server asks for

    def wake(self) -> None:
        """Signals that the desired state may have changed."""
        self._woken.set()

    def has(self, uid: str) -> bool:
        """Whether a cluster has processes or files."""
        return uid in self._tasks or uid in self._folders()

    def runs(self, uid: str) -> bool:
        """Whether a cluster has processes."""
        return uid in self._tasks

    def nodes(self, uid: str) -> list[dict[str, Any]]:
        """Returns the nodes of a cluster; none while it does not run."""
        cluster = self._running.get(uid)
        return list(cluster.nodes.objects) if cluster else []

    def pods(self, uid: str) -> list[dict[str, Any]]:
        """Returns the pods of a cluster; none while it does not run."""
        cluster = self._running.get(uid)
        return cluster.pods if cluster else []

    def is_settled(self, uid: str, operation: str) -> bool:
        """Whether a cluster has reached the desired state of an operation."""
        cluster = self._running.get(uid)
        return cluster is not None and operation in cluster.settled

    def refusal(self, uid: str, operation: str) -> Refusal | None:
        """Returns why an operation cannot succeed; None unless it cannot."""
        cluster = self._running.get(uid)
        return cluster.refused.get(operation) if cluster else None

    def failure(self, uid: str, operation: str | None = None) -> str | None:
        """Returns why a cluster does not start; None for an operation that is yet to be tried."""
        setback = self._setbacks.get(uid)
        if setback is None or uid in self._running or not setback.is_reported:
            return None
        return setback.reason if setback.is_of(operation) else None

    def health(self) -> list[Health]:
        """Returns the health of all clusters."""
        return [
            Health(cluster.name, cluster.group, *self._health(cluster))
            for cluster in self._source.clusters()
        ]

    def _health(self, desired: DesiredCluster) -> tuple[str, str | None]:
        uid = desired.uid
        if desired.is_deleting:
            return "Deleting", None
        if desired.is_stopped:
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
        """Returns the kubeconfig of a running cluster, in base64 as from Azure.

        `login` is the user's section for signing in; None: with a client certificate.
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
        text = written(place.server, files, **names, embeds_files=True)
        return base64.b64encode(text.encode()).decode()

    # -- what its clusters ask for: they see at once what becomes of it

    def resize(self, pool_id: str, count: int) -> Refusal | None:
        refusal = self._source.resize(pool_id, count)
        self._try_look()
        return refusal

    # -- start and stop

    async def start(self) -> None:
        """Starts the existing clusters; returns when they are ready or have failed.

        A cluster that does neither does not hold up the server for ever.
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
        """Cancels the task of a cluster, once: a second time would interrupt its cleanup."""
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
            # The next look tries again.
            if repr(error) != self._last_complaint:
                self._last_complaint = repr(error)
                log_line(traceback.format_exc())

    def _look(self) -> None:
        desired = {cluster.uid: cluster for cluster in self._source.clusters()}
        staying = {uid for uid, cluster in desired.items() if not cluster.is_deleting}
        running = {uid for uid in staying if not desired[uid].is_stopped}
        for uid, cluster in desired.items():
            if uid in running and uid not in self._tasks and self._is_due(cluster):
                self._ready.setdefault(uid, asyncio.Event())
                self._tasks[uid] = asyncio.create_task(self._keep(cluster))
            if uid in self._running:
                self._running[uid].wants(cluster)
        for uid in self._tasks.keys() - running:
            self._end(uid)
        for uid in self._folders() - staying - self._tasks.keys():
            self._remove(uid)
        for by_uid in (self._setbacks, self._ready):
            for uid in by_uid.keys() - desired.keys():
                del by_uid[uid]

    def _is_due(self, desired: DesiredCluster) -> bool:
        """Whether a cluster is to be started now."""
        setback = self._setbacks.get(desired.uid)
        if setback and not setback.is_of(desired.operation):
            del self._setbacks[desired.uid]
            return True
        return setback is None or setback.backoff.is_due

    def _folders(self) -> set[str]:
        """Returns the uids of the clusters that have files."""
        folder = self._settings.folder
        return {path.stem for path in folder.iterdir() if path.is_dir()} - {records(folder).stem}

    def _remove(self, uid: str) -> None:
        """Removes the files of a cluster."""
        # Renamed first, so that no cluster starts with half of its files.
        going = self._folder(uid).with_suffix(".going")
        with contextlib.suppress(OSError):
            self._folder(uid).rename(going)
        shutil.rmtree(going, ignore_errors=True)

    async def _keep(self, desired: DesiredCluster) -> None:
        uid = desired.uid
        try:
            await self._live(desired)
        except Exception as error:
            self._set_back(desired, error)
        finally:
            self._up.pop(uid, None)
            self._ending.discard(uid)
            self._tasks.pop(uid, None)
            self._woken.set()

    def _set_back(self, desired: DesiredCluster, error: Exception) -> None:
        """Schedules the restart of a failed cluster: at first at once, then with longer pauses."""
        uid, moment = desired.uid, time.monotonic()
        before = self._setbacks.get(uid)
        backoff = before.backoff if before else Backoff(FIRST_PAUSE, LONGEST_PAUSE, at_once=1)
        if moment - self._up.get(uid, moment) > STEADY_SECONDS:
            backoff.reset()
        pause = backoff.fail()
        reason = _reason(error)
        operation = desired.operation or (before.operation if before else None)
        self._setbacks[uid] = setback = _Setback(reason, operation, backoff)
        log_line(
            f"The control plane of {desired.name} failed; restarting it in {pause:.0f} s.\n{reason}"
        )
        if setback.is_reported:
            self._ready[uid].set()

    async def _live(self, desired: DesiredCluster) -> None:
        """Runs a cluster from the start of its processes to their end."""
        uid = desired.uid
        settings = self._settings
        place = settle_in(self._folder(uid), settings.time_scale)
        ask_about_tokens(place, settings.reviewer(uid), settings.reviewers_authority)
        ranges = desired.pods, desired.services
        plane = ControlPlane(place, settings.binaries, *ranges, self._processes, desired.version)
        # The next look retries whatever fails here.
        api = Client(await connect(choose(read(place.config("nodes")))), pauses=())
        try:
            await plane.start(api)
            era, time_scale = self._settings.era, self._settings.time_scale
            cluster = Cluster(plane, api, desired, self, era, time_scale)
            self._running[uid] = cluster
            # What is desired may have changed while it started.
            self._woken.set()
            self._up[uid] = time.monotonic()
            self._ready[uid].set()
            await cluster.run()
        finally:
            # From here on its task ends by itself.
            self._ending.add(uid)
            self._running.pop(uid, None)
            await api.close()
            await plane.stop()

    def _folder(self, uid: str) -> Path:
        return self._settings.folder / uid


def _reason(error: Exception) -> str:
    """Returns why a cluster failed; the traceback of a bug goes to the log."""
    if isinstance(error, ExceptionGroup):
        return "\n".join(dict.fromkeys(map(_reason, error.exceptions)))
    if isinstance(error, ControlPlaneError):
        return str(error)
    if isinstance(error, ApiError):
        return f"Its API server refuses a request of the rehearsal: {error}"
    if isinstance(error, OSError):
        return str(error)
    log_line("".join(traceback.format_exception(error)))
    return "The rehearsal failed; see its server.log."
