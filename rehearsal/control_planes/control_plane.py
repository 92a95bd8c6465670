"""One cluster's control plane: etcd, the API server, the scheduler, controllers and kwok."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import time
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kube.client import ApiError, Client
from kube.kubeconfig import Files, written
from rehearsal.certificates import ADDRESS
from rehearsal.control_planes import kwok_stages
from rehearsal.control_planes.authority import Certificates, prepare
from rehearsal.control_planes.processes import Processes
from rehearsal.files import log_line, read_record, write_json, write_whole

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
# The limit of etcd's content, far above that of a rehearsal: etcd drops its history by itself.
ETCD_BYTES = 2 << 30
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
    """Prepares the folder of a cluster; reuses its ports unless another process took them."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    place = Place(folder, _ports(folder), prepare(folder / "certificates"))
    for part in ("controller-manager", "scheduler", "nodes"):
        names = {"cluster": "cluster", "user": part, "context": part}
        content = written(place.server, place.certificates.files(part), **names, is_whole=False)
        write_whole(place.config(part), content.encode(), 0o600)
    write_whole(folder / "stages.yaml", kwok_stages.configuration(time_scale).encode())
    return place


def ask_about_tokens(place: Place, reviewer: str, authority: Path) -> None:
    """Configures the API server's webhook for tokens that it does not know."""
    names = {"cluster": REVIEWER, "user": REVIEWER, "context": REVIEWER}
    content = written(reviewer, Files(authority), **names, is_whole=False)
    write_whole(place.config(REVIEWER), content.encode(), 0o600)


def _ports(folder: Path) -> dict[str, int]:
    file = folder / "ports.json"
    before = read_record(file, dict[str, int]) or {}
    with contextlib.ExitStack() as held:
        kept = {name: _hold(held, before.get(name, 0)) for name in PORTS}
        ports = {name: port or _hold(held, 0) or 0 for name, port in kept.items()}
    for name in (name for name, port in kept.items() if port is None):
        log_line(
            f"Port {before[name]} of {folder} is now used by another process. The {name} of this "
            f"cluster moves to port {ports[name]}; fetch its kubeconfig again."
        )
    write_json(file, ports)
    return ports


def _hold(held: contextlib.ExitStack, port: int) -> int | None:
    """Binds a port (0: any free one); returns None if another process uses it."""
    holder = held.enter_context(socket.socket())
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with contextlib.suppress(OSError, OverflowError):
        holder.bind((ADDRESS, port))
        number: int = holder.getsockname()[1]
        return number
    return None


def _commands(place: Place, pods: str, services: str) -> dict[str, list[str]]:
    files = place.certificates
    certificate, key, authority = files.certificate("server"), files.key("server"), files.authority
    # There is one instance of each controller.
    worker = [
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=200",
        "--kube-api-burst=300",
        "--profiling=false",
    ]
    return {
        "etcd": [
            "--name=etcd",
            f"--data-dir={place.folder / 'etcd'}",
            f"--listen-client-urls={place.etcd}",
            f"--advertise-client-urls={place.etcd}",
            # It has no peers, but has to listen for them.
            f"--listen-peer-urls=https://{ADDRESS}:0",
            *(
                option
                for whose in ("", "peer-")
                for option in (
                    f"--{whose}cert-file={certificate}",
                    f"--{whose}key-file={key}",
                    f"--{whose}trusted-ca-file={authority}",
                    f"--{whose}client-cert-auth",
                )
            ),
            # Written data survives a killed etcd in any case. Safety against a loss of power is not
            # worth the time in a rehearsal.
            "--unsafe-no-fsync",
            "--snapshot-count=5000",
            "--auto-compaction-mode=revision",
            "--auto-compaction-retention=1000",
            f"--quota-backend-bytes={ETCD_BYTES}",
            "--log-level=warn",
        ],
        "kube-apiserver": [
            f"--etcd-servers={place.etcd}",
            f"--etcd-cafile={authority}",
            f"--etcd-certfile={certificate}",
            f"--etcd-keyfile={key}",
            f"--bind-address={ADDRESS}",
            f"--advertise-address={ADDRESS}",
            # A loopback address may not be an endpoint of the service `kubernetes`.
            "--endpoint-reconciler-type=none",
            f"--secure-port={place.ports['server']}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--client-ca-file={authority}",
            f"--kubelet-client-certificate={certificate}",
            f"--kubelet-client-key={key}",
            f"--kubelet-certificate-authority={authority}",
            # Nodes have addresses like on AKS, but all their kubelets are on this machine.
            "--kubelet-preferred-address-types=InternalDNS",
            f"--service-cluster-ip-range={services}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={files.signing_public}",
            f"--service-account-signing-key-file={files.signing_key}",
            *_asking_about_tokens(place),
            "--authorization-mode=RBAC",
            "--anonymous-auth=false",
            "--allow-privileged=true",
            "--enable-priority-and-fairness=false",
            "--max-requests-inflight=200",
            "--max-mutating-requests-inflight=100",
            "--profiling=false",
            "--event-ttl=24h",
            # Otherwise it waits a minute for those who watch before it ends, and answers nobody.
            "--shutdown-watch-termination-grace-period=1s",
        ],
        "kube-controller-manager": [
            f"--kubeconfig={place.config('controller-manager')}",
            *worker,
            f"--root-ca-file={authority}",
            f"--service-account-private-key-file={files.signing_key}",
            "--use-service-account-credentials=true",
            # There are no volumes, networks or cloud resources to manage.
            "--controllers=*,-persistentvolume-binder-controller,"
            "-persistentvolume-expander-controller,-persistentvolume-attach-detach-controller,"
            "-node-ipam-controller,-node-route-controller,-service-lb-controller",
            "--node-monitor-period=2s",
        ],
        "kube-scheduler": [f"--kubeconfig={place.config('scheduler')}", *worker],
        "kwok": [
            f"--kubeconfig={place.config('nodes')}",
            f"--config={place.folder / 'stages.yaml'}",
            "--manage-all-nodes=true",
            "--node-lease-duration-seconds=40",
            f"--cidr={pods}",
        ],
    }


