"""The command line: what it takes, what goes where, and what the parts of a review become."""

import io
import json
import signal
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from aksgpu.allowances import Allowance
from aksgpu.main import app
from aksgpu.outcome import Cause
from aksgpu.review import command, reviewing
from aksgpu.review.markdown import as_markdown
from aksgpu.review.model import Review
from aksgpu.review.reviewing import ReviewOptions
from machine_setup import EngineUnavailableError
from tests.aksgpu.review.reviews import review as made
from tests.aksgpu.review.reviews import whole_stack


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["review", *arguments], env={"COLUMNS": "200"})


def options_for(project: Path, *stacks: str) -> ReviewOptions:
    return ReviewOptions(stacks=stacks, project=project, offline=False, base="", allowed=())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ReviewOptions]:
    """What is asked for, in place of a review of it."""
    options: list[ReviewOptions] = []

    def reviewed(asked: ReviewOptions, _: Any) -> Review:
        options.append(asked)
        return made(whole_stack())

    monkeypatch.setattr(command, "review_stacks", reviewed)
    return options


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--stack"),
        (["--stack", "dev", "--allow", "train"], "'train' is not an allowance"),
        (["--stack", "dev", "--allow", "replace:prod/a"], "this stack is not reviewed"),
        (["--stack", "dev", "--offline", "--base", "no-such-commit"], "git has no commit"),
        (["--stack", "dev", "--offline", "--base", "--help"], "git has no commit"),
        (["--stack", "dev", "--project", "/nosuch"], "There is no Pulumi.yaml in /nosuch"),
        (["--stack", "dev", "--json", "/nosuch/x.json"], "cannot be written"),
        (["--stack", "dev", "--json", "-", "--markdown", "-"], "cannot go to the same place"),
    ],
)
def test_wrong_options_are_refused_before_the_review_starts(
    arguments: list[str], message: str, asked: list[ReviewOptions]
) -> None:
    ended = run(*arguments)
    assert ended.exit_code == 2
    assert message in " ".join(ended.output.replace("│", " ").split())
    assert not asked


def test_one_review_writes_every_format_and_prints_to_the_terminal(
    tmp_path: Path, asked: list[ReviewOptions]
) -> None:
    files = {name: tmp_path / name for name in command.FORMATS}
    ended = run(
        *("--stack", "dev", "--stack", "prod", "--offline", "--allow", "delete:dev/a"),
        *(word for name, file in files.items() for word in (f"--{name}", str(file))),
    )

    assert ended.exit_code == Cause.STACK_FILE_INVALID.exit_code
    assert "Result: stack-file-invalid" in ended.stdout
    for name, file in files.items():
        assert file.read_text() == command.FORMATS[name](made(whole_stack()))
    (options,) = asked
    assert (options.stacks, options.allowed, options.offline) == (
        ["dev", "prod"],
        [Allowance("delete", "dev", "a")],
        True,
    )


def test_a_single_format_can_be_printed(asked: list[ReviewOptions]) -> None:
    assert json.loads(run("--stack", "dev", "--json", "-").stdout)["version"] == 2
    assert len(asked) == 1


def all_verdicts(review: Review) -> list[Cause]:
    return [stack.verdict for stack in review.stacks]


def test_a_review_without_an_engine_writes_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(_: Any) -> None:
        raise EngineUnavailableError("None is to be had.")

    monkeypatch.setattr(reviewing, "ensure_engine", unavailable)
    review = reviewing.review_stacks(options_for(tmp_path, "a", "b", "a"), lambda _: None)
    assert all_verdicts(review) == [Cause.ENGINE_UNAVAILABLE] * 2


@pytest.mark.parametrize(
    ("host", "cloud"), [("localhost:6443", "the rehearsal cloud"), ("", "Azure")]
)
def test_a_review_names_its_cloud_in_its_first_and_its_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, cloud: str
) -> None:
    """In a shell of `aksgpu env`, no word said that the stack was the rehearsed one."""

    def reviewed(stack: Any, *_: Any) -> None:
        stack.pools = []

    monkeypatch.setenv("ARM_METADATA_HOSTNAME", host)
    monkeypatch.setattr(reviewing, "ensure_engine", lambda _: None)
    monkeypatch.setattr(reviewing, "_review", reviewed)
    review = reviewing.review_stacks(options_for(tmp_path, "a"), lambda _: None)
    page = io.StringIO()
    command.print_report(review, Console(file=page, width=200))
    first, *_, last = page.getvalue().splitlines()
    assert first == f"### ✅ Stack a on {cloud}: fine"
    assert last == f"Result: fine - on {cloud}, no problem was found (exit code 0)."
    assert f"Reviewed on {cloud}, compared with what each stack has now." in as_markdown(review)


def test_stacks_reviewed_before_an_interruption_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_only(stack: Any, *_: Any) -> None:
        if stack.stack != "a":
            raise KeyboardInterrupt
        stack.pools = []

    monkeypatch.setattr(reviewing, "ensure_engine", lambda _: None)
    monkeypatch.setattr(reviewing, "_review", first_only)
    review = reviewing.review_stacks(options_for(tmp_path, "a", "b", "c"), lambda _: None)
    assert all_verdicts(review) == [Cause.FINE, Cause.INTERRUPTED, Cause.INTERRUPTED]


def test_an_internal_error_for_one_stack_is_reported_and_does_not_affect_other_stacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken_of_b(stack: Any, *_: Any) -> None:
        if stack.stack == "b":
            raise KeyError("password: hunter2-x")
        stack.pools = []

    monkeypatch.setenv("ARM_CLIENT_SECRET", "hunter2-x")
    monkeypatch.setattr(reviewing, "ensure_engine", lambda _: None)
    monkeypatch.setattr(reviewing, "_review", mistaken_of_b)
    review = reviewing.review_stacks(options_for(tmp_path, "a", "b", "c"), lambda _: None)
    assert all_verdicts(review) == [Cause.FINE, Cause.PREVIEW_FAILED, Cause.FINE]
    (problem,) = review.stacks[1].problems
    assert "KeyError" in problem.what
    assert "hunter2" not in problem.what


def test_an_invalid_stack_name_does_not_affect_other_stacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The review itself crashed on a name that is too long for a file's."""

    def reviewed(stack: Any, *_: Any) -> None:
        stack.pools = []

    monkeypatch.setattr(reviewing, "ensure_engine", lambda _: None)
    monkeypatch.setattr(reviewing, "_review", reviewed)
    review = reviewing.review_stacks(options_for(tmp_path, "a" * 300, "b"), lambda _: None)
    assert all_verdicts(review) == [Cause.STACK_MISSING, Cause.FINE]


def test_signal_handlers_are_restored(asked: list[ReviewOptions]) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        run("--stack", "dev")
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
