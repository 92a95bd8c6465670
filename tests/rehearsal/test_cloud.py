"""Starting, finding and stopping the rehearsal cloud."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rehearsal import cloud
from rehearsal.arm.home import Home
from rehearsal.cloud import Cloud, CloudError
from rehearsal.server_lock import holder
from tests.rehearsal.conftest import Azure
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.long

Start = Callable[..., Cloud]


@pytest.fixture
def bystander() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(10000)"])
    yield process
    process.kill()
    process.wait()


def port_of(running: Cloud) -> int:
    return int(running.url.rpartition(":")[2])


def test_a_cloud_starts_once_and_is_found_again(start_cloud: Start) -> None:
    first = start_cloud()
    assert start_cloud() == first
    assert cloud.find(first.home) == first
    record = json.loads((first.home / "server.json").read_text())
    assert (record["pid"], record["url"], record["port"]) == (first.pid, first.url, port_of(first))
    assert record["started"]


def test_stop_waits_until_the_server_has_ended(start_cloud: Start) -> None:
    running = start_cloud()
    assert cloud.stop(running.home)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port_of(running)), timeout=1)
    assert cloud.find(running.home) is None
    assert not cloud.stop(running.home)


def test_a_home_without_a_cloud_has_none_to_find_or_stop(tmp_path: Path) -> None:
    assert cloud.find(tmp_path / "none") is None
    assert not cloud.stop(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_two_starts_at_once_start_one_server(tmp_path: Path) -> None:
    """From two processes, as two people would."""
    home = tmp_path / "cloud"
    script = (
        "import sys, pathlib; from rehearsal import cloud;"
        "print(cloud.start(pathlib.Path(sys.argv[1])).pid)"
    )

    def start(_: int) -> str:
        return subprocess.run(
            [sys.executable, "-c", script, str(home)],
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        ).stdout.strip()

    try:
        with ThreadPoolExecutor() as pool:
            pids = set(pool.map(start, range(2)))
        assert len(pids) == 1
    finally:
        assert cloud.stop(home)


def test_a_dead_server_is_started_again_on_its_port(start_cloud: Start) -> None:
    dead = start_cloud()
    os.kill(dead.pid, signal.SIGKILL)
    again = start_cloud()
    assert again.pid != dead.pid
    assert again.url == dead.url


@pytest.mark.nightly
def test_a_busy_port_is_no_error(start_cloud: Start) -> None:
    before = start_cloud()
    cloud.stop(before.home)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port_of(before)))
        other.listen()
        after = start_cloud()
    assert port_of(after) != port_of(before)
    assert after.client_id == before.client_id


@pytest.mark.nightly
def test_a_process_with_the_id_of_a_dead_server_is_not_killed(
    start_cloud: Start, bystander: "subprocess.Popen[bytes]"
) -> None:
    running = start_cloud()
    cloud.stop(running.home)
    record = json.loads((running.home / "server.json").read_text())
    (running.home / "server.json").write_text(json.dumps({**record, "pid": bystander.pid}))
    assert cloud.find(running.home) is None
    assert not cloud.stop(running.home)
    assert bystander.poll() is None


def test_a_home_that_cannot_be_made_or_used_is_reported(tmp_path: Path) -> None:
    """In a checkout that cannot be written, `make rehearse` ended with a traceback."""
    (tmp_path / "file").touch()
    with pytest.raises(CloudError, match=r"a folder of its own: .*file/home"):
        cloud.start(tmp_path / "file" / "home")
    home = tmp_path / "home"
    (home / "server.log").mkdir(parents=True)
    with pytest.raises(CloudError, match=r"cannot be started: .*server.log"):
        cloud.start(home)


def test_a_server_that_ends_during_its_start_reports_why(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text("of an earlier server\n")
    (tmp_path / "arm.sqlite").mkdir()
    with pytest.raises(
        CloudError, match=r"(?s)ended while it started\.\n.*cannot be used: unable to open"
    ) as raised:
        cloud.start(tmp_path)
    assert "earlier" not in str(raised.value)


def test_a_server_is_named_before_it_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`aksgpu stop` did not know what to end if a server hung in its first moments."""
    seen = []

    def looks(files: Home, process: subprocess.Popen[bytes], _: int) -> Cloud:
        seen.append((holder(files.server_lock), process.pid))
        raise CloudError("This is enough.")

    monkeypatch.setattr(cloud, "_wait_for_answer", looks)
    with pytest.raises(CloudError, match="enough"):
        cloud.start(tmp_path)
    ((named, pid),) = seen
    assert named == pid


@pytest.mark.nightly
def test_a_reason_that_could_not_be_written_is_not_left_out(tmp_path: Path) -> None:
    """On a full disk the server's log has nothing: the error ended with an empty line."""
    (tmp_path / "server.log").symlink_to(os.devnull)
    (tmp_path / "arm.sqlite").mkdir()
    with pytest.raises(CloudError, match="is the disk full"):
        cloud.start(tmp_path)


