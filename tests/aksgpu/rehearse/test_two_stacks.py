"""Two stacks rehearsed at once, and what is left of them afterwards: nothing."""

import socket
from collections.abc import Iterable
from pathlib import Path

import pytest

from machine_setup.cache import user_cache
from tests.aksgpu.rehearse.newcomer import Newcomer
from tests.processes import command_lines
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

STACKS = ("dev", "prod")
LISTENS = "0A"


def ports_of(pids: Iterable[int]) -> set[int]:
    """The TCP ports on which these processes listen."""
    sockets: set[str] = set()
    for pid in pids:
        targets = (str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir())
        sockets |= {target[8:-1] for target in targets if target.startswith("socket:[")}
    tables = (Path(f"/proc/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6"))
    rows = [line.split() for table in tables for line in table]
    return {
        int(row[1].rpartition(":")[2], 16)
        for row in rows
        if row[3] == LISTENS and row[9] in sockets
    }


def answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="ports are read from /proc")
def test_two_stacks_rehearsed_at_once_leave_no_processes(
    newcomer: Newcomer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own_home = tmp_path_factory.mktemp("home")
    newcomer = Newcomer(
        newcomer.root, {"HOME": str(own_home), "XDG_CACHE_HOME": str(user_cache().parent)}
    )
    newcomer.start_cloud(0.05)

    started = [newcomer.start("rehearse", "--stack", stack) for stack in STACKS]
    ends = [process.communicate(timeout=PATIENCE)[0] for process in started]

    for process, stack, output in zip(started, STACKS, ends, strict=True):
        assert process.returncode == 0, output
        assert f"The stack {stack} on the rehearsal cloud" in output
    running = command_lines(str(newcomer.root))
    ports = ports_of(running)
    # The ARM server, and for each of two clusters an API server and an etcd at least.
    assert len(running) >= 5
    assert len(ports) >= 5
    assert all(map(answers, ports))

    newcomer.run("rehearse-down")
    assert not command_lines(str(newcomer.root))
    assert not any(map(answers, ports))
    assert list(newcomer.root.iterdir()) == []
    assert list(own_home.rglob("*")) == []
