"""Commands of the article are run to their end, or until they have said their word."""

import os
import sys
from pathlib import Path

import pytest

from acceptance import commands
from acceptance.commands import Runner, wait_until
from aksgpu.running import ProgramError


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def runner(tmp_path: Path, lines: list[str]) -> Runner:
    return Runner(tmp_path, {"WORD": "from its environment"}, lines.append)


def python(program: str) -> tuple[str, ...]:
    return (sys.executable, "-u", "-c", program)


def test_it_gives_what_the_command_printed_and_tells_the_command(
    runner: Runner, lines: list[str]
) -> None:
    said = runner.tell(*python("import os; print(os.environ['WORD'])"))

    assert said == "from its environment\n"
    assert lines[0].startswith("$ ")
    kept = (runner.folder / "commands.txt").read_text()
    assert "from its environment\n(exit code 0, " in kept


def test_what_is_asked_is_neither_told_nor_kept(runner: Runner, lines: list[str]) -> None:
    assert runner.ask(*python("print('a secret')")) == "a secret\n"

    assert lines == []
    assert not (runner.folder / "commands.txt").exists()


def test_a_command_that_fails_is_told_with_its_last_words(runner: Runner) -> None:
    with pytest.raises(ProgramError, match="exit code 3: it was the reason"):
        runner.tell(*python("import sys; sys.stderr.write('it was the reason'); sys.exit(3)"))


def test_a_command_that_may_fail_is_no_error(runner: Runner) -> None:
    assert runner.attempt(*python("raise SystemExit(3)")).code == 3


def test_a_watch_is_ended_once_it_has_said_the_word(runner: Runner) -> None:
    program = "import os, time; print(os.getpid()); print('0/1'); print('1/1'); time.sleep(600)"

    said = runner.tell(*python(program), until="1/1")

    assert said.endswith("0/1\n1/1\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int(said.split()[0]), 0)


def test_a_watch_that_ends_without_the_word_has_failed(runner: Runner) -> None:
    with pytest.raises(ProgramError):
        runner.tell(*python("print('0/1')"), until="1/1")


def test_a_command_that_takes_too_long_is_ended(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "MOST_SECONDS", 0.3)

    with pytest.raises(ProgramError):
        runner.tell(*python("import time; time.sleep(600)"))


def test_waiting_ends_when_it_holds_and_gives_up_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = iter([False, False, True])
    wait_until("it holds", lambda: next(answers))

    monkeypatch.setattr(commands, "WAIT_SECONDS", 0.2)
    with pytest.raises(ProgramError, match="it is not so that it holds"):
        wait_until("it holds", lambda: False)
