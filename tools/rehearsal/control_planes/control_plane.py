"""One cluster's control plane: etcd, the API server, the scheduler, controllers and kwok."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import time
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from aks_catalogue.kubernetes import minor_version
from aks_catalogue.kubernetes import written as written_version
from kube_client.client import ApiError, Client
from kube_client.kubeconfig import Files, written
from rehearsal.certificates import ADDRESS
from rehearsal.control_planes import kwok_stages
from rehearsal.control_planes.authority import Certificates, prepare
from rehearsal.control_planes.processes import Processes
from rehearsal.files import read_record, write_json, write_whole

READY_SECONDS = 90.0
POLL_SECONDS = 0.05
ANSWER_SECONDS = 2.0
LOG_LINES = 8
MIB = 2**20
# etcd reserves the files of its log before it writes to them.
LEAST_ROOM = 64
# Memory limits how many clusters a machine can run: a smaller heap is worth more garbage
# collections.
ENVIRONMENT = {"GOGC": "50", "GOMAXPROCS": "2"}
PORTS = ("etcd", "server")
# The minor versions whose APIs and features the API server can have.
OLDEST, NEWEST = (1, 33), (1, 36)
PARTS = Path(__file__).with_name("parts.yaml")
# The name of the webhook that reviews tokens.
REVIEWER = "token-review"


class ControlPlaneError(Exception):
    """A cluster's control plane does not start, or keeps ending."""


@dataclass(frozen=True)
class Place:
    """The folder and the ports of a cluster."""

    folder: Path
    ports: Mapping[str, int]
    certificates: Certificates

    @property
    def server(self) -> str:
        return f"https://{ADDRESS}:{self.ports['server']}"

    @property
    def etcd(self) -> str:
        return f"https://{ADDRESS}:{self.ports['etcd']}"

    def config(self, part: str) -> Path:
        return self.folder / f"{part}.kubeconfig"

    def log(self, part: str) -> Path:
        return self.folder / "logs" / f"{part}.log"


def settle_in(folder: Path, time_scale: float) -> Place:
    """Prepares the folder of a cluster."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    place = Place(folder, _ports(folder), prepare(folder / "certificates"))
    for part in ("controller-manager", "scheduler", "nodes"):
        names = {"cluster": "cluster", "user": part, "context": part}
        content = written(place.server, place.certificates.files(part), **names, embeds_files=False)
        write_whole(place.config(part), content.encode(), 0o600)
    write_whole(folder / "stages.yaml", kwok_stages.configuration(time_scale).encode())
    return place


def ask_about_tokens(place: Place, reviewer: str, authority: Path) -> None:
    """Configures the API server's webhook for tokens that it does not know."""
    names = {"cluster": REVIEWER, "user": REVIEWER, "context": REVIEWER}
    content = written(reviewer, Files(authority), **names, embeds_files=False)
    write_whole(place.config(REVIEWER), content.encode(), 0o600)


def _ports(folder: Path) -> dict[str, int]:
    """Returns the ports of a cluster: those that it had, or free ones."""
    file = folder / "ports.json"
    ports = read_record(file, dict[str, int]) or {}
    if ports.keys() != {*PORTS}:
        with contextlib.ExitStack() as held:
            sockets = [held.enter_context(socket.create_server((ADDRESS, 0))) for _ in PORTS]
            ports = {name: one.getsockname()[1] for name, one in zip(PORTS, sockets, strict=True)}
        write_json(file, ports)
    return ports


def emulated(version: str) -> str:
    """Returns the minor version that the API server emulates for a cluster of this version."""
    wanted = minor_version(version) or NEWEST
    return written_version(min(max(wanted, OLDEST), NEWEST))


def _commands(place: Place, pods: str, services: str, version: str) -> dict[str, list[str]]:
    """Returns the arguments of each process."""
    files = place.certificates
    names = {
        "address": ADDRESS,
        "authority": files.authority,
        "certificate": files.certificate("server"),
        "emulated": version,
        "etcd": place.etcd,
        "folder": place.folder,
        "key": files.key("server"),
        "pods": pods,
        "port": place.ports["server"],
        "services": services,
        "signing_key": files.signing_key,
        "signing_public": files.signing_public,
    }
    return {
        part: [argument.format_map(names) for argument in _flat(arguments)]
        for part, arguments in yaml.safe_load(PARTS.read_text(encoding="utf-8"))["parts"].items()
    }


