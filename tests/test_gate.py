"""`.ci/run`, with a stand-in for make: every part in its order, and how long each of them took."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.bench import ROOT

PARTS = ["lint", "article", "test", "test-long"]
MAKE = """#!/bin/sh
echo "made $1"
[ "$1" != "$BROKEN" ]
"""


def gate(folder: Path, broken: str = "") -> tuple[int, list[str], list[str]]:
    """Its exit code, the parts that it made, and those whose time it shows, with how they ended."""
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    make = folder / "bin" / "make"
    make.parent.mkdir()
    make.write_text(MAKE)
    make.chmod(0o755)
    ended = subprocess.run(
        [folder / ".ci" / "run"],
        env={"PATH": f"{make.parent}:{os.environ['PATH']}", "BROKEN": broken},
        capture_output=True,
        text=True,
        check=False,
    )
    made = re.findall(r"(?m)^made (.+)$", ended.stdout)
    return ended.returncode, made, re.findall(r"(?m)^ *\d+:\d\d  make (.+)$", ended.stdout)


def test_every_part_runs_and_its_time_is_shown(tmp_path: Path) -> None:
    assert gate(tmp_path) == (0, PARTS, [f"{part} passed" for part in PARTS])


@pytest.mark.parametrize("number", range(len(PARTS)))
def test_the_first_failing_part_ends_the_gate_and_its_time_is_shown(
    tmp_path: Path, number: int
) -> None:
    code, made, shown = gate(tmp_path, broken=PARTS[number])

    assert code != 0
    assert made == PARTS[: number + 1]
    assert shown == [*(f"{part} passed" for part in PARTS[:number]), f"{PARTS[number]} failed"]
