"""The rehearsal as a newcomer meets it: the command, on the real engine."""

import os
import signal

import pytest

from rehearsal import cloud
from tests.aksgpu.rehearse.newcomer import Newcomer
from tests.bench import ROOT
from tests.faults import Faults
from tests.processes import is_running
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.engine

PARTS = {"group", "cluster", "gpu"}
ALL = "11 unchanged"


def interrupted_at_the_pool(newcomer: Newcomer) -> tuple[int, str]:
    """Interrupts a rehearsal when Azure has accepted the GPU pool and is at work on it.

    Its exit code and what it printed.
    """
    faults = Faults(newcomer.start_cloud(0.05).home)
    faults.script({"method": "PUT", "path": "agentPools/gpu$", "operation": "stuck"})
    process = newcomer.start("rehearse")
    until(
        lambda: any(put["path"].endswith("/agentPools/gpu") for put in newcomer.requests("PUT")),
        "Azure has accepted the pool",
    )
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    faults.lift()
    return process.returncode, output


@pytest.mark.long
def test_a_rehearsal_starts_from_nothing_and_leaves_nothing(newcomer: Newcomer) -> None:
    checkout = {path: path.read_bytes() for path in ROOT.glob("Pulumi*.yaml")}
    running = newcomer.start_cloud(0.05)

    printed = newcomer.run("rehearse")
    assert len(printed.splitlines()) < 45
    last_screen = printed.partition("The stack dev on the rehearsal cloud")[2]
    for shown in (
        "Standard_NC8as_T4_v3",
        "GPUs:   they work: the job ran on aks-gpu-",
        "USD an hour for the nodes",
        '\n    eval "$(.venv/bin/aksgpu env --stack dev)"\n',
        str(newcomer.home / "requests.jsonl"),
        "make rehearse-down",
    ):
        assert shown in last_screen
    assert [line["path"].rpartition("/")[2] for line in newcomer.requests("PUT")] == [
        "aks-gpu-dev",
        "aks-gpu-dev",
        "gpu",
    ]
    # The real project is only read.
    assert {path: path.read_bytes() for path in ROOT.glob("Pulumi*.yaml")} == checkout

    sent = len(newcomer.requests("PUT"))
    assert "No changes" in newcomer.run("rehearse")
    assert len(newcomer.requests("PUT")) == sent

    # `up` previews first.
    typed = newcomer.shell("pulumi stack && pulumi up --yes")
    assert "azure-native:containerservice:AgentPool" in typed
    assert typed.count(ALL) == 2

    newcomer.run("rehearse-down")
    assert not newcomer.home.exists()
    assert not is_running(running.pid)
    assert "no rehearsal" in newcomer.run("rehearse-down")


@pytest.mark.nightly
def test_a_stopped_rehearsal_restarts_and_is_removed_completely(newcomer: Newcomer) -> None:
    """A second copy of a resource, which import had protected, kept all of it for ever."""
    first = newcomer.start_cloud(0.05)
    newcomer.run("rehearse")
    output = newcomer.run("status")
    assert f"process {first.pid}" in output
    assert "aks-gpu-dev" in output
    newcomer.run("stop")
    assert cloud.find(newcomer.home) is None
    assert "running" in newcomer.run("start")

    assert "No changes" in newcomer.run("rehearse")
    second = cloud.find(newcomer.home)
    assert second is not None
    assert second.pid != first.pid

    group = f"/subscriptions/{second.subscription}/resourceGroups/aks-gpu-dev"
    copied = f"azure-native:resources:ResourceGroup copy {group} --generate-code=false"
    newcomer.shell(f"pulumi import {copied} --yes --stack dev && pulumi stack init half")
    (half,) = newcomer.home.glob("state/.pulumi/stacks/*/half.json")
    half.write_text("{")
    output = newcomer.run("rehearse-down", code=1)
    assert "The stack dev is destroyed." in output
    assert "half: Pulumi could not destroy it" in output
    assert "pulumi stack rm" not in output
    assert len(output.splitlines()) < 20
    assert list(newcomer.root.iterdir()) == []


@pytest.mark.long
def test_an_interrupted_update_is_continued(newcomer: Newcomer) -> None:
    code, output = interrupted_at_the_pool(newcomer)
    assert code == 130
    assert "make rehearse" in output
    assert "Result: interrupted - " in output
    assert "update-failed" not in output
    assert "Traceback" not in output
    # What Azure had accepted is in the state.
    assert newcomer.azure_resources() == PARTS

    newcomer.run("rehearse")
    assert "No changes" in newcomer.run("rehearse")
    puts = [line for line in newcomer.requests("PUT") if line["status"] == 201]
    assert len(puts) == len(PARTS)
