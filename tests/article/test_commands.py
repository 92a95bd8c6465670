"""Commands of the article are run to their end, or until they have said their word."""

import os
import sys
from pathlib import Path

import pytest

from aksgpu.running import ProgramError
from rehearsal.cloud import Cloud
from tests.article import commands
from tests.article.by_hand import sign_in
from tests.article.commands import Runner, wait_until


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def runner(tmp_path: Path, lines: list[str]) -> Runner:
    return Runner(tmp_path, {"WORD": "from its environment"}, lines.append)


def python(program: str) -> tuple[str, ...]:
    return (sys.executable, "-u", "-c", program)


def test_a_runner_returns_the_output_and_reports_the_command(
    runner: Runner, lines: list[str]
) -> None:
    output = runner.run(*python("import os; print(os.environ['WORD'])"))

    assert output == "from its environment\n"
    assert lines[0].startswith("$ ")
    kept = (runner.folder / "commands.txt").read_text()
    assert "from its environment\n(exit code 0, " in kept


def test_quiet_commands_are_neither_reported_nor_recorded(runner: Runner, lines: list[str]) -> None:
    assert runner.read(*python("print('a secret')")) == "a secret\n"

    assert lines == []
    assert not (runner.folder / "commands.txt").exists()


def test_a_failed_command_is_reported_with_the_end_of_its_output(runner: Runner) -> None:
    with pytest.raises(ProgramError, match="exit code 3: it was the reason"):
        runner.run(*python("import sys; sys.stderr.write('it was the reason'); sys.exit(3)"))


def test_a_command_that_may_fail_is_no_error(runner: Runner) -> None:
    assert runner.attempt(*python("raise SystemExit(3)")).code == 3


def test_a_watch_ends_at_the_expected_output(runner: Runner) -> None:
    program = "import os, time; print(os.getpid()); print('0/1'); print('1/1'); time.sleep(600)"

    output = runner.run(*python(program), until="1/1")

    assert output.endswith("0/1\n1/1\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int(output.split()[0]), 0)


def test_a_watch_that_ends_without_the_expected_output_fails(runner: Runner) -> None:
    with pytest.raises(ProgramError):
        runner.run(*python("print('0/1')"), until="1/1")


def test_a_command_that_takes_too_long_is_ended(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "MOST_SECONDS", 0.3)

    with pytest.raises(ProgramError):
        runner.run(*python("import time; time.sleep(600)"))


def test_wait_until_returns_when_the_condition_holds_and_fails_at_its_timeout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = iter([False, False, True])
    wait_until("it holds", lambda: next(answers))

    monkeypatch.setattr(commands, "WAIT_SECONDS", 0.2)
    with pytest.raises(ProgramError, match="in vain until it holds"):
        wait_until("it holds", lambda: False)


def test_nothing_of_the_users_home_comes_into_the_article(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """az sent the user's ~/.ssh/id_rsa.pub, printed as a difference that nobody could explain."""
    (tmp_path / "mine" / ".ssh").mkdir(parents=True)
    (tmp_path / "mine" / ".ssh" / "id_rsa.pub").write_text("ssh-rsa AAAA")
    monkeypatch.setenv("HOME", str(tmp_path / "mine"))
    az = tmp_path / "az"
    az.write_text("#!/bin/sh\nls ~/.ssh 2>/dev/null; true\n")
    az.chmod(0o755)
    home = tmp_path / "home"
    given = ("tenant", "subscription", "id", "secret")
    cloud = Cloud(home, "https://localhost:1", 1, *given, home / "ca", home / "log", 1.0)

    way = sign_in(cloud, tmp_path, tmp_path, lambda _: None)

    assert not way.runner.read("az")
