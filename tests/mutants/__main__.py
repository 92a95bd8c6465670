"""Puts each fault of the table into a copy of the checkout, and sees whether its tests fail.

    python -m tests.mutants [WORDS]

tries the mutants that have all the words in their row; without words, every mutant. The tests are
those of the gate.

    python -m tests.mutants --random ROOM [--count N] [--seed S] [--killers]

puts random faults into a folder of the product instead; with --killers it tells which functions of
tests alone kill one, and which kill none.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from tests.mutants import at_random
from tests.mutants.table import ROOT, Mutant, mutants

_PYTEST = [sys.executable, "-m", "pytest", "-qp", "no:cacheprovider", "-m", "not nightly"]
# pytest's exit code where tests have failed.
_FAILED = 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--random", metavar="ROOM")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=random.randrange(1000))  # noqa: S311
    parser.add_argument("--killers", action="store_true")
    given = parser.parse_args()
    if given.random:
        room = given.random.strip("/")
        return at_random.main(room, given.count, given.seed, with_killers=given.killers)
    return _table(given.words)


def _table(words: Sequence[str]) -> int:
    chosen = [mutant for mutant in mutants() if all(word in str(mutant) for word in words)]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [_copy(Path(folder) / str(number)) for number in range(os.cpu_count() or 1)]
        # A test that fails without the fault proves nothing.
        tests = sorted({test for mutant in chosen for test in mutant.tests.split()})
        code, output = _pytest(copies[0], "--numprocesses", "auto", "--dist", "loadfile", *tests)
        if code:
            _show(output, "These tests fail without any fault.")
            return code
        survivors = 0
        for number, (mutant, code, output) in enumerate(_tried(chosen, copies), 1):
            is_caught = code == _FAILED
            survivors += not is_caught
            outcome = "caught  " if is_caught else "SURVIVED"
            _show(f"{number:3}/{len(chosen)} {outcome} {mutant.fault}")
            if not is_caught:
                _show(f"    {mutant.file}; pytest {mutant.tests}", output.strip())
    _show(f"{len(chosen)} mutants, {survivors} survived.")
    return bool(survivors)


def _tried(chosen: Sequence[Mutant], copies: Sequence[Path]) -> Iterator[tuple[Mutant, int, str]]:
    """Each mutant with pytest's exit code and output, as many at a time as there are copies."""
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def tried(mutant: Mutant) -> tuple[Mutant, int, str]:
        copy = free.get()
        try:
            with _fault(mutant, copy):
                # What hangs with a fault in it has failed.
                arguments = ["--exitfirst", "--timeout", "120", *mutant.tests.split()]
                return mutant, *_pytest(copy, *arguments)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as threads:
        yield from threads.map(tried, chosen)


def _copy(folder: Path) -> Path:
    ignored = shutil.ignore_patterns(
        ".git", ".venv", ".*_cache", ".hypothesis", ".rehearsal*", "__pycache__", "build"
    )
    return Path(shutil.copytree(ROOT, folder, ignore=ignored))


@contextmanager
def _fault(mutant: Mutant, copy: Path) -> Iterator[None]:
    file = copy / mutant.file
    before = file.read_bytes()
    file.write_text(mutant.mutated(copy), encoding="utf-8")
    try:
        yield
    finally:
        file.write_bytes(before)


def _pytest(copy: Path, *arguments: str) -> tuple[int, str]:
    """Runs pytest on a copy; its exit code, and what it printed."""
    rooms = os.pathsep.join(str(copy / room) for room in (".", "plugins", "tools"))
    ended = subprocess.run(
        [*_PYTEST, *arguments],
        cwd=copy,
        # The copy comes before the checkout that is installed.
        env={**os.environ, "PYTHONPATH": rooms, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout


def _show(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
