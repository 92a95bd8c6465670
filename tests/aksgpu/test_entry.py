"""The programs that people run are interrupted before they begin, and when they are done."""

import os
import signal
import subprocess
import sys

import pytest

from aksgpu.outcome import Cause
from tests.bench import ROOT

RESULT = "Result: interrupted - the command was interrupted (exit code 130).\n"
# What the two programs begin with, and what they are asked for.
ENTRIES = {
    "aksgpu": "from aksgpu.entry import main; sys.argv[1:] = ['--help']; main()",
    "article": "sys.argv[1:] = ['--help']; runpy.run_module('tests.article', run_name='__main__')",
}

# Interrupts the process at the import that is told, once the program has begun.
AT_AN_IMPORT = """
import os, runpy, signal, sys
import aksgpu.entry
number, left = int(sys.argv[1]), int(sys.argv[2])
signal.signal(signal.SIGHUP, signal.SIG_DFL)
class Count:
    def find_spec(self, *_):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), number)
enter = aksgpu.entry.enter
def counted(load):
    enter(lambda: [sys.meta_path.insert(0, Count()), load()][1])
aksgpu.entry.enter = counted
"""
# Interrupts it on its way out, when nothing of the program is left but what the interpreter does.
ON_THE_WAY_OUT = """
import atexit, os, signal, sys
from aksgpu.entry import enter
signal.signal(signal.SIGHUP, signal.SIG_DFL)
atexit.register(os.kill, os.getpid(), int(sys.argv[1]))
enter(lambda: lambda: None)
"""


def run(script: str, *arguments: str | int) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("entry", "number", "at"),
    [
        ("aksgpu", signal.SIGINT, 1),
        ("aksgpu", signal.SIGTERM, 40),
        ("aksgpu", signal.SIGHUP, 400),
        ("article", signal.SIGINT, 150),
    ],
)
def test_an_interruption_during_imports_has_its_exit_code(entry: str, number: int, at: int) -> None:
    """It was a traceback, out of wherever Python just was."""
    ended = run(AT_AN_IMPORT + ENTRIES[entry], number, at)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", RESULT)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_at_exit_has_its_exit_code(number: int) -> None:
    ended = run(ON_THE_WAY_OUT, number)
    assert (ended.returncode, ended.stderr) == (Cause.INTERRUPTED.exit_code, RESULT)


def test_a_background_process_is_not_interrupted() -> None:
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    ended = run(ignoring + ON_THE_WAY_OUT, signal.SIGINT)
    assert (ended.returncode, ended.stderr) == (0, "")


WRITTEN = """
from aksgpu.entry import enter
enter(lambda: lambda: print("\\xfc\\u2705"))
"""


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "\xfc\u2705\n".encode()),
        ("latin-1", b"\xfc\\u2705\n"),
    ],
)
def test_letters_that_the_locale_lacks_are_escaped(encoding: str, expected: bytes) -> None:
    """A check mark in a report ended the command with a traceback."""
    printed = subprocess.check_output(
        [sys.executable, "-c", WRITTEN], cwd=ROOT, env={**os.environ, "PYTHONIOENCODING": encoding}
    )
    assert printed == expected
