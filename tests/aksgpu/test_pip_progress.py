"""What pip prints is one line of progress; where pip fails, the end of it is printed."""

import sys
from pathlib import Path

import pytest

from aksgpu.running import Program
from tests.bench import ROOT


@pytest.mark.parametrize(("code", "is_shown"), [(0, False), (1, True)])
def test_a_failure_is_shown_with_the_end_of_what_pip_printed(
    tmp_path: Path, code: int, is_shown: bool
) -> None:
    """75 s of `pip --quiet` looked like a command that hangs."""
    pip = tmp_path / "pip"
    pip.write_text(f"#!/bin/sh\necho ERROR: no space left\necho Collecting attrs\nexit {code}\n")
    pip.chmod(0o755)
    # As before anything is installed.
    python = Program((sys.executable, "-S", "-m", "aksgpu.pip_progress"), ROOT / "tools")
    ended = python.attempt(str(pip), "install")
    assert ended.code == code
    assert "Making .venv: 0 s, Collecting attrs\n" in ended.err
    assert ended.err.endswith("\nERROR: no space left\nCollecting attrs\n") is is_shown
