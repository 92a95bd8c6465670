"""The rehearsal as a newcomer meets it: the command, on the real engine."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine import Engine, ensure_kubernetes
from rehearsal import cloud
from rehearsal.cloud import Cloud
from tests.bench import ROOT

pytestmark = pytest.mark.engine

AKSGPU = Path(sys.executable).with_name("aksgpu")
PARTS = {"group", "cluster", "gpu"}
ALL = "13 unchanged"


@dataclass(frozen=True)
class Newcomer:
    """Somebody with a checkout, whose rehearsals lie in a folder of their own."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / ".rehearsal"

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "AKS_GPU_REHEARSAL_ROOT": str(self.root), "COLUMNS": "200"}

    def start_cloud(self, time_scale: float) -> Cloud:
        """Starts the cloud ahead of the command, at a time scale of the test's own."""
        return cloud.start(self.home, time_scale, kubernetes=ensure_kubernetes().folder)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [AKSGPU, *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, code: int = 0) -> str:
        process = self.start(*arguments)
        said, _ = process.communicate(timeout=120)
        assert process.returncode == code, said
        return said

    def shell(self, script: str) -> str:
        """Runs plain commands in a shell that has evaluated the exports."""
        command = f'eval "$({shlex.quote(str(AKSGPU))} env)" && cd {self.home}/project && {script}'
        ended = subprocess.run(
            ["bash", "-c", command],  # noqa: S607 (the user's shell)
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def requests(self, method: str) -> list[dict[str, Any]]:
        log = (self.home / "requests.jsonl").read_text().splitlines()
        return [line for line in map(json.loads, log) if line["method"] == method]

    def state(self) -> dict[str, Any]:
        deployment: dict[str, Any] = json.loads(self.shell("pulumi stack export"))["deployment"]
        return deployment

    def azure_resources(self) -> set[str]:
        return {
            resource["urn"].rpartition("::")[2]
            for resource in self.state()["resources"]
            if resource["type"].startswith("azure-native:")
        }


@pytest.fixture
def newcomer(engine: Engine, tmp_path: Path) -> Iterator[Newcomer]:
    someone = Newcomer(tmp_path)
    yield someone
    cloud.stop(someone.home)


def is_running(pid: int) -> bool:
    # This process has started it, so it stays listed as a zombie until it is asked after.
    listed = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    return listed.stdout.strip() not in ("", "Z", "Zs")


def wait_for_output(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"it ended without saying {text!r}")


def test_from_nothing_to_nothing(newcomer: Newcomer) -> None:
    checkout = {path: path.read_bytes() for path in ROOT.glob("Pulumi*.yaml")}
    running = newcomer.start_cloud(0.05)

    said = newcomer.run("rehearse")
    assert str(newcomer.home / "requests.jsonl") in said
    assert "make rehearse-down" in said
    assert "Standard_NC8as_T4_v3" in said
    assert [line["path"].rpartition("/")[2] for line in newcomer.requests("PUT")] == [
        "aks-gpu-dev",
        "aks-gpu-dev",
        "gpu",
    ]
    # The real project is only read.
    assert {path: path.read_bytes() for path in ROOT.glob("Pulumi*.yaml")} == checkout

    sent = len(newcomer.requests("PUT"))
    assert "Nothing has changed" in newcomer.run("rehearse")
    assert len(newcomer.requests("PUT")) == sent

    assert "azure-native:containerservice:AgentPool" in newcomer.shell("pulumi stack")
    for command in ("pulumi preview", "pulumi up --yes"):
        assert ALL in newcomer.shell(command)

    newcomer.run("rehearse-down")
    assert not newcomer.home.exists()
    assert not is_running(running.pid)
    assert "no rehearsal" in newcomer.run("rehearse-down")


@pytest.mark.long
def test_a_dead_server_is_started_again_with_all_it_had(newcomer: Newcomer) -> None:
    first = newcomer.start_cloud(0.05)
    newcomer.run("rehearse")
    cloud.stop(newcomer.home)

    assert "Nothing has changed" in newcomer.run("rehearse")
    second = cloud.find(newcomer.home)
    assert second is not None
    assert second.pid != first.pid


@pytest.mark.long
def test_an_interrupted_update_is_gone_on_with(newcomer: Newcomer) -> None:
    newcomer.start_cloud(0.4)
    process = newcomer.start("rehearse")
    wait_for_output(process, "AgentPool gpu creating")
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert process.returncode != 0
    assert "make rehearse" in said
    assert "Traceback" not in said
    # What Azure had accepted is in the state.
    assert newcomer.azure_resources() == PARTS

    newcomer.run("rehearse")
    assert "Nothing has changed" in newcomer.run("rehearse")
    puts = [line for line in newcomer.requests("PUT") if line["status"] == 201]
    assert len(puts) == len(PARTS)


@pytest.mark.long
def test_a_killed_update_is_gone_on_with(newcomer: Newcomer) -> None:
    newcomer.start_cloud(0.4)
    process = newcomer.start("rehearse")
    wait_for_output(process, "AgentPool gpu creating")
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert newcomer.state()["pending_operations"]

    said = newcomer.run("rehearse")
    assert "its lock is lifted" in said
    assert "left 1 operations unfinished" in said
    assert newcomer.azure_resources() == PARTS
    assert "Nothing has changed" in newcomer.run("rehearse")


def test_an_unknown_stack_is_told_with_those_there_are(newcomer: Newcomer) -> None:
    said = newcomer.run("rehearse", "--stack", "nosuch", code=1)

    assert "There is no stack file Pulumi.nosuch.yaml. There are: Pulumi.article.yaml" in said
    assert "Traceback" not in said
