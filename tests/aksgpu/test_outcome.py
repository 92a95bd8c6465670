"""What commands come to: four exit codes, a word for each cause, and what crashes is told too."""

import re
import subprocess
import sys
from collections.abc import Callable

import pytest
import typer
from typer.testing import CliRunner

from aksgpu.main import app
from aksgpu.outcome import Cause, Finding, StoppedError, stopped, verdict
from aksgpu.report import exit_code_of
from aksgpu.running import ProgramError
from machine_setup import EngineUnavailableError
from rehearsal.cloud import CloudError
from stack_settings.stack_file import NoStackFileError, StackFileError
from tests.bench import ROOT

COMMANDS = ("rehearse", "rehearse-down", "env", "check", "preflight", "review", "audit")


def test_causes_have_four_exit_codes_and_that_of_an_interruption() -> None:
    assert {cause.exit_code for cause in Cause} == {0, 1, 2, 3, 130}
    assert Cause.INTERRUPTED.exit_code == 130


def test_each_cause_has_a_unique_name() -> None:
    words = [cause.word for cause in Cause]
    # Two causes with one meaning would be one member of the enumeration.
    assert len(set(words)) == len(Cause) == len(Cause.__members__)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", word) for word in words)


@pytest.mark.parametrize(
    ("causes", "comes_to"),
    [
        ([], Cause.FINE),
        ([Cause.FINE, Cause.RULE_NOT_RUN], Cause.RULE_NOT_RUN),
        ([Cause.RULE_NOT_RUN, Cause.GPU_POOL_LOST, Cause.RULE_BROKEN], Cause.RULE_BROKEN),
        ([Cause.RULE_BROKEN, Cause.PREVIEW_FAILED], Cause.PREVIEW_FAILED),
        ([Cause.PREVIEW_FAILED, Cause.AZURE_UNREACHABLE], Cause.AZURE_UNREACHABLE),
        ([Cause.STACK_FILE_INVALID, Cause.INTERRUPTED], Cause.INTERRUPTED),
        ([Cause.QUOTA_TOO_SMALL, Cause.NOT_OFFERED], Cause.NOT_OFFERED),
        ([Cause.UNANSWERED, Cause.QUOTA_TOO_SMALL], Cause.QUOTA_TOO_SMALL),
        ([Cause.POD_PENDING, Cause.NODE_NOT_READY, Cause.POOL_AT_ZERO], Cause.NODE_NOT_READY),
        # The job was asked for: what it met comes first.
        ([Cause.NODE_NOT_READY, Cause.CUDA_MISMATCH], Cause.CUDA_MISMATCH),
    ],
)
def test_the_first_of_several_causes_decides_the_exit_code(
    causes: list[Cause], comes_to: Cause
) -> None:
    assert verdict(causes) is comes_to
    assert verdict([cause for cause in causes if not cause.is_problem], Cause.READY) is Cause.READY


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_the_exit_codes(command: str) -> None:
    help_text = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
    help_text = " ".join(help_text.replace("│", " ").split())
    for code in ("0 no problem", "1 a problem", "2 wrong", "3 could not", "130 interrupted"):
        assert code in help_text


def failing(error: BaseException) -> Callable[[], int]:
    def command() -> int:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (EngineUnavailableError("why"), Cause.ENGINE_UNAVAILABLE),
        (CloudError("why"), Cause.REHEARSAL_UNAVAILABLE),
        (ProgramError("why"), Cause.PROGRAM_FAILED),
        (NoStackFileError("why"), Cause.STACK_MISSING),
        (StackFileError("why"), Cause.STACK_FILE_INVALID),
        (stopped(Cause.CLUSTER_UNREACHABLE, "why", "what to do"), Cause.CLUSTER_UNREACHABLE),
        (
            StoppedError(
                Finding(Cause.UNANSWERED, "why", ""), Finding(Cause.NOT_REGISTERED, "", "")
            ),
            Cause.NOT_REGISTERED,
        ),
        (KeyboardInterrupt(), Cause.INTERRUPTED),
    ],
)
def test_a_known_failure_is_reported_in_one_message(
    error: BaseException, cause: Cause, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code_of(failing(error)) == cause.exit_code
    message = capsys.readouterr().err
    assert f"Result: {cause.word} - " in message
    assert f"(exit code {cause.exit_code})." in message
    assert "why" in message or cause is Cause.INTERRUPTED
    assert "Traceback" not in message


def test_a_crash_is_reported_with_its_traceback_and_is_no_finding(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert exit_code_of(failing(KeyError("a mistake"))) == 3
    message = capsys.readouterr().err
    assert "Traceback" in message
    assert "KeyError: 'a mistake'" in message
    assert "Result: crashed - " in message


def test_wrong_options_have_the_exit_code_of_the_command_line() -> None:
    with pytest.raises(typer.BadParameter):
        exit_code_of(failing(typer.BadParameter("no")))
    assert CliRunner().invoke(app, ["check", "--no-such-option"]).exit_code == 2


def test_the_modules_of_ci_need_no_installation() -> None:
    # No `site`: the standard library and this checkout, as on a runner.
    tools = str(ROOT / "tools")
    look = f"import sys; sys.path.insert(0, {tools!r}); import aksgpu.outcome, aksgpu.running"
    subprocess.run([sys.executable, "-I", "-S", "-c", look], check=True)