def _flat(arguments: Iterable[str | list[str]]) -> Iterator[str]:
    for argument in arguments:
        yield from [argument] if isinstance(argument, str) else argument


# The file that is there until the API server is ready for the first time. If etcd is killed at its
# very first start, its data may have no member, and it waits for a leader for ever.
UNUSED = "etcd-unused"
# The other processes give up or lose time if they start before the API server.
FIRST = ("etcd", "kube-apiserver")


class ControlPlane:
    """The processes of one cluster."""

    def __init__(
        self,
        place: Place,
        binaries: Path,
        pods: str,
        services: str,
        processes: Processes,
        version: str = "",
    ) -> None:
        self.place = place
        self._binaries = binaries
        self._commands = _commands(place, pods, services, emulated(version))
        self._processes = processes
        self._parts: dict[str, Process] = {}

    async def start(self, api: Client) -> None:
        """Starts all processes; returns once pods can be scheduled."""
        data, unused = self.place.folder / "etcd", self.place.folder / UNUSED
        if not data.exists():
            unused.touch()
        if unused.exists():
            shutil.rmtree(data, ignore_errors=True)
        await asyncio.gather(*map(self._start, FIRST))
        await self._wait(api, _is_ready, "The API server is not ready")
        unused.unlink(missing_ok=True)
        await asyncio.gather(*map(self._start, self._commands.keys() - set(FIRST)))
        await self._wait(
            api, _has_accounts, "The controller manager does not create service accounts"
        )

    async def _start(self, name: str) -> None:
        command = [str(self._binaries / name), *self._commands[name]]
        # HOME: otherwise kwok reads the user's own configuration there.
        own = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.place.folder)}
        log = self.place.log(name)
        self._parts[name] = await self._processes.start(command, log, own | ENVIRONMENT)

    async def _wait(
        self, api: Client, is_done: Callable[[Client], Awaitable[bool]], complaint: str
    ) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            self._refuse_ended()
            if await _answered(is_done(api)):
                return
            await asyncio.sleep(POLL_SECONDS)
        raise ControlPlaneError(f"{complaint} after {READY_SECONDS:.0f} seconds.")

    async def watch(self) -> None:
        """Raises ControlPlaneError once a process ends: then the whole cluster is restarted."""
        while True:
            self._refuse_ended()
            await asyncio.sleep(POLL_SECONDS)

    def _refuse_ended(self) -> None:
        for name, process in self._parts.items():
            if process.returncode is not None:
                raise ControlPlaneError(last_words(name, process.returncode, self.place.log(name)))

    async def stop(self) -> None:
        """Ends all processes. Only etcd has to shut down in order."""
        others = (part for name, part in self._parts.items() if name != "etcd")
        await asyncio.gather(*(self._processes.end(part, signal.SIGKILL) for part in others))
        if etcd := self._parts.get("etcd"):
            await self._processes.end(etcd)
        self._parts.clear()


def last_words(name: str, status: int | None, log: Path) -> str:
    """Returns why a process ended, for people: a full disk is told before the log that it fills."""
    ended = f"{name} ended with status {status}."
    room = shutil.disk_usage(log.parent).free // MIB
    if room < LEAST_ROOM:
        return (
            f"{ended} The disk is full: a cluster needs {LEAST_ROOM} MiB, and the disk of "
            f"{log.parent} has {room} MiB left. Make room on it, and try again."
        )
    lines = log.read_text(errors="replace").splitlines()
    return "\n".join([f"{ended} The end of its log:", *lines[-LOG_LINES:]])


async def _answered(question: Awaitable[bool]) -> bool:
    """Whether the API server answers yes within a short time; processes are checked in between."""
    with contextlib.suppress(ApiError, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            return await question
    return False


async def _is_ready(api: Client) -> bool:
    return await api.text("/readyz") == "ok"


async def _has_accounts(api: Client) -> bool:
    """Whether the controller manager has created the service account that pods need."""
    await api.get("/api/v1/namespaces/default/serviceaccounts/default")
    return True
