"""Building from a Go module, with the real `go`, on the smallest module there is."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from machine_setup.errors import EngineUnavailableError, SourceUnavailableError
from machine_setup.from_source.build import ModuleFile, Target, build
from tests.go import NEEDS_GO
from tests.waiting import PATIENCE, until

pytestmark = [NEEDS_GO, pytest.mark.nightly]

# Stands for `go`: notes each build, with its process id and how many compiled packages it finds.
# A build waits for as long as it is held.
RECORDING_GO = """#!/bin/sh
if [ "$1" = build ]; then
    echo "$$ $(find "$GOCACHE" -name '*-d' | wc -l)" >> {log}
    while [ -e {hold} ]; do sleep 0.1; done
fi
exec {go} "$@"
"""

# Stands for `go`: keeps what a build compiles, which is most of Go's runtime and takes ten seconds.
KEEPING_GO = """#!/bin/sh
{go} "$@" && if [ "$1" = build ]; then cp -r "$GOCACHE" {kept}; fi
"""

# What another run does; it is a program of its own so that it can be killed.
RUN = """
import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from machine_setup.from_source.build import Target, build
source, store = map(Path, sys.argv[1:])
build(source, [Target("hello", ".", "1")], store, lambda line: print(line, flush=True))
"""

HELLO = Target("hello", ".", "1")
PATH = os.environ["PATH"]


class Bench:
    """A module to build, a place for the results, and a record of the builds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "source"
        self.store = folder / "store"
        self.log = folder / "builds"
        self.log.touch()
        # While it exists, no build goes on.
        self.hold = folder / "hold"
        self.source.mkdir()
        (self.source / "go.mod").write_text("module hello\n\ngo 1.21\n")
        self.write('func main() { println("hello") }')

    def write(self, code: str) -> None:
        (self.source / "main.go").write_text(f"package main\n\n{code}\n")

    def builds(self) -> list[tuple[int, int]]:
        """The process id of each build, and how many compiled packages it began with."""
        return [
            (int(pid), int(packages))
            for pid, packages in map(str.split, self.log.read_text().splitlines())
        ]

    def compiled(self) -> int:
        """How many compiled packages an unfinished build has left by now."""
        return len(list((self.store / "work" / "objects").glob("*/*-d")))

    def start(self, said: Path) -> subprocess.Popen[bytes]:
        """Starts another run; what it says is added to the file."""
        with said.open("a") as file:
            return subprocess.Popen(
                [sys.executable, "-c", RUN, self.source, self.store],
                stdout=file,
                stderr=subprocess.STDOUT,
            )


