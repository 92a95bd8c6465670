"""An update is killed, or a file is damaged: the next `make rehearse` begins again."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from rehearsal import cloud
from tests.aksgpu.rehearse.newcomer import Newcomer
from tests.faults import Faults
from tests.processes import descendants, is_running
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

BEGINS_AGAIN = "An earlier update was killed: the rehearsal begins again"


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[Newcomer]:
    made = Newcomer(tmp_path)
    made.start_cloud(0.05)
    yield made
    cloud.remove(made.home)


def kill(newcomer: Newcomer, part: str) -> str:
    """Kills what an update has started, when Azure has taken the cluster; what it has said."""
    faults = Faults(newcomer.home)
    faults.script({"method": "PUT", "path": "/managedClusters/", "operation": "stuck"})
    started = newcomer.start("rehearse", "--stack", "dev")
    until(
        lambda: any("/managedClusters/" in line["path"] for line in newcomer.requests("PUT")),
        "Azure has taken the cluster",
    )
    begun = {started.pid: "aksgpu"} | descendants(started.pid)
    for pid in [pid for pid, line in begun.items() if part in line]:
        # What it was waiting for may have ended by itself.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    output, _ = started.communicate(timeout=PATIENCE)
    until(lambda: not any(map(is_running, begun)), "all of it has ended")
    faults.lift()
    return output


@pytest.mark.parametrize("part", ["", "offline_plug_ins/azure_native"])
def test_a_killed_rehearsal_begins_again(newcomer: Newcomer, part: str) -> None:
    output = kill(newcomer, part)
    assert ("the rehearsal begins again" in output) == bool(part)
    assert newcomer.run("rehearse", "--stack", "dev").count(BEGINS_AGAIN) == 1
    output = newcomer.run("rehearse", "--stack", "dev")
    assert "No changes" in output
    assert BEGINS_AGAIN not in output


def test_a_rehearsal_with_a_damaged_cluster_begins_again(newcomer: Newcomer) -> None:
    """The next command waited for its control plane, and ended in errors of Kubernetes."""
    newcomer.run("rehearse", "--stack", "dev")
    cloud.stop(newcomer.home)
    [data] = newcomer.home.glob("kubernetes/*/etcd/member/snap/db")
    data.write_bytes(b"no database" * 10_000)
    output = newcomer.run("rehearse", "--stack", "dev")
    assert output.count("Cluster aks-gpu-dev does not start: the rehearsal begins again") == 1
    assert "No changes" in newcomer.run("rehearse", "--stack", "dev")


def test_a_killed_rehearsal_is_removed(newcomer: Newcomer) -> None:
    kill(newcomer, "")
    assert "goes with the rehearsal" in newcomer.run("rehearse-down")
    assert not newcomer.home.exists()
