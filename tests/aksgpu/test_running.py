"""Programs are run by one rule: nothing is signalled twice, and nothing is left behind."""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aksgpu import running
from aksgpu.running import Program, ProgramError, terminated_as_interrupted
from tests.processes import command_lines
from tests.waiting import PATIENCE, until

# Notes each signal that it gets. It ends a while after the first one, so that a second one would be
# noted too; or, where it is stubborn, it goes on.
CHILD = """
import pathlib, signal, sys, time
file, stubborn = pathlib.Path(sys.argv[1]), len(sys.argv) > 2
def note(number, _):
    with file.open("a") as notes:
        notes.write(signal.Signals(number).name + "\\n")
    if not stubborn:
        time.sleep(0.5)
        sys.exit(7)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, note)
file.touch()
print("ready", flush=True)
while True:
    time.sleep(0.05)
"""

# Runs the child as the commands do, and tells how it went.
PARENT = """
import pathlib, sys
from aksgpu.running import Program, terminated_as_interrupted
with terminated_as_interrupted():
    try:
        print("code", Program((sys.executable, "-c"), pathlib.Path.cwd()).watch(*sys.argv[1:]))
    except KeyboardInterrupt:
        print("interrupted")
"""

Started = Iterator["subprocess.Popen[str]"]
Over = Callable[[Callable[[], object]], None]
# A time limit that nothing comes to by itself, and a grace period that is over soon.
LIMIT, GRACE = 77.0, 0.3


@pytest.fixture(autouse=True)
def hangups_count() -> Iterator[None]:
    """The tests may run under nohup, and what they start would ignore SIGHUP as they do."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "signals-of-the-child"


def start(notes: Path, *more: str) -> "subprocess.Popen[str]":
    """A parent with its child at work, in a session of its own as a terminal has one."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD, str(notes), *more],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until(notes.exists, "the child is at work")
    return parent


def end_of(parent: "subprocess.Popen[str]") -> str:
    printed, _ = parent.communicate(timeout=PATIENCE)
    return printed.splitlines()[-1]


def is_left(notes: Path) -> bool:
    return bool(command_lines(str(notes)))


@pytest.mark.parametrize(
    ("number", "to_the_group"),
    [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGHUP, True)],
)
def test_a_child_gets_one_sigint_and_is_waited_for(
    notes: Path, number: signal.Signals, *, to_the_group: bool
) -> None:
    parent = start(notes)
    (os.killpg if to_the_group else os.kill)(parent.pid, number)

    assert end_of(parent) == "interrupted"
    assert notes.read_text().splitlines() == ["SIGINT"]
    assert not is_left(notes)


def test_a_second_request_kills_the_process(notes: Path) -> None:
    parent = start(notes, "stubborn")
    os.killpg(parent.pid, signal.SIGINT)
    until(notes.read_text, "the child has its signal")
    assert parent.poll() is None
    os.killpg(parent.pid, signal.SIGINT)

    assert end_of(parent) == "interrupted"
    assert notes.read_text().splitlines() == ["SIGINT"]
    assert not is_left(notes)


@pytest.fixture
def over(monkeypatch: pytest.MonkeyPatch) -> Over:
    """Lets the time limit of a program be over once something has happened, and not before."""
    communicate = subprocess.Popen.communicate

    def end_once(happened: Callable[[], object]) -> None:
        def limited(process: Any, given: Any = None, timeout: float | None = None) -> Any:
            if timeout != LIMIT:
                return communicate(process, given, timeout)
            until(happened, "the program is at work")
            raise subprocess.TimeoutExpired(process.args, LIMIT)

        monkeypatch.setattr(subprocess.Popen, "communicate", limited)

    return end_once


def child(notes: Path) -> Program:
    return Program((sys.executable, "-c", CHILD, str(notes)), notes.parent)


def test_a_time_limit_ends_a_child_as_an_interruption_does(notes: Path, over: Over) -> None:
    over(notes.exists)
    with pytest.raises(ProgramError, match=r"did not end in 77 s"):
        child(notes).attempt(seconds=LIMIT)

    assert notes.read_text().splitlines() == ["SIGINT"]
    assert not is_left(notes)