def _asking_about_tokens(place: Place) -> list[str]:
    reviewer = place.config(REVIEWER)
    if not reviewer.exists():
        return []
    return [
        f"--authentication-token-webhook-config-file={reviewer}",
        "--authentication-token-webhook-version=v1",
        # No cache, so that a change of the cluster's sign-in takes effect at once.
        "--authentication-token-webhook-cache-ttl=1s",
    ]


NODE_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
# The other processes give up or lose time if they start before the API server.
FIRST = ("etcd", "kube-apiserver")
# The pause before an ended process is restarted, and how often that is done.
REVIVAL_PAUSES = (0.0, 0.25, 0.5, 1.0, 2.0)
# A process that lived this long did not fail at its start.
STEADY_SECONDS = 30.0


@dataclass
class _Part:
    """A process of a control plane, and its restarts."""

    process: Process
    began: float
    # How many in a row ended soon after their start.
    ends: int = 0
    # When it is restarted after it has ended.
    again: float | None = None


class ControlPlane:
    """The processes of one cluster."""

    def __init__(
        self, place: Place, binaries: Path, pods: str, services: str, processes: Processes
    ) -> None:
        self.place = place
        self._binaries = binaries
        self._commands = _commands(place, pods, services)
        self._processes = processes
        self._parts: dict[str, _Part] = {}
        # Whether the API server has been ready since it or etcd was last started.
        self.is_ready = False

    async def start(self, api: Client) -> None:
        """Starts all processes; returns once pods can be scheduled."""
        await asyncio.gather(*map(self._start, FIRST))
        await self._wait(api, _is_ready, "The API server is not ready")
        self.is_ready = True
        await self._wait(api, _is_free, "The API server does not release the lease of the nodes")
        await asyncio.gather(*map(self._start, self._commands.keys() - set(FIRST)))
        await self._wait(
            api, _has_accounts, "The controller manager does not create service accounts"
        )

    async def _start(self, name: str) -> None:
        command = [str(self._binaries / name), *self._commands[name]]
        # HOME: otherwise kwok reads the user's own configuration there.
        own = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.place.folder)}
        log = self.place.log(name)
        ends = self._parts[name].ends if name in self._parts else 0
        process = await self._processes.start(command, log, own | ENVIRONMENT)
        self._parts[name] = _Part(process, time.monotonic(), ends)

    async def _wait(
        self, api: Client, is_done: Callable[[Client], Awaitable[bool]], complaint: str
    ) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            await self._revive(api)
            if await _answered(is_done(api)):
                return
            await asyncio.sleep(POLL_SECONDS)
        raise ControlPlaneError(f"{complaint} after {READY_SECONDS:.0f} seconds.")

    async def keep_alive(self, api: Client) -> None:
        """Restarts processes that end, until the task is cancelled.

        Raises ControlPlaneError for a process that ends again and again.
        """
        while True:
            await self._revive(api)
            self.is_ready = self.is_ready or await _answered(_is_ready(api))
            await asyncio.sleep(POLL_SECONDS)

    async def _revive(self, api: Client) -> None:
        ended = [name for name, part in self._parts.items() if part.process.returncode is not None]
        self.is_ready = self.is_ready and not {*FIRST}.intersection(ended)
        for name in ended:
            if await self._is_due(name, api):
                await self._processes.end(self._parts[name].process)
                await self._start(name)
                log_line(f"{name} of {self.place.folder} ended; restarting it.")

    async def _is_due(self, name: str, api: Client) -> bool:
        part, moment = self._parts[name], time.monotonic()
        if part.again is None:
            part.ends = 1 if moment - part.began > STEADY_SECONDS else part.ends + 1
            if part.ends > len(REVIVAL_PAUSES):
                status = part.process.returncode
                raise ControlPlaneError(last_words(name, status, self.place.log(name)))
            part.again = moment + REVIVAL_PAUSES[part.ends - 1]
        if moment < part.again:
            return False
        if name in FIRST:
            return True
        if not await _answered(_is_ready(api)):
            return False
        return name != "kwok" or await _answered(_is_free(api))

    async def stop(self) -> None:
        """Ends all processes. Only etcd has to shut down in order."""
        others = (part.process for name, part in self._parts.items() if name != "etcd")
        await asyncio.gather(*(self._processes.end(part, signal.SIGKILL) for part in others))
        if etcd := self._parts.get("etcd"):
            await self._processes.end(etcd.process)
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


async def _is_free(api: Client) -> bool:
    """Deletes the node leases of an earlier kwok, so that a new one need not wait for their end."""
    await api.delete(NODE_LEASES)
    return True


async def _is_ready(api: Client) -> bool:
    return await api.text("/readyz") == "ok"


async def _has_accounts(api: Client) -> bool:
    """Whether the controller manager has created the service account that pods need."""
    await api.get("/api/v1/namespaces/default/serviceaccounts/default")
    return True