def put_on_path(folder: Path, go: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a script before the real `go`."""
    script = folder / "bin" / "go"
    script.parent.mkdir()
    script.write_text(go)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(script.parent), os.environ["PATH"]]))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a first build has compiled."""
    bench = Bench(tmp_path_factory.mktemp("first"))
    kept = bench.folder / "kept"
    with pytest.MonkeyPatch.context() as monkeypatch:
        go = KEEPING_GO.format(go=shutil.which("go"), kept=kept)
        put_on_path(bench.folder, go, monkeypatch)
        build(bench.source, [HELLO], bench.store, lambda _: None)
    return kept


@pytest.fixture
def cold_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """One that has nothing compiled."""
    bench = Bench(tmp_path)
    go = RECORDING_GO.format(log=bench.log, hold=bench.hold, go=shutil.which("go"))
    put_on_path(tmp_path, go, monkeypatch)
    return bench


@pytest.fixture
def bench(cold_bench: Bench, compiled: Path) -> Bench:
    """One with what an earlier build has left, as one that was broken off leaves it."""
    shutil.copytree(compiled, cold_bench.store / "work" / "objects")
    return cold_bench


def test_two_runs_at_once_build_once_and_leave_only_the_result(bench: Bench) -> None:
    said = bench.folder / "said"
    waits = "Another run does the same work"
    bench.hold.touch()
    runs = [bench.start(said), bench.start(said)]
    try:
        # A build that nothing holds could be over before the other run is there.
        until(lambda: bench.builds() and waits in said.read_text(), "one builds, the other waits")
        bench.hold.unlink()
        codes = [run.wait(PATIENCE) for run in runs]
    finally:
        bench.hold.unlink(missing_ok=True)
        for run in runs:
            run.kill()
            run.wait()

    assert codes == [0, 0], said.read_text()
    assert len(bench.builds()) == 1
    assert said.read_text().count(waits) == 1
    assert sorted(file.name for file in bench.store.iterdir()) == ["hello-1", "lock"]
    hello = subprocess.run([bench.store / "hello-1" / "hello"], capture_output=True, check=True)
    assert hello.stderr == b"hello\n"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_build_is_resumed(
    cold_bench: Bench, messages: list[str], how: signal.Signals
) -> None:
    bench = cold_bench

    def begun() -> float:
        return bench.builds()[0][1] if bench.builds() else float("inf")

    run = bench.start(bench.folder / "said")
    try:
        # What Go notes of packages before it compiles them lies there too.
        until(lambda: bench.compiled() > begun() + 5, "a few packages were compiled")
        run.send_signal(how)
        run.wait(PATIENCE)
        [(go, _)] = bench.builds()
        until(lambda: not group_exists(go), "the build had ended with its run")
    finally:
        run.kill()
        run.wait()
        for go, _ in bench.builds():
            with suppress(ProcessLookupError):
                os.killpg(go, signal.SIGKILL)

    # It was broken off, and not merely waited for.
    assert not (bench.store / "work" / "out" / "hello").exists()
    assert not (bench.store / "hello-1").exists()
    left = bench.compiled()

    build(bench.source, [HELLO], bench.store, messages.append)

    assert bench.builds()[1][1] >= left > begun() + 5
    assert (bench.store / "hello-1" / "hello").exists()
    assert not (bench.store / "work").exists()


def test_a_failed_build_shows_the_output_of_go(cold_bench: Bench, messages: list[str]) -> None:
    cold_bench.write('import "hello/nowhere"\n\nfunc main() { nowhere.Go() }')

    with pytest.raises(SourceUnavailableError, match="hello/nowhere"):
        build(cold_bench.source, [HELLO], cold_bench.store, messages.append)

    assert not (cold_bench.store / "hello-1").exists()


@pytest.mark.parametrize(
    ("says", "error"),
    [
        ("undefined: x", SourceUnavailableError),
        ("write b001: no space left on device", EngineUnavailableError),
    ],
)
def test_a_failed_build_leaves_no_files_and_reports_a_full_disk(
    cold_bench: Bench, messages: list[str], says: str, error: type[Exception]
) -> None:
    """Gigabytes stayed behind, where no later build took them up."""
    go = cold_bench.folder / "bin" / "go"
    go.write_text(
        f'#!/bin/sh\n[ "$1" = env ] && exec {shutil.which("go", path=PATH)} "$@"\n'
        f'echo "{says}"; exit 1\n'
    )

    with pytest.raises(error):
        build(cold_bench.source, [HELLO], cold_bench.store, messages.append)

    assert [thing.name for thing in cold_bench.store.iterdir()] == ["lock"]


def test_only_missing_programs_are_built(bench: Bench, messages: list[str]) -> None:
    kept = bench.store / "hello-1"
    kept.mkdir(parents=True)
    (bench.source / "other").mkdir()
    (bench.source / "other" / "main.go").write_text(
        "package main\n\nvar text string\n\nfunc main() { println(text) }\n"
    )
    other = Target("other", "./other", "2", ldflags="-X main.text=linked")

    places = build(bench.source, [HELLO, other], bench.store, messages.append)

    assert places == [kept, bench.store / "other-2"]
    assert len(bench.builds()) == 1
    ran = subprocess.run([places[1] / "other"], capture_output=True, check=True)
    assert ran.stderr == b"linked\n"


def test_modules_come_from_the_users_own_downloads(
    bench: Bench, messages: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The only source of the module here is a download cache, since GOPROXY is off."""
    downloads = tmp_path / "users" / "cache" / "download" / "example.org" / "greeting" / "@v"
    downloads.mkdir(parents=True)
    (downloads / "v1.0.0.mod").write_text("module example.org/greeting\n")
    (downloads / "v1.0.0.info").write_text('{"Version": "v1.0.0"}')
    with zipfile.ZipFile(downloads / "v1.0.0.zip", "w") as archive:
        archive.writestr("example.org/greeting@v1.0.0/go.mod", "module example.org/greeting\n")
        archive.writestr(
            "example.org/greeting@v1.0.0/greeting.go",
            'package greeting\n\nconst Text = "greetings"\n',
        )
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "users"))
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("GONOSUMDB", "example.org")
    (bench.source / "go.mod").write_text(
        "module hello\n\ngo 1.21\n\nrequire example.org/greeting v1.0.0\n"
    )
    bench.write('import "example.org/greeting"\n\nfunc main() { println(greeting.Text) }')
    (bench.source / "go.sum").write_text(sums(tmp_path, bench.source))
    target = Target("hello", ".", "1", files=(ModuleFile("example.org/greeting", "greeting.go"),))

    [place] = build(bench.source, [target], bench.store, messages.append)

    ran = subprocess.run([place / "hello"], capture_output=True, check=True)
    assert ran.stderr == b"greetings\n"
    assert "greetings" in (place / "greeting.go").read_text()
    # The user's own caches are left as they were.
    assert sorted(file.name for file in (tmp_path / "users").iterdir()) == ["cache"]


def sums(folder: Path, source: Path) -> str:
    """The go.sum that Go itself would write for the module in the download cache."""
    go = shutil.which("go", path=os.environ["PATH"].split(os.pathsep, 1)[1])
    assert go is not None
    scratch = folder / "scratch"
    shutil.copytree(source, scratch)
    environment = os.environ | {
        "GOPROXY": (folder / "users" / "cache" / "download").as_uri(),
        "GOMODCACHE": str(folder / "scratch-modules"),
        "GOFLAGS": "-modcacherw",
        "GONOSUMDB": "example.org",
    }
    subprocess.run([go, "mod", "tidy"], cwd=scratch, env=environment, check=True)
    return (scratch / "go.sum").read_text()


def group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