def test_a_process_is_killed_after_its_grace_period(
    notes: Path, monkeypatch: pytest.MonkeyPatch, over: Over
) -> None:
    monkeypatch.setattr(running, "GRACE_SECONDS", GRACE)
    over(notes.exists)
    with pytest.raises(ProgramError, match="did not end in"):
        child(notes).attempt("stubborn", seconds=LIMIT)

    assert notes.read_text().splitlines() == ["SIGINT"]
    assert not is_left(notes)


def test_a_watched_child_is_not_killed_after_an_interruption(notes: Path) -> None:
    """An update that was interrupted was killed after 30 s, with operations under way in Azure."""
    hasty = PARENT.replace("with term", "running.GRACE_SECONDS = 0.1\nwith term")
    slow = CHILD.replace("sys.exit(7)", "file.write_text('ended by itself'); sys.exit(7)")
    parent = subprocess.Popen(
        [sys.executable, "-c", f"from aksgpu import running\n{hasty}", slow, str(notes)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until(notes.exists, "the child is at work")
    os.kill(parent.pid, signal.SIGINT)

    assert end_of(parent) == "interrupted"
    assert notes.read_text() == "ended by itself"


def test_a_program_can_print_more_than_a_pipe_holds_while_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, over: Over
) -> None:
    ready, ended = tmp_path / "ready", tmp_path / "ended by itself"
    talks = (
        "import pathlib, signal, sys, time\n"
        "def talk(*_):\n"
        f"    print('x' * 10**6, flush=True); pathlib.Path({str(ended)!r}).touch(); sys.exit(5)\n"
        "signal.signal(signal.SIGINT, talk)\n"
        f"pathlib.Path({str(ready)!r}).touch()\n"
        "time.sleep(600)"
    )
    monkeypatch.setattr(running, "GRACE_SECONDS", PATIENCE)
    over(ready.exists)
    with pytest.raises(ProgramError, match="did not end in"):
        Program((sys.executable, "-c", talks), tmp_path).attempt(seconds=LIMIT)
    # Nobody has killed it.
    assert ended.exists()


def test_processes_of_a_child_end_with_it(
    tmp_path: Path, over: Over, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"{tmp_path}-grandchild"
    start_and_go = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', sys.argv[1]])\n"
        "time.sleep(600)"
    )
    program = Program((sys.executable, "-c", start_and_go), tmp_path)
    over(lambda: len(command_lines(mark)) > 1)
    # The grandchild holds the pipe, and the child has ended at once: nobody waits for the pipe.
    monkeypatch.setattr(running, "GRACE_SECONDS", math.inf)
    with pytest.raises(ProgramError):
        program.attempt(mark, seconds=LIMIT)

    until(lambda: not command_lines(mark), "the grandchild is gone")


def test_helpers_of_a_program_that_ended_well_go_on(tmp_path: Path) -> None:
    """`az` sends its telemetry, and git tidies up, when the command has long ended."""
    later = tmp_path / "later"
    helper = f"(sleep 0.3; touch {later}) >/dev/null 2>&1 & echo ok"
    assert Program(("sh", "-c", helper), tmp_path).read() == "ok\n"
    until(later.exists, "the helper has done its work")


def python(tmp_path: Path, text: str) -> Program:
    return Program((sys.executable, "-c", text), tmp_path, {"WORD": "from its environment"})


def test_read_returns_the_output(tmp_path: Path) -> None:
    printed = python(tmp_path, "import os; print(os.environ['WORD'], os.getcwd())").read()
    assert printed == f"from its environment {tmp_path}\n"
    assert python(tmp_path, "print('{\"a\": [1]}')").read_json() == {"a": [1]}
    assert python(tmp_path, "raise SystemExit(3)").watch() == 3


def test_a_failed_program_is_reported_with_the_end_of_its_output(tmp_path: Path) -> None:
    program = python(tmp_path, "import sys; sys.stderr.write('it was the reason'); sys.exit(3)")
    with pytest.raises(ProgramError, match="exit code 3: it was the reason"):
        program.read()
    assert program.attempt().err == "it was the reason"


def test_a_program_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"`no-such-program --help` cannot be started: No such"):
        Program(("no-such-program",), tmp_path).read("--help")


def test_nohup_is_respected() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with terminated_as_interrupted():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_signal_handlers_are_restored() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    with terminated_as_interrupted(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before
