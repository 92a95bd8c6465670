"""Random mutants of a room, each in a fork of a process that has collected the room's tests.

The tests are the short ones in the folder of the room's name and right in `tests`; a mutant is
tried with those that run its lines. Programs that tests start have no mutants. What a mutant does
to files is done: commit first.
"""

import functools
import gc
import inspect
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest
from hypothesis.configuration import set_hypothesis_home_dir

from tests.mutants.edits import Edit, codes_in, edits

_OPTIONS = ["-qsp", "no:cacheprovider", "--no-summary", "--randomly-dont-reorganize"]
_OPTIONS += ["--hypothesis-seed", "0", "-m", "not long and not nightly and not browser"]
# Each mutant with all its killers, as two that kill the same cannot both go.
_KILLERS = Path("build/killers.json")


def main(room: str, count: int, seed: int, *, with_killers: bool) -> int:
    folder = Path("tests", room.removeprefix("tools/").removeprefix("plugins/"))
    if not (Path(room).is_dir() and folder.is_dir()):
        sys.exit(f"{room} or {folder} is no folder.")
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        os.environ["TMPDIR"] = tempfile.tempdir = scratch
        set_hypothesis_home_dir(scratch)
        tests = [str(folder), *map(str, sorted(Path("tests").glob("test_*.py")))]
        session = _Session(room, f"{folder}/", count, seed, with_killers)
        return int(pytest.main([*_OPTIONS, *tests], plugins=[session]))


class _Ran(NamedTuple):
    """A test that has ended, and the lines of the room that it ran, as file and number."""

    failed: bool
    seconds: float
    lines: set[tuple[str, int]]


class _Fork:
    """A process that runs tests with a fault in the code; without one, it looks what they run."""

    def __init__(
        self,
        session: "_Session",
        items: Sequence[pytest.Item],
        edit: Edit | None = None,
        limit: float = 600,
    ) -> None:
        self.session, self.items, self.edit, self.limit = session, items, edit, limit
        self.ran: list[_Ran] = []

    def start(self) -> Connection:
        receiver, sender = Pipe(duplex=False)
        process = get_context("fork").Process(target=self.session.run, args=(self, sender))
        process.start()
        sender.close()
        self.process, self.heard = process, time.monotonic()
        return receiver

    def is_over(self, receiver: Connection) -> bool:
        with suppress(EOFError):
            while receiver.poll():
                self.ran.append(receiver.recv())
                self.heard = time.monotonic()
            return time.monotonic() - self.heard > self.limit
        return True

    def end(self) -> None:
        assert self.process.pid
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()

    @property
    def lost(self) -> str:
        """The function that hung, or ended the process."""
        stopped = self.ran and self.ran[-1].failed and not self.session.with_killers
        is_whole = stopped or len(self.ran) == len(self.items)
        return "" if is_whole else _function(self.items[len(self.ran)])

    @property
    def killers(self) -> set[str]:
        failed = zip(self.items, self.ran, strict=False)
        return {_function(item) for item, ran in failed if ran.failed} | ({self.lost} - {""})


def _all(forks: Sequence[_Fork]) -> Iterator[_Fork]:
    """Runs them, one on each core, and gives each when it is over."""
    waiting, running = [*reversed(forks)], dict[Connection, _Fork]()
    try:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                fork = waiting.pop()
                running[fork.start()] = fork
            wait([*running], timeout=1)
            for receiver, fork in [*running.items()]:
                if fork.is_over(receiver):
                    fork.end()
                    del running[receiver]
                    yield fork
    finally:
        for fork in running.values():
            fork.end()


