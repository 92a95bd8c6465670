"""The command itself: what it prints where, and its exit code."""

import io
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from aksgpu.outcome import Cause
from aksgpu.preflight import command
from aksgpu.preflight.report import render
from aksgpu.preflight.stack_file import read
from aksgpu.review.costs import PriceSource, costs
from aksgpu.review.model import Costs
from tests.aksgpu.preflight.conftest import T4, Place
from tests.aksgpu.review.reviews import CLUSTER, seen, step
from tests.bench import AKSGPU, ROOT
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Ended:
    """What the command came to, and what it printed."""

    code: int
    printed: str
    progress: str

    @property
    def cause(self) -> Cause:
        """The cause of a JSON document."""
        (cause,) = (one for one in Cause if one.word == json.loads(self.printed)["cause"])
        assert cause.exit_code == self.code
        return cause


Run = Callable[..., Ended]


@contextmanager
def started(folder: Path, *arguments: str, **environment: str) -> Iterator["subprocess.Popen[str]"]:
    """The command as a process of its own."""
    process = subprocess.Popen(
        [AKSGPU, "preflight", *arguments],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def end(process: "subprocess.Popen[str]") -> Ended:
    output, progress = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in progress
    return Ended(process.returncode, output, progress)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command on the stack test in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    # Nobody who works here is signed in to Azure by accident.
    for name in [name for name in os.environ if name.startswith("ARM_")]:
        monkeypatch.delenv(name)

    def preflight(*, as_json: bool = True, **environment: str) -> Ended:
        with monkeypatch.context() as own:
            for name, value in environment.items():
                own.setenv(name, value)
            code = command.preflight("test", None, as_json=as_json)
        ended = Ended(code, *capsys.readouterr())
        assert "Traceback" not in ended.progress
        return ended

    return preflight


def test_mistakes_in_a_stack_file_are_reported_as_json(run: Run, tmp_path: Path) -> None:
    config = {"aks-gpu:location": "East US", "aks-gpu:gpuPools": [{"name": "a-b"}]}
    (tmp_path / "Pulumi.test.yaml").write_text(yaml.safe_dump({"config": config}))
    ended = run(as_json=False)
    assert ended.code == Cause.STACK_FILE_INVALID.exit_code
    for key in ("location", "gpuPools[0].name", "gpuPools[0].vmSize"):
        assert f"{key}: " in ended.printed
    assert "Result: stack-file-invalid - " in ended.printed
    assert ended.printed.rstrip().splitlines()[-1] == "Next:   correct the stack file"
    ended = run()
    assert ended.cause is Cause.STACK_FILE_INVALID
    assert len(json.loads(ended.printed)["rows"]) == 3


def test_a_name_that_pulumi_refuses_is_refused_before_a_rehearsal_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With such a stack file, `pulumi stack init` failed after the whole preflight."""

    def start(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(command, "PROGRAM", tmp_path)
    monkeypatch.setattr(command, "set_stage", start)
    for name in ("a b", "x" * 101):
        (tmp_path / f"Pulumi.{name}.yaml").write_text("config: {}\n")
        code = command.preflight(name, lambda *_: [], as_json=True)
        ended = Ended(code, *capsys.readouterr())
        assert ended.cause is Cause.STACK_MISSING
        (row,) = json.loads(ended.printed)["rows"]
        assert row["what"].startswith("Pulumi does not allow the stack name")


def test_the_credentials_come_from_the_environment(run: Run, place: Place, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.test.yaml").write_text("config: {}\n")
    known = place.azure.cloud.environment()
    with started(
        tmp_path, "--json", "--stack=test", **known | {"ARM_CLIENT_SECRET": "so-secret-and-wrong"}
    ) as asks:
        ended = end(asks)
    assert ended.cause is Cause.CREDENTIALS_REFUSED
    assert "so-secret" not in ended.printed + ended.progress
    ended = run(ARM_METADATA_HOSTNAME="localhost:9", ARM_SUBSCRIPTION_ID="s")
    assert ended.cause is Cause.AZURE_UNREACHABLE


def test_a_shell_of_a_rehearsal_is_told_that_azure_was_not_asked(
    place: Place, tmp_path: Path
) -> None:
    """It read: nothing was found that Azure would refuse. Next: pulumi up."""
    config = {"aks-gpu:gpuPools": [T4]}
    (tmp_path / "Pulumi.test.yaml").write_text(yaml.safe_dump({"config": config}))
    environment = place.azure.cloud.environment()
    # Each a process of its own: one process reads the certificates that it trusts only once.
    with started(tmp_path, "--stack=test", COLUMNS="200", **environment) as asks:
        first, *_, verdict_line, next_line = end(asks).printed.splitlines()
    assert first.startswith("Preflight of the stack test in eastus on the rehearsal cloud: ")
    assert verdict_line.startswith("Result: ready - on the rehearsal cloud, nothing was found ")
    assert next_line == "Next:   make rehearse STACK=test"
    with started(tmp_path, "--json", "--stack=test", **environment) as asks:
        assert json.loads(end(asks).printed)["cloud"] == "the rehearsal cloud"


def test_a_rehearsal_is_asked_past_the_users_proxy(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    result = place.ask(gpuPools=[T4])
    assert result.exit_code == 0
    assert result.costs is not None
    cluster = {"resourceGroupName": "g", "resourceName": "c", "location": "eastus"}
    pools = [{"name": "gpu", "vmSize": T4["vmSize"], "count": 1}]
    made = step("create", "c", None, {**cluster, "agentPoolProfiles": pools}, kind=CLUSTER)
    source = PriceSource(place.access.prices or "", authorities=place.access.authorities)
    assert isinstance(costs(list(seen(made).steps.values()), source), Costs)


def test_an_interruption_is_reported_as_its_own_cause(place: Place, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.test.yaml").write_text("config: {}\n")
    # Longer than this test waits: what waits for the answer has not been interrupted.
    place.fault({"path": "/skus", "delay": 2 * PATIENCE})
    with started(tmp_path, "--json", "--stack=test", **place.azure.cloud.environment()) as process:
        until(lambda: place.azure.requests("/usages"), "Azure is asked")
        process.send_signal(signal.SIGINT)
        assert end(process).cause is Cause.INTERRUPTED


def test_the_report_names_the_problem_and_one_next_step(place: Place) -> None:
    place.offer(sizes=[{"size": T4["vmSize"], "is": "absent"}])
    result = place.ask(gpuPools=[T4])
    page = io.StringIO()
    render(result, Console(file=page, width=250), "go on")
    *_, verdict_line, next_line = page.getvalue().rstrip().splitlines()
    assert verdict_line.startswith("Result: not-offered - ")
    assert verdict_line.endswith("(exit code 1).")
    assert next_line.startswith("Next:   gpuPools[0].vmSize: use a size such as Standard_NC16as")
    # The one remedy is not printed twice.
    assert page.getvalue().count("use a size such as") == 1
    place.offer()
    page = io.StringIO()
    render(place.ask(gpuPools=[T4]), Console(file=page, width=250), "go on")
    lines = page.getvalue().rstrip().splitlines()
    assert lines[-1] == "Next:   go on"
    assert lines[0] == (
        "Preflight of the stack test in eastus on the rehearsal cloud: 11 questions ok"
    )
    assert any(line.startswith("Price list: https://localhost") for line in lines)
    assert any(line.startswith("Not included: disks, ") for line in lines)


@pytest.mark.parametrize(
    ("is_rehearsal", "answer", "cause"),
    [(True, "warning", None), (False, "problem", Cause.STACK_FILE_INVALID)],
)
def test_a_placeholder_stops_azure_and_not_a_rehearsal(
    is_rehearsal: bool, answer: str, cause: Cause | None
) -> None:
    (row,) = command.placeholder_rows(read(ROOT, "prod"), is_rehearsal=is_rehearsal)
    assert (row.answer, row.cause) == (answer, cause)
    assert row.key == "cluster.entra.adminGroupObjectIds[0]"
    assert row.key in row.what
