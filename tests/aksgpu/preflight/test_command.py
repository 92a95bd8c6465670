"""The command itself: what it prints where, and its exit code."""

import io
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from aksgpu.outcome import Cause
from aksgpu.preflight.report import render
from rehearsal import cloud
from tests.aksgpu.preflight.conftest import T4, Place
from tests.bench import AKSGPU
from tests.waiting import PATIENCE, until


def run(
    folder: Path, *arguments: str, stack: str = "test", **environment: str
) -> "subprocess.CompletedProcess[str]":
    # Nobody who works here is signed in to Azure by accident.
    clean = {name: text for name, text in os.environ.items() if not name.startswith("ARM_")}
    return subprocess.run(
        [AKSGPU, "preflight", "--stack", stack, *arguments],
        cwd=folder,
        env=clean | {"COLUMNS": "200"} | environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def test_a_stack_file_with_mistakes(tmp_path: Path) -> None:
    config = {"aks-gpu:location": "East US", "aks-gpu:gpuPools": [{"name": "a-b"}]}
    (tmp_path / "Pulumi.test.yaml").write_text(yaml.safe_dump({"config": config}))
    ended = run(tmp_path)
    assert ended.returncode == Cause.STACK_FILE_INVALID.exit_code
    for key in ("location", "gpuPools[0].name", "gpuPools[0].vmSize"):
        assert f"{key}: " in ended.stdout
    assert "Result: stack-file-invalid - " in ended.stdout
    assert ended.stdout.rstrip().splitlines()[-1] == "Next:   correct the stack file"
    assert "Traceback" not in ended.stderr
    ended = run(tmp_path, "--json")
    assert ended.returncode == Cause.STACK_FILE_INVALID.exit_code
    document = json.loads(ended.stdout)
    assert document["cause"] == "stack-file-invalid"
    assert len(document["rows"]) == 3


def test_the_way_in_is_that_of_the_environment(place: Place, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.test.yaml").write_text("config: {}\n")
    known = place.azure.cloud.environment()
    ended = run(tmp_path, "--json", **known | {"ARM_CLIENT_SECRET": "so-secret-and-wrong"})
    assert ended.returncode == Cause.CREDENTIALS_REFUSED.exit_code
    assert json.loads(ended.stdout)["cause"] == "credentials-refused"
    assert "so-secret" not in ended.stdout + ended.stderr
    ended = run(tmp_path, "--json", ARM_METADATA_HOSTNAME="localhost:9", ARM_SUBSCRIPTION_ID="s")
    assert ended.returncode == Cause.AZURE_UNREACHABLE.exit_code
    assert json.loads(ended.stdout)["cause"] == "azure-unreachable"
    assert "Traceback" not in ended.stderr


def test_an_interrupt_is_told_as_such(place: Place, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.test.yaml").write_text("config: {}\n")
    # Longer than this test waits: what waits for the answer has not been interrupted.
    place.fault({"path": "/skus", "delay": 2 * PATIENCE})
    command = subprocess.Popen(
        [AKSGPU, "preflight", "--stack", "test", "--json"],
        cwd=tmp_path,
        env=os.environ | place.azure.cloud.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until(lambda: place.azure.requests("/usages"), "Azure is asked")
        command.send_signal(signal.SIGINT)
        printed, said = command.communicate(timeout=PATIENCE)
    finally:
        command.kill()
    assert command.returncode == Cause.INTERRUPTED.exit_code
    assert json.loads(printed)["cause"] == "interrupted"
    assert "Traceback" not in said


@pytest.mark.engine
def test_the_rehearsed_stack(tmp_path: Path) -> None:
    """One life on the rehearsal cloud, which it starts: all is well, then it is not."""
    # What a machine is signed in with plays no part.
    root = {"AKS_GPU_REHEARSAL_ROOT": str(tmp_path), "ARM_USE_OIDC": "true"}
    arguments = ("--rehearsal", "--json")
    try:
        ended = run(tmp_path, *arguments, stack="dev", **root)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        document = json.loads(ended.stdout)
        assert document["costs"]["remark"] == "Rehearsal: these prices are made up"
        assert "Asking Azure about the stack dev" in ended.stderr
        there = cloud.find(tmp_path / ".rehearsal")
        assert there is not None
        there.offer({"limits": [{"name": "Standard NCASv3_T4 Family", "limit": 0}]})
        ended = run(tmp_path, *arguments, stack="dev", **root)
        assert ended.returncode == Cause.QUOTA_TOO_SMALL.exit_code
        assert json.loads(ended.stdout)["cause"] == "quota-too-small"
    finally:
        cloud.stop(tmp_path / ".rehearsal")


def test_a_page_says_what_stands_against_it_and_one_next_step(place: Place) -> None:
    place.offer(sizes=[{"size": T4["vmSize"], "is": "absent"}])
    result = place.ask(gpuPools=[T4])
    page = io.StringIO()
    render(result, Console(file=page, width=250), "go on")
    *_, verdict_line, next_line = page.getvalue().rstrip().splitlines()
    assert verdict_line.startswith("Result: size-not-offered - ")
    assert verdict_line.endswith("(exit code 1).")
    assert next_line.startswith("Next:   gpuPools[0].vmSize: take one such as Standard_NC16as")
    # The one remedy is not printed twice.
    assert page.getvalue().count("take one such as") == 1
    place.offer()
    page = io.StringIO()
    render(place.ask(gpuPools=[T4]), Console(file=page, width=250), "go on")
    lines = page.getvalue().rstrip().splitlines()
    assert lines[-1] == "Next:   go on"
    assert lines[0] == "Preflight of the stack test in eastus: 13 questions ok"
    assert any(line.startswith("Price list: https://localhost") for line in lines)
    assert any(line.startswith("Not included: disks, ") for line in lines)
