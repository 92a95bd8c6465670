"""The policy pack that a rehearsal was given: what the commands print afterwards still has it."""

import io
import os
import shlex
from pathlib import Path

import pytest

from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROJECT_VARIABLE, Stage, rehearse_line
from aksgpu.rehearse import command, state
from aksgpu.rehearse.planning import Plan
from aksgpu.rehearse.state import State
from aksgpu.report import ReportConsole
from aksgpu.review.preview_result import PreviewResult
from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.aksgpu.review.reviews import policy, seen
from tests.bench import ROOT

PACK = ROOT / "policies"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another team's program without a pack, rehearsed by an engine that refuses its pool."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: theirs\nruntime: python\n")
    (folder / "Pulumi.test.yaml").write_text("config: {}\n")
    monkeypatch.setenv(PROJECT_VARIABLE, str(folder))
    monkeypatch.setattr(command, "set_stage", staged)
    monkeypatch.setattr(state, "read_or_init", lambda *_: State())
    monkeypatch.setattr(state, "read", lambda *_: State())
    monkeypatch.setattr(command, "plan", lambda _, stack, **__: Plan(stack, refused()))
    return folder


def staged(_: object, pack: Path | None = None) -> Stage:
    program = Path(os.environ[PROJECT_VARIABLE])
    project = Project(program, program / ".rehearsal", pack, keeps_runtime=True)
    project.write()
    given = ("tenant", "subscription", "id", "secret")
    cloud = Cloud(
        project.home, "https://localhost:1", 1, *given, project.home / "ca", project.home / "log", 1
    )
    return Stage(Engine(Path("/pulumi"), "3", "build"), cloud, project)


def refused() -> PreviewResult:
    return seen(policy("This pool has 4 GiB.", "t4", rule="gpu-pool-minimum-size", pack="ours"))


def rehearse(pack: Path | None) -> str:
    out = io.StringIO()
    assert command.rehearse("test", ReportConsole(file=out, width=100), pack) == 1
    return out.getvalue()


def test_the_command_printed_after_a_refusal_has_the_pack_that_refused(program: Path) -> None:
    """It was printed without the pack, and created what the pack had refused."""
    printed = rehearse(PACK)
    line = next(line for line in printed.splitlines() if "aksgpu rehearse" in line)
    assert shlex.split(line)[1:] == [
        *("rehearse", "--policy-pack", str(PACK)),
        *("--project", str(program), "--stack", "test"),
    ]
    # Other stacks were given none, and this one is not any more once it was rehearsed without.
    assert "--policy-pack" not in rehearse_line("other")
    assert "--policy-pack" not in rehearse(None)


def test_the_shell_has_the_pack_of_the_last_rehearsal(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The shell was said to have the policy pack, and its variable was empty."""
    rehearse(PACK)
    capsys.readouterr()
    command.print_environment("test")
    printed = capsys.readouterr()
    assert f"export PULUMI_OPTION_POLICY_PACK={PACK}\n" in printed.out
    assert "with the policy pack" in " ".join(printed.err.split())

    rehearse(None)
    capsys.readouterr()
    command.print_environment("test")
    printed = capsys.readouterr()
    assert "export PULUMI_OPTION_POLICY_PACK=''\n" in printed.out
    assert "policy pack" not in printed.err
