"""What pip prints is one line of progress; where pip fails, the end of it is printed."""

import subprocess
import sys
from pathlib import Path

import pytest

from aksgpu.pip_progress import Progress
from tests.bench import ROOT

PRINTED = (
    "Ignoring colorama: markers 'sys_platform == \"win32\"' don't match your environment",
    "Collecting aiohttp==3.12.0 (from -r requirements-dev.txt (line 3))",
    "  Using cached aiohttp-3.12.0-cp311-cp311-manylinux.whl (1.7 MB)",
    "Collecting attrs==25.1.0 (from -r requirements-dev.txt (line 9))",
)


def test_packages_are_counted_as_pip_collects_them(tmp_path: Path) -> None:
    progress = Progress(3, tmp_path)
    assert str(progress) == "0 of 3 packages collected"
    progress.read(PRINTED)
    assert str(progress) == "2 of 2 packages collected, now attrs"
    for name in ("pip", "aiohttp"):
        (tmp_path / f"{name}-1.dist-info").mkdir()
    progress.read(["Installing collected packages: attrs, aiohttp"])
    assert str(progress) == "1 of 2 packages installed"


@pytest.mark.parametrize(("code", "is_shown"), [(0, False), (1, True)])
def test_a_failure_is_shown_with_the_end_of_what_pip_printed(
    tmp_path: Path, code: int, is_shown: bool
) -> None:
    """75 s of `pip --quiet` looked like a command that hangs."""
    pip = tmp_path / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text(f"#!/bin/sh\necho Collecting attrs\necho ERROR: no space left\nexit {code}\n")
    pip.chmod(0o755)
    (tmp_path / "pins.txt").write_text("attrs==25.1.0 \\\n    --hash=sha256:0\n")
    command = (sys.executable, "-I", "-S", "-c", "import sys; sys.path.insert(0, sys.argv.pop(1));"
               "from aksgpu.pip_progress import run; sys.exit(run(sys.argv[1:], sys.stderr))",
               str(ROOT), str(pip), "install", "-r", str(tmp_path / "pins.txt"))  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == code
    assert ended.stderr.startswith("Creating .venv: 0 s, ")
    assert "1 of 1 packages collected, now attrs" in ended.stderr
    assert ("no space left" in ended.stderr) is is_shown
    assert not {"\r", "\x1b"} & set(ended.stderr)
