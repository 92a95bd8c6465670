"""The gate, on small checkouts with a Makefile of their own."""

import os
import shutil
import subprocess
import sys
import time
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests import gate
from tests.bench import ROOT
from tests.lines import git

# Each starts pytest some ten times over, which the short tests have no time for.
starts_pytest = pytest.mark.nightly

MAKEFILE = f"""
LIVES := long
lint article:
\t@echo made $@; test "$@" != "$$BROKEN"
test:
\t@{sys.executable} -m pytest -qm "not long"
test-long:
\t@{sys.executable} -m pytest -qm "$(LIVES)" $(FILES)
"""
CONFIGURATION = """
[tool.pytest.ini_options]
markers = ["long", "nightly", "browser", "engine"]
"""
SHORT = "def test_is_short(): pass\n"
LIFE = "import pytest\n@pytest.mark.long\ndef test_lives(): pass\n"
NIGHT = "import pytest\n@pytest.mark.long\n@pytest.mark.nightly\ndef test_at_night(): {}\n"
FLAKY = """
from pathlib import Path
def test_now_and_then():
    first = Path("was-here")
    is_first = not first.exists()
    first.touch()
    assert not is_first
"""


class Small:
    """A checkout with some tests, and a commit on main that origin does not have."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tests").mkdir()
        for name in ("gate.py", "lines.py"):
            shutil.copy(ROOT / "tests" / name, folder / "tests")
        self.writes("Makefile", MAKEFILE)
        self.writes("pyproject.toml", CONFIGURATION)
        self.writes(
            "tests/rooms.csv", "room,product,most,tests,most_of_tests\nroot,./,1,tests/,1\n"
        )
        self.writes("tests/nightly.toml", "room = []\n")
        self.writes("tests/test_short.py", SHORT)
        self.writes("tests/test_life.py", LIFE)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.is_shared()

    def writes(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def git(self, *arguments: str) -> str:
        own = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(
            ["git", *own, *arguments],  # noqa: S607 (the user's git)
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    def commits(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")

    def is_shared(self) -> None:
        """Origin's main has all that is there."""
        self.commits()
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")

    def runs(self, *words: str, broken: str = "") -> tuple[int, str]:
        """The gate's exit code, and what it printed."""
        self.commits()
        own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        ended = subprocess.run(
            [sys.executable, "-m", "tests.gate", *words],
            cwd=self.folder,
            env=own | {"BROKEN": broken, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return ended.returncode, ended.stdout


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


@starts_pytest
def test_every_part_runs_and_a_sixth_of_the_night_decides_nothing(small: Small) -> None:
    nights = [f"tests/test_night_{number}.py" for number in range(12)]
    for night in nights:
        small.writes(night, NIGHT.format("assert False"))
    small.is_shared()
    code, said = small.runs("--set-up", "61")
    assert code == 0, said
    for part in (
        "1:01  set-up, before the clock",
        "make lint, beside it passed",
        "make article passed",
        "make test passed",
        "lives of the gate passed",
        "The gate has passed after",
    ):
        assert part in said
    commit = small.git("rev-parse", "HEAD").strip()
    sixth = gate.share(nights, int(commit, 16), 6)
    told = "failed in the night's lives, which decides nothing: "
    found = {line.removeprefix(told) for line in said.splitlines() if line.startswith(told)}
    assert found == {f"{night}::test_at_night" for night in sixth}


@starts_pytest
def test_all_parts_run_after_a_failure_and_what_fails_again_fails_the_gate(small: Small) -> None:
    """It ended at the first part that failed, and the others were seen an hour later.

    One test of 780 that failed now and then refused a whole change, three times in one wave.
    """
    small.writes("tests/test_bad.py", "def test_bad(): assert False\n")
    small.writes("tests/test_flaky.py", FLAKY)
    small.writes("tests/test_other.py", LIFE.replace("pass", "assert False"))
    code, said = small.runs("--whole", broken="article")
    assert code == 1
    told = [line for line in said.splitlines() if line.startswith(("failed: ", "flaky: ", "The "))]
    assert told[:-1] == [
        "flaky: tests/test_flaky.py::test_now_and_then",
        "failed: make article",
        "failed: tests/test_bad.py::test_bad",
        "failed: tests/test_other.py::test_lives",
    ]
    assert "The gate has FAILED" in told[-1]
    kept = (small.folder / "build" / "flaky.txt").read_text()
    assert kept.endswith(" tests/test_flaky.py::test_now_and_then\n")


@starts_pytest
def test_a_life_is_found_wherever_its_marker_stands(small: Small) -> None:
    """Files were searched for the marker's text, and 81 cases of the gate silently never ran."""
    small.writes("tests/marked.py", "import pytest\nMARKS = [pytest.mark.long]\n")
    marked = "from tests.marked import MARKS\npytestmark = MARKS\ndef test_b(): assert False\n"
    small.writes("tests/test_marked.py", marked)
    code, said = small.runs("--share", "0/1")
    assert code == 1, said
    assert "failed: tests/test_marked.py::test_b" in said


@starts_pytest
def test_a_file_that_could_not_be_imported_once_is_no_flake(small: Small) -> None:
    """It interrupts its part: that it passes alone says nothing of the tests that did not run."""
    lines = FLAKY.replace("def test_now_and_then():", "if True:")
    small.writes("tests/test_import.py", f"{lines}\ndef test_c(): pass\n")
    code, said = small.runs()
    assert code == 1, said
    assert "failed: make test\n" in said


@starts_pytest
def test_many_failures_are_no_flakes_and_a_part_can_fail_without_a_test(small: Small) -> None:
    many = "import pytest\n@pytest.mark.parametrize('x', range(21))\n" + FLAKY.replace(
        "()", "(x)", 1
    )
    small.writes("tests/test_many.py", many.replace('"was-here"', 'f"was-here-{x}"'))
    small.writes("Makefile", MAKEFILE.replace('-qm "$(L', '-q --no-such-option -m "$(L'))
    code, said = small.runs()
    assert code == 1
    assert "flaky" not in said
    assert "failed: lives of the gate\n" in said


@starts_pytest
def test_touched_rooms_add_their_lives_of_the_night(small: Small) -> None:
    small.writes("tests/test_far.py", NIGHT.format("assert False"))
    small.writes(
        "tests/nightly.toml", '[[room]]\ntouched = ["far/*"]\ntests = ["tests/test_far.py"]\n'
    )
    small.is_shared()
    code, said = small.runs("--share", "0/1")
    assert code == 0, said

    (small.folder / "far").mkdir()
    small.writes("far/thing.txt", "touched")
    code, said = small.runs("--share", "0/1")
    assert code == 1
    assert "failed: tests/test_far.py::test_at_night" in said


def test_shares_are_all_files_once() -> None:
    names = [f"tests/test_{number}.py" for number in range(50)]
    shares = [gate.share(names, number, 4) for number in range(4)]
    assert sorted(name for share in shares for name in share) == sorted(names)
    assert all(shares)


@starts_pytest
def test_what_begins_too_late_is_left_and_named() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_links.py"],
        cwd=ROOT,
        env=os.environ | {gate.UNTIL: str(time.time() - 1)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    assert "not reached" in ended.stdout
    assert "\ntests/test_links.py::" in ended.stdout
    assert "passed" not in ended.stdout


@starts_pytest
def test_the_table_of_rooms_names_what_is_there() -> None:
    rooms = tomllib.loads((ROOT / "tests" / "nightly.toml").read_text())["room"]
    tracked = git("ls-files")
    nights = gate.files_with("nightly")
    for room in rooms:
        for pattern in room["touched"]:
            assert any(fnmatch(name, pattern) for name in tracked), pattern
        for name in room["tests"]:
            assert any(night.startswith(name) for night in nights), name
    named = [name for room in rooms for name in room["tests"]]
    assert [night for night in nights if not night.startswith(tuple(named))] == []
