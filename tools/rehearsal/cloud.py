"""Starts, finds, inspects, stops and removes a rehearsal cloud.

The lock of a home decides whether its server runs, not an HTTP answer: a server that is busy or
still starting runs too.
"""

import contextlib
import http.client
import json
import os
import shutil
import signal
import sqlite3
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from aks_catalogue.today import TODAY_VARIABLE
from rehearsal.arm.home import (
    DAMAGED,
    OVERVIEW,
    PRESENCE,
    DamagedError,
    Home,
    Principal,
    ServerRecord,
)
from rehearsal.certificates import ADDRESS
from rehearsal.code import fingerprint
from rehearsal.control_planes.desired_state import Era
from rehearsal.control_planes.memory import used
from rehearsal.control_planes.processes import end_leftovers, recorded_pids, records
from rehearsal.files import read_record, write_json
from rehearsal.offline_plug_ins.launch import SOCKET_VARIABLE
from rehearsal.pace import TIME_SCALE_VARIABLE
from rehearsal.server_lock import POLL_SECONDS, ServerLock, holder, is_held

# The server answers once its existing clusters are back.
START_SECONDS = 150.0
# SIGTERM lets the server end its clusters first; SIGKILL follows if it does not.
STOP_SECONDS = {signal.SIGTERM: 20.0, signal.SIGKILL: 10.0}
ANSWER_SECONDS = 3.0
# How long a server may be starting, or too busy to answer.
SILENCE_SECONDS = 150.0
TAIL_LINES = 20
CLEARING_ATTEMPTS = 20
# The folder of the `kubelogin` of a rehearsal, which signs in to clusters with Entra.
KUBELOGIN = Path(__file__).resolve().parent / "offline_plug_ins" / "kubelogin"
PLUG_INS = KUBELOGIN.with_name("executables")


Say = Callable[[str], None]

# Clients in Python and gRPC go through the user's proxy to this machine itself. Some read only the
# one name, some only the other.
_PROXY_EXCEPTIONS = ("NO_PROXY", "no_proxy")
_THIS_MACHINE = ("localhost", "127.0.0.1")
# What the user may have set to sign in to the real Azure goes before a secret.
_NO_OTHER_SIGN_IN: Mapping[str, str] = MappingProxyType(
    {
        "ARM_USE_OIDC": "false",
        "ARM_USE_MSI": "false",
        "ARM_CLIENT_CERTIFICATE_PATH": "",
        "AZURE_CLIENT_CERTIFICATE_PATH": "",
    }
)


class CloudError(Exception):
    """The rehearsal cloud cannot be started, stopped or removed."""


@dataclass(frozen=True)
class Cloud:
    """A running rehearsal cloud, with the address and credentials that a client needs."""

    home: Path
    url: str
    pid: int
    tenant: str
    subscription: str
    client_id: str
    client_secret: str = field(repr=False)
    ca_bundle: Path
    request_log: Path
    time_scale: float
    era: Era = Era.TODAY

    @property
    def ca_certificate(self) -> Path:
        return Home(self.home).ca_certificate

    def environment(self) -> dict[str, str]:
        """Returns the environment variables that azure-native, the Azure SDKs and az read."""
        # In the article's era, clients date retirements by the article's day too.
        today = {TODAY_VARIABLE: str(self.era.day)} if self.era is Era.ARTICLE else {}
        return {
            **today,
            **_past_proxies(os.environ),
            **_NO_OTHER_SIGN_IN,
            # The Python that has the offline plug-ins.
            "AKS_GPU_PYTHON": sys.executable,
            "ARM_METADATA_HOSTNAME": self.url.removeprefix("https://"),
            "ARM_SUBSCRIPTION_ID": self.subscription,
            "ARM_TENANT_ID": self.tenant,
            "ARM_CLIENT_ID": self.client_id,
            "ARM_CLIENT_SECRET": self.client_secret,
            "AZURE_AUTHORITY_HOST": self.url,
            "AZURE_TENANT_ID": self.tenant,
            "AZURE_CLIENT_ID": self.client_id,
            "AZURE_CLIENT_SECRET": self.client_secret,
            # Without it, kubelogin asks for an interactive login.
            "AAD_LOGIN_METHOD": "spn",
            "SSL_CERT_FILE": str(self.ca_bundle),
            "REQUESTS_CA_BUNDLE": str(self.ca_bundle),
            TIME_SCALE_VARIABLE: str(self.time_scale),
            SOCKET_VARIABLE: str(Home(self.home).plug_ins),
        }

    def on_path(self, path: str) -> str:
        """Returns `path` with kubelogin and the offline plug-ins in front.

        The plug-ins are there for programs whose Pulumi.yaml does not name any.
        """
        return os.pathsep.join([str(KUBELOGIN), str(PLUG_INS), path])

    def offer(self, script: Mapping[str, Any]) -> None:
        """Writes offers.json: the sizes, quota and versions that the subscription lacks.

        It applies from the next request on; an empty script offers everything again. For the keys
        see tools/rehearsal/arm/offer_script.py.
        """
        write_json(Home(self.home).offers, dict(script))


