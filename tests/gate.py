"""What a change has to pass: `.ci/run`, `.ci/whole` and a pull request's jobs start it.

    python -m tests.gate [--whole] [--share K/N] [--base REV] [--set-up SECONDS]

The gate is lint beside the article, the short tests, and the lives that stand for every promise.
All parts run, also after a failure. What has failed runs once more, alone: what passes then is told
as flaky. Lives of the night (the marker `nightly`) are added until a moment, by the rooms that the
change touches (tests/nightly.toml). After the verdict a sixth of the others runs, and is only told.

--whole runs every life. --share K/N is a pull request's job: one of N shares of the lives.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import tomllib
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import cache

from tests import lines
from tests.lines import ROOT, git

ROOMS = ROOT / "tests" / "nightly.toml"
FLAKY = ROOT / "build" / "flaky.txt"
# Where pytest writes down which tests have failed last.
LAST_FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
# Read by tests/conftest.py.
UNTIL = "AKS_GPU_TESTS_UNTIL"

OF_THE_GATE = "long and not nightly"
# Minutes after which no more of the night's lives begin: those of touched rooms, and the sixth.
ROOMS_UNTIL, SIXTH_UNTIL = 22, 25
# Processor seconds of the gate's lives. Whoever adds one takes one out, or makes one cheaper.
BUDGET = 900
# More than that are no flakes.
MOST_AGAIN = 20


@dataclass
class Gate:
    """One run: what was done, what has failed, and the seconds of each part."""

    begun: float = field(default_factory=time.monotonic)
    took: list[str] = field(default_factory=list)
    # Parts of make that have failed, and those that have without a test that has.
    parts: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def lint_beside_article(self) -> None:
        printed = ROOT / "build" / "lint.txt"
        printed.parent.mkdir(exist_ok=True)
        begun = time.monotonic()
        with printed.open("w") as file:
            command = ["make", "lint"]
            lint = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=file)
        self._part("article")
        is_clean = lint.wait() == 0
        say(printed.read_text())
        self._took("make lint, beside it", begun, is_clean)
        if not is_clean:
            self.parts.append("lint")

    def _part(self, target: str) -> None:
        if not self._run(f"make {target}", ["make", target]):
            self.parts.append(target)

    def tests(self, name: str, target: str, *arguments: str, until: float | None = None) -> None:
        """A target of make that runs pytest, which remembers what has failed."""
        before = failed()
        own = {} if until is None else {UNTIL: str(time.time() + until - self.minutes() * 60)}
        if self._run(name, ["make", target, *arguments], own):
            return
        new = failed() - before
        # A file that could not be imported, which has no test's name, interrupts the whole part.
        if not new or not all("::" in each for each in new):
            self.broken.append(name)

    def again(self) -> bool:
        """Runs alone what has failed; whether it passes then, which is told as flaky."""
        first = failed()
        flaky = []
        for target in self.parts:
            if self._run(f"make {target}, again", ["make", target]):
                flaky.append(f"make {target}")
            else:
                self.broken.append(f"make {target}")
        if first and len(first) <= MOST_AGAIN:
            pytest = [
                sys.executable,
                "-m",
                "pytest",
                "--last-failed",
                "--last-failed-no-failures=none",
            ]
            self._run("what has failed, again", pytest)
        flaky += sorted(first - failed())
        for name in flaky:
            say(f"flaky: {name}")
        if flaky:
            commit = git("rev-parse", "--short", "HEAD")[0]
            day = datetime.now(UTC).date()
            with FLAKY.open("a") as file:
                file.writelines(f"{day} {commit} {name}\n" for name in flaky)
        self.broken += sorted(failed())
        return not self.broken

    def verdict(self, is_passed: bool, set_up: int) -> None:
        say("", *lines.table(), "", f"{clock(set_up)}  set-up, before the clock", *self.took, "")
        say(*(f"failed: {name}" for name in self.broken))
        said = "has passed" if is_passed else "has FAILED"
        say(f"The gate {said} after {clock(self.minutes() * 60)}.")

    def minutes(self) -> float:
        return (time.monotonic() - self.begun) / 60

    def _run(self, name: str, command: Sequence[str], more: dict[str, str] | None = None) -> bool:
        begun = time.monotonic()
        say(f"--- {name}")
        ended = subprocess.run(command, cwd=ROOT, env=os.environ | (more or {}), check=False)
        self._took(name, begun, ended.returncode == 0)
        return ended.returncode == 0

    def _took(self, name: str, begun: float, is_passed: bool) -> None:
        outcome = "passed" if is_passed else "failed"
        self.took.append(f"{clock(time.monotonic() - begun)}  {name} {outcome}")


def failed() -> set[str]:
    """The tests that have failed since the gate has begun, and have not passed since."""
    with suppress(FileNotFoundError):
        return set(json.loads(LAST_FAILED.read_text()))
    return set()


@cache
def files_with(markers: str) -> list[str]:
    """The files that have tests with these markers, as pytest finds them."""
    pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q"]
    # What cannot be imported is for the parts to tell: make test imports all.
    found = subprocess.run(
        [*pytest, "-m", markers], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    ).stdout
    return sorted({line.partition("::")[0] for line in found.splitlines() if "::" in line})


def share(names: Iterable[str], number: int, of: int) -> list[str]:
    """One of `of` shares, the same on every machine."""
    return [name for name in names if zlib.crc32(name.encode()) % of == number % of]


def begin() -> str | None:
    """Where the change begins: where it leaves origin's main; on main itself, a day earlier."""
    try:
        [fork] = git("merge-base", "HEAD", "origin/main")
        head, when = git("show", "--no-patch", "--format=%H%n%ct", "HEAD")
        if fork != head:
            return fork
        return next(iter(git("rev-list", "-1", f"--before={int(when) - 86400}", "HEAD")), None)
    except subprocess.CalledProcessError:
        return None


