"""The proof from its first question to the removal of all, with the rehearsal in Azure's place."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from azure_proof import comparing, removal
from azure_proof.steps import EXTRA, STEPS, TAG
from machine_setup import ensure_kubernetes
from rehearsal import cloud as rehearsals
from rehearsal.cloud import Cloud
from rehearsal.files import read_json
from tests.bench import ROOT
from tests.faults import Faults
from tests.processes import command_lines, is_running
from tests.rehearsal.conftest import Azure
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

GROUPS = "?api-version=2025-04-01"
QUOTA = {"name": "Standard NCASv3_T4 Family", "location": "eastus2", "limit": 12}
NO_QUOTA = {"name": QUOTA["name"], "location": "eastus", "limit": 4}

AT_ONCE = """
import sys
from pathlib import Path
from azure_proof import removal

removal.AGAIN_SECONDS = 0.1
removal.main(Path(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud with room for the proof in one region, and too little in the first one."""
    home = tmp_path_factory.mktemp("proof-cloud")
    started = rehearsals.start(home, time_scale=0.005, kubernetes=ensure_kubernetes().folder)
    # A list of groups has pages, of which the first one has no group of a proof.
    started.offer({"limits": [NO_QUOTA, QUOTA], "pageSize": 1})
    body = {"location": "eastus"}
    assert Azure(started).call("PUT", f"/resourceGroups/first{GROUPS}", body).status == 201
    yield started
    rehearsals.stop(home)


@pytest.fixture
def shell(azure: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of somebody who is signed in, and has kubectl."""
    path = os.pathsep.join([str(ensure_kubernetes().folder), azure.on_path(os.environ["PATH"])])
    variables = {**azure.environment(), "PATH": path}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AKS_GPU_PRICE_LIST", f"{azure.url}/api/retail/prices")


def command(what: str, folder: Path, *options: str) -> list[str]:
    arguments = [what, "--yes", "--folder", str(folder), *options]
    return [sys.executable, "-m", "azure_proof", *arguments]


def run(what: str, folder: Path, *options: str) -> tuple[int, str]:
    ended = subprocess.run(
        command(what, folder, *options),
        cwd=ROOT / "tools",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    return ended.returncode, ended.stdout


def kill_after(step: str, folder: Path, *options: str) -> None:
    """Starts a proof, and kills it as soon as it has done a step."""
    begin = command("prove", folder, *options)
    process = subprocess.Popen(begin, cwd=ROOT / "tools", stderr=subprocess.DEVNULL)
    try:
        until(lambda: step in done(folder), f"the step {step} is done")
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)


def done(folder: Path) -> list[str]:
    record = read_json(folder / removal.RECORD) or {"steps": []}
    return [step["name"] for step in record["steps"]]


def group(azure: Cloud, name: str) -> int:
    return Azure(azure).call("GET", f"/resourceGroups/{name}{GROUPS}").status


# It takes 170 seconds alone, and more than 300 beside other work: a whole proof, twice begun.
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("shell", "engine")
def test_a_proof_that_is_killed_goes_on_and_its_evidence_shows_what_azure_did_otherwise(
    azure: Cloud, tmp_path: Path
) -> None:
    refused = {"code": "BadRequest", "message": "Custom headers are not for you."}
    fault = {"method": "PUT", "path": "/agentPools/header$", "status": 400}
    Faults(azure.home).script({**fault, "body": {"error": refused}})
    kill_after("up", tmp_path, *(part for name in EXTRA for part in ("--with", name)))
    name = (read_json(tmp_path / removal.RECORD) or {})["name"]
    (waiting,) = command_lines(f"azure_proof.removal {tmp_path}")
    before = read_json(tmp_path / removal.RECORD)

    code, printed = run("prove", tmp_path)
    assert code == 1, printed
    assert read_json(tmp_path / removal.RECORD) is None

    evidence = json.loads((tmp_path / "evidence.json").read_text())
    names = [step["name"] for step in evidence["steps"]]
    assert names == [step.name for step in STEPS]
    assert evidence["steps"][:2] == (before or {})["steps"][:2]
    otherwise = [step for step in evidence["steps"] if step["expected"] != step["actual"]]
    assert [step["name"] for step in otherwise] == ["header"], otherwise
    assert "BadRequest" in otherwise[0]["actual"]
    assert evidence["choice"]["location"] == "eastus2"
    assert group(azure, name) == 404
    until(lambda: not is_running(waiting), "nothing waits any more to remove the group")

    for file in ("evidence.json", "evidence.md"):
        text = (tmp_path / file).read_text()
        for private in (azure.subscription, azure.tenant, azure.client_id, azure.client_secret):
            assert private not in text
        assert name not in text

    # Without the extra steps, which it then misses.
    rehearsed = comparing.replay({**evidence, "extra": []}, tmp_path / "again")
    found = list(comparing.differences(evidence, rehearsed))
    left_out = {step.title for step in STEPS if step.is_extra}
    assert {each.step for each in found if each.what == "the step"} == left_out
    others = [each for each in found if each.step not in left_out]
    assert {each.step for each in others} == {"a pool with a custom header"}, "\n".join(
        f"{each.step}: {each.what}: {each.azure}; rehearsed: {each.rehearsal}" for each in others
    )


@pytest.mark.usefixtures("shell", "engine")
def test_what_a_killed_proof_has_left_is_found_and_removed(azure: Cloud, tmp_path: Path) -> None:
    kill_after("up", tmp_path)
    record = read_json(tmp_path / removal.RECORD) or {}
    assert group(azure, record["name"]) == 200

    code, printed = run("clean", tmp_path)

    assert code == 0, printed
    assert record["name"] in printed
    assert group(azure, record["name"]) == 404
    assert "No proof has left anything" in run("clean", tmp_path)[1]
    until(lambda: not command_lines(f"azure_proof.removal {tmp_path}"), "nothing waits any more")


@pytest.mark.usefixtures("shell")
def test_at_its_deadline_everything_is_removed_whatever_becomes_of_the_proof(
    azure: Cloud, tmp_path: Path
) -> None:
    """The first attempt fails, as it does without a connection; the next one is a minute later."""
    past = "2026-01-01T00:00:00+00:00"
    body: dict[str, Any] = {"location": "eastus", "tags": {TAG: past}}
    client = Azure(azure)
    for name in ("of-the-proof", "of-somebody-else"):
        assert client.call("PUT", f"/resourceGroups/{name}{GROUPS}", body).status == 201
    (tmp_path / removal.RECORD).write_text(json.dumps({"name": "of-the-proof", "deadline": past}))
    fault = {"method": "DELETE", "path": "/resourceGroups/of-the-proof$", "times": 1}
    Faults(azure.home).script({**fault, "status": 403, "body": {"error": {"code": "No"}}})

    # In a process of its own: which certificates are trusted is decided once in a process.
    subprocess.run(
        [sys.executable, "-c", AT_ONCE, tmp_path], cwd=ROOT / "tools", check=True, timeout=PATIENCE
    )

    assert group(azure, "of-the-proof") == 404
    assert group(azure, "of-somebody-else") == 200
    assert read_json(tmp_path / removal.RECORD) is None


@pytest.mark.usefixtures("shell", "engine")
def test_without_quota_anywhere_it_says_what_to_ask_for_and_creates_nothing(
    azure: Cloud, tmp_path: Path
) -> None:
    code, printed = run("prove", tmp_path, "--location", "eastus", "--size", "Standard_NC4as_T4_v3")
    assert code == 1
    assert "request a limit of 8" in printed
    assert read_json(tmp_path / removal.RECORD) is None