def is_rehearsal(metadata_host: str) -> bool:
    """Returns whether clients with this metadata host ask a cloud on this machine."""
    return metadata_host.rpartition(":")[0] in _THIS_MACHINE


def _past_proxies(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables with which clients reach this machine without the user's proxy."""
    users = [environment.get(name, "") for name in _PROXY_EXCEPTIONS]
    return {
        name: _with_this_machine(own or next(filter(None, users), ""))
        for name, own in zip(_PROXY_EXCEPTIONS, users, strict=True)
    }


def _with_this_machine(exceptions: str) -> str:
    listed = {each.strip() for each in exceptions.split(",")}
    missing = () if "*" in listed else (host for host in _THIS_MACHINE if host not in listed)
    return ",".join(filter(None, [exceptions, *missing]))


@dataclass(frozen=True)
class _Options:
    """The options that `start` was called with."""

    era: str
    # None: the value of the last start.
    time_scale: float | None
    # None: control planes are not needed.
    kubernetes: Path | None

    def mismatch(self, record: ServerRecord) -> str | None:
        """Returns how a running server differs from these options; None if it does not."""
        if record.code != fingerprint():
            return "runs with another version of the code"
        if self.time_scale not in (None, record.time_scale):
            return f"runs at the time scale {record.time_scale:g}"
        if self.kubernetes is not None and str(self.kubernetes) != record.kubernetes:
            return "runs with other Kubernetes binaries, or with none"
        return None


def start(
    home: Path,
    time_scale: float | None = None,
    era: Literal["article", "today"] = "today",
    kubernetes: Path | None = None,
    say: Say = lambda _: None,
) -> Cloud:
    """Returns the cloud of this home: the running one, or a new one once it answers.

    `kubernetes` is a folder with the binaries of Kubernetes, etcd and kwok. With it, clusters get
    control planes, and the existing clusters are back when this returns. Waits for a server or a
    control plane that is still starting. Restarts a server that runs with other options; its state
    is kept. Begins again where a file is damaged, and says so. Raises CloudError if the server runs
    in another era.
    """
    refuse_other_systems()
    files = Home(home.resolve())
    options = _Options(era, time_scale, kubernetes.resolve() if kubernetes else None)
    while True:
        try:
            files.make()
        except OSError as error:
            raise CloudError(f"The rehearsal needs a folder of its own: {error}") from error
        try:
            if lock := ServerLock.take(files.server_lock):
                return _launch(files, lock, options)
            if cloud := _reusable(files, options, say):
                return cloud
        except DamagedError as error:
            say(f"{error}: the rehearsal begins again, with an empty cloud.")
            _throw_away(files)
        except OSError as error:
            # Another process may remove the home at this moment.
            is_removed = isinstance(error, FileNotFoundError) and error.filename is not None
            if not is_removed or files.path not in Path(error.filename).parents:
                raise CloudError(f"The rehearsal's server cannot be started: {error}") from error


def refuse_other_systems() -> None:
    """Raises CloudError unless this is Linux. Call it before any set-up for a rehearsal."""
    if sys.platform != "linux":
        raise CloudError(
            "The rehearsal runs on Linux only. Elsewhere, use a Linux container, a virtual "
            "machine, or the Windows Subsystem for Linux."
        )


def _reusable(files: Home, options: _Options, say: Say) -> Cloud | None:
    """Returns the running cloud if it answers as asked; otherwise stops it, returns None."""
    deadline = time.monotonic() + SILENCE_SECONDS
    while is_held(files.server_lock):
        running = _running(files)
        if running is None and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            continue
        mismatch: str | None = "does not answer"
        if running is not None:
            cloud, record = running
            if record.era != options.era:
                raise CloudError(
                    f"The rehearsal cloud in {files.path} runs in the era `{record.era}`, not "
                    f"`{options.era}`. Use another folder, or run `make rehearse-down` first."
                )
            if (mismatch := options.mismatch(record)) is None:
                _await_clusters(files, record, say)
                return cloud
        say(f"The rehearsal's server {mismatch}. Restarting it; its state is kept.")
        stop(files.path)
    return None


def _await_clusters(files: Home, record: ServerRecord, say: Say) -> None:
    """Waits while control planes are starting, as after one of their processes has died."""
    deadline = time.monotonic() + START_SECONDS
    if names := _starting_clusters(files, record):
        say(f"Waiting for the control plane of {', '.join(names)}.")
    while names and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        names = _starting_clusters(files, record)


def _starting_clusters(files: Home, record: ServerRecord) -> list[str]:
    overview = _get(files, record, OVERVIEW) or {}
    clusters = overview.get("clusters", [])
    return [cluster["name"] for cluster in clusters if cluster["controlPlane"] == "starting"]


def find(home: Path) -> Cloud | None:
    """Returns the cloud of this home, if it runs and answers."""
    running = _running(Home(home.resolve()))
    return running[0] if running else None


def page_of(home: Path) -> str | None:
    """Returns the address that opens the dashboard of a running cloud, with its token."""
    files = Home(home.resolve())
    running = _running(files)
    if running is None or running[1].page_port is None or not files.page_token.exists():
        return None
    return f"http://{ADDRESS}:{running[1].page_port}/?token={files.page_token.read_text()}"


def _running(files: Home) -> tuple[Cloud, ServerRecord] | None:
    record = read_record(files.server, ServerRecord)
    principal = read_record(files.principal, Principal)
    if record is None or principal is None or not is_held(files.server_lock):
        return None
    if not _answers(files, record):
        return None
    cloud = Cloud(
        home=files.path,
        url=record.url,
        pid=record.pid,
        tenant=principal.tenant,
        subscription=principal.subscription,
        client_id=principal.client_id,
        client_secret=principal.client_secret,
        ca_bundle=files.ca_bundle,
        request_log=files.request_log,
        time_scale=record.time_scale,
        era=record.era,
    )
    return cloud, record


@dataclass(frozen=True)
class Status:
    """The status of a rehearsal cloud, whether it runs or not."""

    # `silent`: the server is starting, or too busy to answer.
    server: Literal["running", "silent", "stopped"]
    pid: int | None
    # None unless the server answers.
    record: ServerRecord | None
    # Each has `name`, `group` and `controlPlane`, and more if the server answers.
    clusters: list[dict[str, Any]]
    memory_mib: int | None
    # What is wrong with faults.json and offers.json.
    complaints: list[str]
    # The types of the resources that are stored and not simulated; of a server that answers.
    stored_types: list[str]

    @property
    def dead_clusters(self) -> list[str]:
        """The clusters whose control planes do not start."""
        return [each["name"] for each in self.clusters if each["controlPlane"] == "failed"]


def status_of(home: Path) -> Status:
    """Returns the status of the cloud in a home. Starts and changes nothing."""
    files = Home(home.resolve())
    running, pid = _running(files), holder(files.server_lock)
    record = running[1] if running else None
    overview = (_get(files, record, OVERVIEW) if record else None) or {}
    server: Literal["running", "silent", "stopped"] = "running" if running else "stopped"
    if not running and is_held(files.server_lock):
        server = "silent"
    clusters = overview.get("clusters", _stored_clusters(files, server))
    memory = used([pid, *recorded_pids(records(files.kubernetes))]) if pid else None
    complaints, stored_types = (overview.get(name, []) for name in ("complaints", "storedTypes"))
    return Status(server, pid, record, clusters, memory, complaints, stored_types)


def _stored_clusters(files: Home, server: str) -> list[dict[str, Any]]:
    """Reads the clusters from arm.sqlite, for when no server answers."""
    address = f"{files.database.as_uri()}?mode=ro"
    statement = "SELECT id FROM resources WHERE type LIKE '%/managedClusters' ORDER BY sequence"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
            ids = [str(row[0]).split("/") for row in database.execute(statement)]
    except sqlite3.Error:
        return []
    state = "unknown" if server == "silent" else "stopped"
    return [{"name": id_[-1], "group": id_[4], "controlPlane": state} for id_ in ids if id_[4:]]


def stop(home: Path) -> bool:
    """Stops the server of this home and its clusters; returns False if no server was running."""
    files = Home(home.resolve())
    try:
        with _taken_over(files) as was_running:
            return was_running
    except FileNotFoundError:
        return False
    except OSError as error:
        raise CloudError(f"The rehearsal's server cannot be stopped: {error}") from error


def remove(home: Path) -> None:
    """Stops what runs in a home, and deletes the home."""
    files = Home(home.resolve())
    going = going_of(files.path)
    try:
        with contextlib.suppress(FileNotFoundError), _taken_over(files):
            # What an interrupted removal left.
            _clear(going)
            # Renamed first, so that a server that starts meanwhile does not see half a home.
            files.path.rename(going)
        _clear(going)
    except OSError as error:
        kept = going if going.exists() else files.path
        raise CloudError(f"{kept} cannot be removed: {error}") from error


def empty(home: Path) -> None:
    """Stops what runs in a home, and removes its resources and clusters; the principal stays."""
    files = Home(home.resolve())
    try:
        with _taken_over(files):
            for file in files.path.glob(f"{files.database.name}*"):
                file.unlink()
            for log in files.path.glob(f"{files.request_log.name}*"):
                log.unlink()
            _clear(files.kubernetes)
    except OSError as error:
        raise CloudError(f"{files.path} cannot be emptied: {error}") from error


def _throw_away(files: Home) -> None:
    """Removes all of a home but what its user has written."""
    with _taken_over(files):
        for path in files.path.iterdir():
            if path.is_dir():
                _clear(path)
            elif path not in (files.faults, files.offers, files.era, files.server_lock):
                path.unlink(missing_ok=True)


def going_of(home: Path) -> Path:
    """Returns the name of a home while it is deleted."""
    return home.with_name(f"{home.name}.going")


@contextmanager
def removed_afterwards(home: Path) -> Iterator[None]:
    """Removes a home before and after the block; an error of the block takes precedence."""
    remove(home)
    try:
        yield
    except BaseException:
        with contextlib.suppress(CloudError):
            remove(home)
        raise
    remove(home)


def _clear(folder: Path) -> None:
    """Deletes a folder, even while another process writes to it or deletes it too."""
    for attempt in range(CLEARING_ATTEMPTS):
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            pass
        except OSError:
            # Another process has just written into it.
            if attempt == CLEARING_ATTEMPTS - 1:
                raise
            time.sleep(POLL_SECONDS)
        if not folder.exists():
            return


@contextmanager
def _taken_over(files: Home) -> Iterator[bool]:
    """Ends the server of a home and holds its lock; yields whether a server was running."""
    lock = ServerLock.take(files.server_lock)
    was_running = lock is None
    for number, seconds in STOP_SECONDS.items():
        lock = lock or _end_server(files, number, time.monotonic() + seconds)
    if lock is None:
        pid = holder(files.server_lock)
        raise CloudError(
            f"The rehearsal's server (process {pid}) does not end, even after SIGKILL."
        )
    with lock:
        # A server that was killed may have left the processes of its clusters behind.
        if files.kubernetes.exists():
            end_leftovers(records(files.kubernetes))
        yield was_running


def _end_server(files: Home, number: signal.Signals, deadline: float) -> ServerLock | None:
    """Signals the holder of the lock, once, and waits for the lock."""
    signalled = None
    while time.monotonic() < deadline:
        server = holder(files.server_lock)
        if server not in (None, signalled):
            signalled = server
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(server, number)
                # A stopped process handles signals only after SIGCONT.
                os.kill(server, signal.SIGCONT)
        if lock := ServerLock.take(files.server_lock):
            return lock
        time.sleep(POLL_SECONDS)
    return None


def _launch(files: Home, lock: ServerLock, options: _Options) -> Cloud:
    scale = options.time_scale
    if scale is None:
        last = read_record(files.server, ServerRecord)
        scale = last.time_scale if last else 1.0
    command = [sys.executable, "-P", "-m", "rehearsal.arm", "--home", str(files.path)]
    command += ["--time-scale", str(scale), "--era", options.era, "--lock", str(lock.descriptor)]
    command += ["--kubernetes", str(options.kubernetes)] if options.kubernetes else []
    # The server inherits the lock, and keeps it whatever happens to this process.
    with lock, files.server_log.open("ab") as log:
        log_start = log.tell()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # The server outlives the terminal that started it.
            start_new_session=True,
            pass_fds=(lock.descriptor,),
        )
        # Until the server does so itself; a stop at this moment has to find it.
        lock.write_pid(process.pid)
    try:
        return _wait_for_answer(files, process, log_start)
    except BaseException:
        process.kill()
        process.wait()
        stop(files.path)
        raise