@pytest.mark.parametrize("name", ["server.lock", "server.log"])
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, name: str) -> None:
    """The commands ended with a traceback."""
    (tmp_path / name).mkdir()
    with pytest.raises(CloudError, match=f"cannot be started: .*{name}"):
        cloud.start(tmp_path)
    if name == "server.lock":
        with pytest.raises(CloudError, match=f"cannot be stopped: .*{name}"):
            cloud.stop(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "rehearsal.arm", "--home", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        until(lambda: cloud.find(tmp_path), "the server answers")
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.nightly
def test_a_second_server_on_one_home_refuses(start_cloud: Start) -> None:
    running = start_cloud()
    command = [sys.executable, "-m", "rehearsal.arm", "--home", str(running.home)]
    second = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert second.returncode == 1
    assert "Another server already runs" in second.stderr
    assert cloud.find(running.home) == running


def test_the_server_listens_only_on_the_loopback_address(azure: Azure) -> None:
    hex_port = f"{port_of(azure.cloud):04X}"
    listening = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            address, port = line.split()[1].split(":")
            if port == hex_port and line.split()[3] == "0A":
                listening.append(address)
    assert listening == ["0100007F"]


def test_the_environment_is_enough_to_sign_in(start_cloud: Start) -> None:
    """azure-identity's own variables, in a process that is told nothing else."""
    running = start_cloud()
    environment = running.environment()
    assert environment["ARM_METADATA_HOSTNAME"] == f"localhost:{port_of(running)}"
    assert environment["ARM_TENANT_ID"] == "adfs"
    script = (
        "import os; from azure.identity import EnvironmentCredential as C;"
        "C(disable_instance_discovery=True)"
        ".get_token('https://' + os.environ['ARM_METADATA_HOSTNAME'] + '/.default')"
    )
    subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        env={"PATH": os.environ["PATH"], **environment},
        timeout=PATIENCE,
    )


# What a user may have set for the real Azure and for the network.
OF_THE_USER = {
    "ARM_USE_OIDC": "true",
    "ARM_USE_MSI": "true",
    "ARM_OIDC_TOKEN": "of the user",
    "ARM_CLIENT_CERTIFICATE_PATH": "/nowhere",
    "AZURE_CLIENT_CERTIFICATE_PATH": "/nowhere",
    "ARM_ENVIRONMENT": "usgovernment",
    # Nothing listens there.
    **dict.fromkeys(("HTTPS_PROXY", "https_proxy", "ALL_PROXY"), "http://127.0.0.1:9"),
}
SIGN_IN = """
import asyncio
from provider_kit.azure_cloud import azure_cloud, azure_credential
from provider_kit.configuration import Configuration

async def sign_in():
    configuration = Configuration({})
    cloud = await azure_cloud(configuration)
    async with azure_credential(cloud, configuration) as credential:
        await credential.get_token(cloud.scope)

asyncio.run(sign_in())
"""
HERE = "localhost,127.0.0.1"


def test_a_plug_in_signs_in_to_the_rehearsal_whatever_the_user_has_set(
    azure: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a proxy no request came to the rehearsal, unless NO_PROXY named this machine.

    With ARM_USE_OIDC, as in our own workflows, a plug-in asked for the user's token.
    """
    for name, value in OF_THE_USER.items():
        monkeypatch.setenv(name, value)
    environment = {**os.environ, **azure.cloud.environment()}
    subprocess.run([sys.executable, "-c", SIGN_IN], check=True, env=environment, timeout=PATIENCE)


@pytest.mark.parametrize(
    ("users", "expected"),
    [
        ({}, (HERE, HERE)),
        ({"NO_PROXY": "corp"}, (f"corp,{HERE}", f"corp,{HERE}")),
        ({"NO_PROXY": "a", "no_proxy": "b"}, (f"a,{HERE}", f"b,{HERE}")),
        ({"no_proxy": "127.0.0.1, b"}, ("127.0.0.1, b,localhost", "127.0.0.1, b,localhost")),
        ({"NO_PROXY": "*"}, ("*", "*")),
    ],
)
def test_the_users_own_exceptions_from_the_proxy_stay(
    azure: Azure,
    monkeypatch: pytest.MonkeyPatch,
    users: dict[str, str],
    expected: tuple[str, str],
) -> None:
    names = ("NO_PROXY", "no_proxy")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    for name, value in users.items():
        monkeypatch.setenv(name, value)
    environment = azure.cloud.environment()
    assert tuple(environment[name] for name in names) == expected
    # In a shell of `aksgpu env` they do not grow.
    for name in names:
        monkeypatch.setenv(name, environment[name])
    assert azure.cloud.environment() == environment


def test_the_state_folder_can_be_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    started: Any = cloud.start(Path("here"))
    try:
        monkeypatch.chdir("/")
        assert cloud.find(tmp_path / "here") == started
    finally:
        assert cloud.stop(tmp_path / "here")