def of_touched_rooms(base: str | None) -> list[str]:
    """The files with lives of the night that a change adds: its own, and those of its rooms."""
    if base is None:
        say("Nothing is known of what this change touches: it adds no lives of the night.")
        return []
    nights = files_with("nightly")
    touched = git("diff", "--name-only", base, "HEAD")
    chosen = set(touched)
    for room in tomllib.loads(ROOMS.read_text())["room"]:
        if any(fnmatch(name, pattern) for name in touched for pattern in room["touched"]):
            of_room = tuple(room["tests"])
            chosen.update(name for name in nights if name.startswith(of_room))
    return [name for name in nights if name in chosen]


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60:3}:{int(seconds) % 60:02}"


def say(*texts: str) -> None:
    sys.stdout.write("".join(f"{text}\n" for text in texts))
    sys.stdout.flush()


def lives(marker: str, names: Iterable[str]) -> list[str]:
    """The words for `make test-long` that run the lives with a marker in some files."""
    return [f"LIVES={marker}", f"FILES={' '.join(names)}"]


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--whole", action="store_true", help="every life")
    parser.add_argument("--share", help="K/N: one of N shares of the lives, and nothing else")
    parser.add_argument("--base", help="the commit at which the change begins")
    parser.add_argument("--set-up", type=int, default=0, help="seconds that the set-up took before")
    chosen = parser.parse_args(words)
    LAST_FAILED.unlink(missing_ok=True)
    gate = Gate()
    if not chosen.share:
        gate.lint_beside_article()
        gate.tests("make test", "test")
    if chosen.whole:
        gate.tests("make test-long", "test-long")
        is_passed = gate.again()
        gate.verdict(is_passed, chosen.set_up)
        return int(not is_passed)
    of_gate, of_rooms = files_with(OF_THE_GATE), of_touched_rooms(chosen.base or begin())
    if chosen.share:
        number, of = map(int, chosen.share.split("/"))
        of_gate, of_rooms = share(of_gate, number, of), share(of_rooms, number, of)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    gate.tests("lives of the gate", "test-long", *lives(OF_THE_GATE, of_gate))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if of_rooms:
        until = None if chosen.share else ROOMS_UNTIL * 60
        gate.tests("lives of touched rooms", "test-long", *lives("nightly", of_rooms), until=until)
    is_passed = gate.again()
    gate.verdict(is_passed, chosen.set_up)
    if not chosen.share:
        say(f"The gate's lives took {used:.0f} processor seconds of their {BUDGET}.")
        sixth(gate, of_rooms)
    return int(not is_passed)


def sixth(gate: Gate, done: Sequence[str]) -> None:
    """Runs a sixth of the night's other lives, chosen by the commit; tells how they end."""
    others = [name for name in files_with("nightly") if name not in done]
    names = share(others, int(git("rev-parse", "HEAD")[0], 16), 6)
    if not names:
        say("The touched rooms leave no lives of the night for a sixth.")
        return
    if gate.minutes() >= SIXTH_UNTIL:
        say("There was no time for a sixth of the night's other lives.")
        return
    before = failed()
    gate.tests(
        "a sixth of the night", "test-long", *lives("nightly", names), until=SIXTH_UNTIL * 60
    )
    say(
        *(
            f"failed in the night's lives, which decides nothing: {name}"
            for name in failed() - before
        )
    )
    say(gate.took[-1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
