"""The rehearsal cloud from outside: start it, find it, stop it, take it away.

Whether a server runs is decided by the lock of its home, not by an answer: one that is busy, or
still starting, runs as well.
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
from typing import Any, Literal

from catalogue.today import TODAY_VARIABLE
from rehearsal.arm.home import OVERVIEW, PRESENCE, Home, Principal, ServerRecord
from rehearsal.code import fingerprint
from rehearsal.control_planes.desired_state import Era
from rehearsal.control_planes.memory import used
from rehearsal.control_planes.processes import end_leftovers, recorded, records
from rehearsal.files import read_json, read_record, write_json
from rehearsal.pace import TIME_SCALE_VARIABLE
from rehearsal.server_lock import POLL_SECONDS, ServerLock, holder, is_held

# Existing clusters come back before the server answers.
START_SECONDS = 150.0
# An orderly end, with all clusters; and one that nobody asks for.
STOP_SECONDS = {signal.SIGTERM: 20.0, signal.SIGKILL: 10.0}
ANSWER_SECONDS = 3.0
# How long a server that has started may be busy with other things.
BUSY_SECONDS = 30.0
TAIL_LINES = 20
CLEARING_ATTEMPTS = 20
# The folder of the stand-in that signs in to clusters with Entra.
KUBELOGIN = Path(__file__).resolve().parent / "stand_ins" / "kubelogin"
PLUG_INS = KUBELOGIN.with_name("plug_ins")


Say = Callable[[str], None]


class CloudError(Exception):
    """The rehearsal cloud does not start or stop."""


@dataclass(frozen=True)
class Cloud:
    """A running rehearsal cloud, and what a client needs to sign in to it."""

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
        """Returns the variables that azure-native, the Azure SDKs and other tools read."""
        # Who works on the article's Azure judges as of the article's days.
        today = {TODAY_VARIABLE: str(self.era.day)} if self.era is Era.ARTICLE else {}
        return {
            **today,
            "ARM_METADATA_HOSTNAME": self.url.removeprefix("https://"),
            "ARM_SUBSCRIPTION_ID": self.subscription,
            "ARM_TENANT_ID": self.tenant,
            "ARM_CLIENT_ID": self.client_id,
            "ARM_CLIENT_SECRET": self.client_secret,
            "AZURE_AUTHORITY_HOST": self.url,
            "AZURE_TENANT_ID": self.tenant,
            "AZURE_CLIENT_ID": self.client_id,
            "AZURE_CLIENT_SECRET": self.client_secret,
            # Of kubelogin, which would ask a person otherwise.
            "AAD_LOGIN_METHOD": "spn",
            "SSL_CERT_FILE": str(self.ca_bundle),
            "REQUESTS_CA_BUNDLE": str(self.ca_bundle),
            TIME_SCALE_VARIABLE: str(self.time_scale),
        }

    def on_path(self, path: str) -> str:
        """A PATH made from `path` on which what plays another program here comes first.

        That is the `kubelogin` that signs in, and the plug-ins, for programs that name none.
        """
        return os.pathsep.join([str(KUBELOGIN), str(PLUG_INS), path])

    def offer(self, script: Mapping[str, Any]) -> None:
        """Sets what this cloud does not offer, from the next request on.

        For the keys see rehearsal/arm/offer_script.py. An empty script offers everything again.
        """
        write_json(Home(self.home).offers, dict(script))


@dataclass(frozen=True)
class _Wishes:
    """What a cloud shall be started with."""

    era: str
    # None: whatever it was started with before.
    time_scale: float | None
    # None: they are not needed.
    kubernetes: Path | None

    def missed_by(self, record: ServerRecord) -> str | None:
        """Why a server does not do, if it does not."""
        if record.code != fingerprint():
            return "runs with another version of the code"
        if self.time_scale not in (None, record.time_scale):
            return f"runs at the time scale {record.time_scale:g}"
        if self.kubernetes is not None and str(self.kubernetes) != record.kubernetes:
            return "runs with other binaries of Kubernetes, or with none"
        return None


def start(
    home: Path,
    time_scale: float | None = None,
    era: Literal["article", "today"] = "today",
    kubernetes: Path | None = None,
    say: Say = lambda _: None,
) -> Cloud:
    """Returns the cloud of this home: the running one, or a new one once it answers.

    `kubernetes` is a folder with the binaries of Kubernetes, etcd and kwok. With it clusters have
    control planes, and those that the home holds are back when this returns. A server that is
    starting is waited for. One that is another than is wished is ended and started again, with all
    that it has; only for another era CloudError is raised.
    """
    refuse_other_systems()
    files = Home(home.resolve())
    wishes = _Wishes(era, time_scale, kubernetes.resolve() if kubernetes else None)
    while True:
        files.make()
        # The home may be taken away at this moment.
        with contextlib.suppress(FileNotFoundError):
            if lock := ServerLock.take(files.server_lock):
                return _launch(files, lock, wishes)
            if cloud := _fitting(files, wishes, say):
                return cloud


def refuse_other_systems() -> None:
    """To be asked before anything is made ready for a rehearsal."""
    if sys.platform != "linux":
        raise CloudError(
            "The rehearsal works on Linux only. Elsewhere, use it in a container, in a virtual "
            "machine, or in the Windows Subsystem for Linux."
        )


def _fitting(files: Home, wishes: _Wishes, say: Say) -> Cloud | None:
    """The running cloud, if it does; else its server has ended when this returns."""
    began = time.monotonic()
    while is_held(files.server_lock):
        found = _found(files)
        if found is None:
            # One that has written its record has started, and is only busy.
            record = read_record(files.server, ServerRecord)
            has_started = record is not None and record.pid == holder(files.server_lock)
            if time.monotonic() - began > (BUSY_SECONDS if has_started else START_SECONDS):
                raise CloudError(
                    f"The rehearsal's server, process {_holder(files)}, does not answer. Run "
                    "`aksgpu stop`, which ends it and keeps all that it has, and try again."
                )
            time.sleep(POLL_SECONDS)
            continue
        cloud, record = found
        if record.era != wishes.era:
            raise CloudError(
                f"The cloud of {files.path} runs in the era `{record.era}`, not `{wishes.era}`."
            )
        missed = wishes.missed_by(record)
        if missed is None:
            return cloud
        say(f"The rehearsal's server {missed}: it is started again, with all that it has.")
        stop(files.path)
    return None


def find(home: Path) -> Cloud | None:
    """Returns the cloud of this home, if it runs and answers."""
    found = _found(Home(home.resolve()))
    return found[0] if found else None


def _found(files: Home) -> tuple[Cloud, ServerRecord] | None:
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
class Seen:
    """What there is of a rehearsal, whatever state it is in."""

    # `silent` is a server that is starting, or too busy to answer.
    server: Literal["running", "silent", "stopped"]
    pid: int | None
    # As the running server has written it.
    record: ServerRecord | None
    # Each with `name`, `group` and `controlPlane`; all that the server says of them, if it does.
    clusters: list[dict[str, Any]]
    memory_mib: int | None
    # What is wrong with the scripts that lie in the home.
    complaints: list[str]


def look(home: Path) -> Seen:
    """Returns what there is in a home; nothing is started or changed."""
    files = Home(home.resolve())
    found, pid = _found(files), _holder(files)
    record = found[1] if found else None
    said = (_asked(files, record, OVERVIEW) if record else None) or {}
    state: Literal["running", "silent", "stopped"] = "running" if found else "stopped"
    if not found and is_held(files.server_lock):
        state = "silent"
    clusters = said.get("clusters", _stored_clusters(files, state))
    memory = used([pid, *recorded(records(files.kubernetes))]) if pid else None
    return Seen(state, pid, record, clusters, memory, said.get("complaints", []))


def _stored_clusters(files: Home, state: str) -> list[dict[str, Any]]:
    """The clusters by the state itself, where no server says more."""
    address = f"{files.database.as_uri()}?mode=ro"
    statement = "SELECT id FROM resources WHERE type LIKE '%/managedClusters' ORDER BY sequence"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
            ids = [str(row[0]).split("/") for row in database.execute(statement)]
    except sqlite3.Error:
        return []
    known = "unknown" if state == "silent" else "stopped"
    return [{"name": one[-1], "group": one[4], "controlPlane": known} for one in ids if one[4:]]


def stop(home: Path) -> bool:
    """Ends the server of this home, and its clusters; returns False if no server was running."""
    files = Home(home.resolve())
    try:
        with _taken_over(files) as was_running:
            return was_running
    except FileNotFoundError:
        return False


def remove(home: Path) -> None:
    """Ends what runs in a home, and takes the home away, with all that is in it."""
    files = Home(home.resolve())
    # First under another name: so what is started in the meantime finds no half of it.
    going = files.path.with_name(f"{files.path.name}.going")
    try:
        _clear(going)
        with contextlib.suppress(FileNotFoundError), _taken_over(files):
            files.path.rename(going)
        _clear(going)
    except OSError as error:
        raise CloudError(f"{files.path} cannot be taken away: {error}") from error


@contextmanager
def removed_afterwards(home: Path) -> Iterator[None]:
    """Takes a home away before and after; what is wrong with that hides no error of the inside."""
    remove(home)
    try:
        yield
    except BaseException:
        with contextlib.suppress(CloudError):
            remove(home)
        raise
    remove(home)


def _clear(folder: Path) -> None:
    """Removes a folder; another process may be at it as well."""
    for attempt in range(CLEARING_ATTEMPTS):
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            pass
        except OSError:
            # Something was still being written.
            if attempt == CLEARING_ATTEMPTS - 1:
                raise
            time.sleep(POLL_SECONDS)
        if not folder.exists():
            return


@contextmanager
def _taken_over(files: Home) -> Iterator[bool]:
    """Holds the lock of a home, in which nothing runs any more; whether a server had to end."""
    lock = ServerLock.take(files.server_lock)
    was_running = lock is None
    for number, seconds in STOP_SECONDS.items():
        lock = lock or _end_server(files, number, time.monotonic() + seconds)
    if lock is None:
        raise CloudError(f"The rehearsal's server, process {_holder(files)}, does not end.")
    with lock:
        # A server that ended in order has ended its clusters; one that did not may have left them.
        if files.kubernetes.exists():
            end_leftovers(records(files.kubernetes))
        yield was_running


def _end_server(files: Home, number: signal.Signals, deadline: float) -> ServerLock | None:
    """Signals whoever holds the lock, once, and waits for the lock."""
    signalled = None
    while time.monotonic() < deadline:
        server = _holder(files)
        if server not in (None, signalled):
            signalled = server
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(server, number)
                # One that is stopped has to go on to end.
                os.kill(server, signal.SIGCONT)
        if lock := ServerLock.take(files.server_lock):
            return lock
        time.sleep(POLL_SECONDS)
    return None


def _holder(files: Home) -> int | None:
    # A server of an older version has not written itself into the lock.
    pid = (read_json(files.server) or {}).get("pid")
    return holder(files.server_lock, pid if isinstance(pid, int) else 0)


def _launch(files: Home, lock: ServerLock, wishes: _Wishes) -> Cloud:
    scale = wishes.time_scale
    if scale is None:
        last = read_record(files.server, ServerRecord)
        scale = last.time_scale if last else 1.0
    command = [sys.executable, "-m", "rehearsal.arm", "--home", str(files.path)]
    command += ["--time-scale", str(scale), "--era", wishes.era, "--lock", str(lock.descriptor)]
    command += ["--kubernetes", str(wishes.kubernetes)] if wishes.kubernetes else []
    # From here on the server has the lock, whatever happens to this process.
    with lock, files.server_log.open("ab") as log:
        before = log.tell()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # It outlives the terminal that started it.
            start_new_session=True,
            pass_fds=(lock.descriptor,),
        )
    try:
        return _answering(files, process, before)
    except BaseException:
        process.kill()
        process.wait()
        stop(files.path)
        raise


def _answering(files: Home, process: "subprocess.Popen[bytes]", before: int) -> Cloud:
    """Waits until a new server answers."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise CloudError(f"The rehearsal's server died at its start.\n{_said(files, before)}")
        cloud = find(files.path)
        if cloud is not None and cloud.pid == process.pid:
            return cloud
        time.sleep(POLL_SECONDS)
    raise CloudError(f"The rehearsal's server does not answer.\n{_said(files, before)}")


def _answers(files: Home, record: ServerRecord) -> bool:
    """Returns whether the process in the record is that server, not another with its number.

    The certificate authority is this home's own, and the instance is the record's: nothing else
    can answer so.
    """
    return bool(_asked(files, record, PRESENCE) == {"instance": record.instance, "pid": record.pid})


def _asked(files: Home, record: ServerRecord, path: str) -> Any:
    """What the server answers there; None if it does not."""
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


def _said(files: Home, start: int) -> str:
    """The end of what a server has said since then."""
    with contextlib.suppress(OSError), files.server_log.open("rb") as log:
        log.seek(start)
        lines = log.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-TAIL_LINES:])
    return ""