def _wait_for_answer(files: Home, process: "subprocess.Popen[bytes]", log_start: int) -> Cloud:
    """Waits until a new server answers; raises CloudError with the end of its log otherwise."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() == DAMAGED:
            raise DamagedError(_log_tail(files, log_start).splitlines()[-1])
        if process.poll() is not None:
            raise CloudError(
                f"The rehearsal's server ended while it started.\n{_log_tail(files, log_start)}"
            )
        cloud = find(files.path)
        if cloud is not None and cloud.pid == process.pid:
            return cloud
        time.sleep(POLL_SECONDS)
    raise CloudError(
        f"The rehearsal's server did not answer within {START_SECONDS:.0f} s of its start.\n"
        f"{_log_tail(files, log_start)}"
    )


def _answers(files: Home, record: ServerRecord) -> bool:
    """Returns whether the server in the record answers, and not another process on its port.

    Only that server has a certificate of this home's authority and the recorded instance id.
    """
    return bool(_get(files, record, PRESENCE) == {"instance": record.instance, "pid": record.pid})


def _get(files: Home, record: ServerRecord, path: str) -> Any:
    """Returns the server's JSON response for a path; None if it does not answer."""
    try:
        context = ssl.create_default_context(cafile=str(files.ca_certificate))
        connection = http.client.HTTPSConnection(
            "localhost", record.port, timeout=ANSWER_SECONDS, context=context
        )
        with contextlib.closing(connection):
            connection.request("GET", path)
            return json.load(connection.getresponse())
    except (OSError, ValueError, OverflowError, http.client.HTTPException):
        return None


def _log_tail(files: Home, start: int) -> str:
    """Returns the last lines of server.log after an offset, or what their absence means."""
    with contextlib.suppress(OSError), files.server_log.open("rb") as log:
        log.seek(start)
        lines = log.read().decode(errors="replace").splitlines()
        if lines:
            return "\n".join(lines[-TAIL_LINES:])
    return f"{files.server_log} has no reason, as if it could not be written: is the disk full?"