@dataclass(eq=False)
class _Session:
    """What pytest does with the tests that it has collected: it runs mutants."""

    room: str
    folder: str
    count: int
    seed: int
    with_killers: bool
    caches: list[Any] = field(default_factory=list)
    failed: bool = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed:
            # pytest says what it could not collect.
            return None
        self.caches = [one for one in gc.get_objects() if _is_cache_of_ours(one)]
        (clean,) = _all([_Fork(self, session.items)])
        if clean.lost:
            raise pytest.UsageError(f"Without any fault, {clean.lost} hangs or ends its process.")
        _show(*(f"Fails without any fault, and is left out: {one}" for one in clean.killers))
        both = zip(session.items, clean.ran, strict=True)
        sound = sorted((one for one in both if not one[1].failed), key=lambda one: one[1].seconds)
        limit = 5 + 10 * sound[-1][1].seconds
        forks = []
        for edit in self._chosen({line for _, ran in sound for line in ran.lines}):
            items = [item for item, ran in sound if ran.lines & edit.lines]
            forks.append(_Fork(self, items, edit, limit))
        for number, fork in enumerate(_all(forks), 1):
            outcome = "hangs   " if fork.lost else "caught  " if fork.killers else "SURVIVED"
            _show(f"{number:3}/{len(forks)} {outcome} {fork.edit}")
        survivors = sum(not fork.killers for fork in forks)
        _show(
            f"{len(forks)} mutants, {survivors} survived. Again: python -m tests.mutants "
            f"--random {self.room} --count {self.count} --seed {self.seed}"
        )
        if self.with_killers:
            self._show_killers(forks, sorted({_function(item) for item, _ in sound}))
        return True

    def _chosen(self, reached: set[tuple[str, int]]) -> list[Edit]:
        possible: list[Edit] = []
        lines: set[tuple[str, int]] = set()
        for file in sorted(Path(self.room).resolve().rglob("*.py")):
            for code in codes_in(compile(file.read_bytes(), file, "exec")):
                if code.co_flags & inspect.CO_OPTIMIZED:  # a function's
                    lines |= {(str(file), line) for *_, line in code.co_lines() if line}
            possible += [edit for edit in edits(file) if reached & edit.lines]
        _show(
            f"{self.room}: {len(lines)} lines in functions, {len(lines - reached)} of them never "
            f"reached; the others have {len(possible)} mutants."
        )
        chosen = random.Random(self.seed)  # noqa: S311
        return chosen.sample(possible, min(self.count, len(possible)))

    def run(self, fork: _Fork, sender: Connection) -> None:
        """In the fork: runs its tests, each as if it were the only one."""
        room = f"{Path(self.room).resolve()}/"
        lines: set[tuple[str, int]] = set()

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            if not frame.f_code.co_filename.startswith(room):
                return None
            lines.add((frame.f_code.co_filename, frame.f_lineno))
            return trace

        os.setsid()
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        if fork.edit:
            fork.edit.put_in()
        for item in fork.items:
            for cache in self.caches:
                cache.cache_clear()
            if not fork.edit:
                lines.clear()
                threading.settrace(trace)
                sys.settrace(trace)
            self.failed, begin = False, time.monotonic()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            sys.settrace(None)
            sender.send(_Ran(self.failed, time.monotonic() - begin, lines))
            if self.failed and fork.edit and not self.with_killers:
                break
        sender.close()

    def _show_killers(self, forks: Sequence[_Fork], functions: Sequence[str]) -> None:
        # What hangs is not asked which others fail.
        single = [fork for fork in forks if len(fork.killers) == 1 and not fork.lost]
        alone = Counter(killer for fork in single for killer in fork.killers)
        killing = {killer for fork in forks for killer in fork.killers}
        _show("mutants that it alone kills | test function")
        _show(*(f"{count:27} | {function}" for function, count in alone.most_common()))
        _show("Kill nothing:")
        own = [function for function in functions if function.startswith(self.folder)]
        _show(*(f"    {function}" for function in own if function not in killing))
        _KILLERS.parent.mkdir(exist_ok=True)
        found = [{"mutant": str(fork.edit), "killers": sorted(fork.killers)} for fork in forks]
        _KILLERS.write_text(json.dumps(found, indent=1), encoding="utf-8")


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _is_cache_of_ours(live: object) -> bool:
    """Whether it keeps what a function of the checkout has returned."""
    if type(live) is not functools._lru_cache_wrapper:
        return False
    file = inspect.unwrap(live).__code__.co_filename
    return file.startswith(str(Path.cwd())) and "site-packages" not in file


def _show(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
