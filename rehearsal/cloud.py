"""The rehearsal cloud from outside: start it, find it, stop it."""

import contextlib
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from catalogue.today import TODAY_VARIABLE
from rehearsal.arm.home import PRESENCE, Home
from rehearsal.control_planes.desired_state import Era
from rehearsal.control_planes.processes import end_leftovers, records
from rehearsal.files import read_json, write_json
from rehearsal.pace import TIME_SCALE_VARIABLE

# Existing clusters come back before the server answers.
START_SECONDS = 150.0
STOP_SECONDS = 10.0
ANSWER_SECONDS = 3.0
POLL_SECONDS = 0.05
TAIL_LINES = 20
# The folder of the stand-in that signs in to clusters with Entra.
KUBELOGIN = Path(__file__).resolve().parent / "stand_ins" / "kubelogin"


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
        """A PATH made from `path` on which the `kubelogin` that signs in here comes first."""
        return os.pathsep.join([str(KUBELOGIN), path])

    def offer(self, script: Mapping[str, Any]) -> None:
        """Sets what this cloud does not offer, from the next request on.

        For the keys see rehearsal/arm/offer_script.py. An empty script offers everything again.
        """
        write_json(Home(self.home).offers, dict(script))


def start(
    home: Path,
    time_scale: float = 1.0,
    era: Literal["article", "today"] = "today",
    kubernetes: Path | None = None,
) -> Cloud:
    """Returns the cloud of this home: the running one, or a new one once it answers.

    `kubernetes` is a folder with the binaries of Kubernetes, etcd and kwok. With it clusters have
    control planes, and those that the home holds are back when this returns. A cloud that runs is
    taken as it is, but for its era: CloudError is raised if that is another one.
    """
    files = Home(home.resolve())
    files.path.mkdir(parents=True, exist_ok=True)
    with FileLock(files.start_lock):
        return _running(files, era) or _launch(files, time_scale, era, kubernetes)


def _running(files: Home, era: str) -> Cloud | None:
    cloud = find(files.path)
    runs_in = (read_json(files.server) or {}).get("era")
    if cloud is not None and runs_in != era:
        raise CloudError(f"The cloud of {files.path} runs in the era `{runs_in}`, not `{era}`.")
    return cloud


def find(home: Path) -> Cloud | None:
    """Returns the cloud of this home, if it runs and answers."""
    files = Home(home.resolve())
    record, principal = read_json(files.server), read_json(files.principal)
    if record is None or principal is None or not _answers(files, record):
        return None
    names = ("tenant", "subscription", "client_id", "client_secret")
    return Cloud(
        **{name: principal[name] for name in names},
        home=files.path,
        url=record["url"],
        pid=record["pid"],
        ca_bundle=files.ca_bundle,
        request_log=files.request_log,
        time_scale=record.get("timeScale", 1.0),
        era=Era(record.get("era", Era.TODAY)),
    )


def stop(home: Path) -> bool:
    """Ends the cloud of this home and waits for its end; returns False if none was running."""
    files = Home(home.resolve())
    cloud = find(home)
    if cloud is None:
        _end_clusters(files)
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(cloud.pid, number)
        if _wait_until_gone(files):
            _end_clusters(files)
            return True
    raise CloudError(f"The rehearsal's server, process {cloud.pid}, does not end.")


def _launch(files: Home, time_scale: float, era: str, kubernetes: Path | None) -> Cloud:
    command = [sys.executable, "-m", "rehearsal.arm"]
    command += ["--home", str(files.path), "--time-scale", str(time_scale), "--era", era]
    command += ["--kubernetes", str(kubernetes.resolve())] if kubernetes else []
    with files.server_log.open("ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # It outlives the terminal that started it.
            start_new_session=True,
        )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise CloudError(f"The rehearsal's server died at its start.\n{_tail(files)}")
        cloud = find(files.path)
        if cloud is not None and cloud.pid == process.pid:
            return cloud
        time.sleep(POLL_SECONDS)
    process.kill()
    raise CloudError(f"The rehearsal's server does not answer.\n{_tail(files)}")


def _answers(files: Home, record: dict[str, Any]) -> bool:
    """Returns whether the process in the record is that server, not another with its number.

    The certificate authority is this home's own, and the instance is the record's: nothing else
    can answer so.
    """
    if not files.ca_certificate.exists():
        return False
    try:
        context = ssl.create_default_context(cafile=str(files.ca_certificate))
        connection = http.client.HTTPSConnection(
            "localhost", record["port"], timeout=ANSWER_SECONDS, context=context
        )
        connection.request("GET", PRESENCE)
        presence = json.load(connection.getresponse())
        connection.close()
    except (OSError, ValueError, http.client.HTTPException):
        return False
    return bool(presence == {"instance": record["instance"], "pid": record["pid"]})


def _end_clusters(files: Home) -> None:
    """A server that ended in order has ended its clusters; one that did not may have left them.

    Whoever holds the lock of the server is at work, and they are its own.
    """
    if not files.kubernetes.exists():
        return
    with contextlib.suppress(Timeout), FileLock(files.server_lock, timeout=0):
        end_leftovers(records(files.kubernetes))


def _wait_until_gone(files: Home) -> bool:
    """Waits for the end of the server; returns whether it has released its lock."""
    try:
        with FileLock(files.server_lock, timeout=STOP_SECONDS, poll_interval=POLL_SECONDS):
            return True
    except Timeout:
        return False


def _tail(files: Home) -> str:
    lines = files.server_log.read_text(errors="replace").splitlines()
    return "\n".join(lines[-TAIL_LINES:])
