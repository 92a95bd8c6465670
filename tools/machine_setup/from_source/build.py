"""Builds executables from Go modules, and keeps nothing but the executables."""

import errno
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from machine_setup.cache import Say, make_whole, no_room, prune, sole_use, used
from machine_setup.errors import EngineUnavailableError, SourceUnavailableError
from machine_setup.from_source.toolchain import find_go
from machine_setup.progress import Progress

# Enough of the end of Go's output to see why a build failed.
_LINES_KEPT = 30
_MAJOR_VERSION = re.compile(r"v[0-9]+")
# The operating system's message for a full disk, which Go repeats.
_NO_ROOM = os.strerror(errno.ENOSPC).lower()


@dataclass(frozen=True)
class ModuleFile:
    """A file of a Go module that the executable needs in its folder."""

    module: str
    path: str


@dataclass(frozen=True)
class Target:
    """An executable to build.

    The result is cached under name and key, so the key has to change with everything that the
    executable is built from.
    """

    name: str
    package: str
    key: str
    ldflags: str = "-s -w"
    files: tuple[ModuleFile, ...] = ()

    @property
    def executable(self) -> str:
        """The name that Go gives it: the last part of its package that is not a version."""
        *_, before, last = ["", *self.package.split("/")]
        name = before if _MAJOR_VERSION.fullmatch(last) else last
        return self.name if name == "." else name


def build(source: Path, targets: Sequence[Target], store: Path, say: Say) -> list[Path]:
    """Returns the folders of the targets' executables; builds those that are missing.

    `source` is a folder with a go.mod and a complete go.sum; `store` is the cache of results. An
    interrupted build is continued; a failed one is removed, and raises SourceUnavailableError.
    """
    store = store.absolute()  # Go runs in another folder
    places = [store / f"{target.name}-{target.key}" for target in targets]
    # A folder gets its final name once it is complete, so one that exists is complete.
    if all(place.exists() for place in places):
        return list(map(used, places))
    with sole_use(store, say):
        missing = [pair for pair in zip(targets, places, strict=True) if not pair[1].exists()]
        if missing:
            work = store / "work"
            go = _Go(source, work, say)
            try:
                for flags in dict.fromkeys(target.ldflags for target, _ in missing):
                    alike = [pair for pair in missing if pair[0].ldflags == flags]
                    _install(go, flags, alike, work, say)
            except (SourceUnavailableError, EngineUnavailableError, OSError):
                # These are gigabytes, and a failed build would most likely fail again.
                shutil.rmtree(work, ignore_errors=True)
                raise
            shutil.rmtree(work)
            prune(store)
    return places


def build_together(
    source: Path, targets: Sequence[Target], store: Path, place: Path, say: Say
) -> Path:
    """Builds targets, and puts all their executables into one folder."""
    folders = build(source, targets, store, say)

    def fill(unfinished: Path) -> Path:
        for file in (file for folder in folders for file in folder.iterdir()):
            # Hard links take no space.
            os.link(file, unfinished / file.name)
        return unfinished

    return make_whole(place, fill, say)


def _install(
    go: "_Go", ldflags: str, missing: Sequence[tuple[Target, Path]], work: Path, say: Say
) -> None:
    built = work / "out"
    shutil.rmtree(built, ignore_errors=True)
    built.mkdir()
    go.build([target for target, _ in missing], ldflags, built, say)
    for target, place in missing:
        unfinished = work / "place"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        (built / target.executable).rename(unfinished / target.name)
        for file in target.files:
            copy = unfinished / Path(file.path).name
            shutil.copyfile(go.module_folder(file.module) / file.path, copy)
            copy.chmod(0o755)
        unfinished.rename(place)


class _Go:
    """The `go` command with folders of its own, so that all its files can be removed."""

    def __init__(self, source: Path, work: Path, say: Say) -> None:
        go = self._go = str(find_go(say))
        self._source = source
        self._work = work
        folders = {
            "GOMODCACHE": work / "modules",
            "GOCACHE": work / "objects",
            "GOTMPDIR": work / "tmp",
        }
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        # Run outside of the module: inside it, an older Go may download a newer one into the
        # user's own module cache first.
        command = [go, "env", "-json", "GOPROXY", "GOFLAGS", "GOMODCACHE"]
        users: dict[str, str] = json.loads(_read("`go env`", command, work))
        self._environment = os.environ | {name: str(path) for name, path in folders.items()}
        self._environment |= {
            # A Go workspace around the checkout must not affect the build.
            "GOWORK": "off",
            # Nothing here is written in C, so no C compiler is needed.
            "CGO_ENABLED": "0",
            "GOPROXY": _proxies(users),
            # Otherwise Go makes the module folders read-only, and they cannot be removed.
            "GOFLAGS": f"{users['GOFLAGS']} -modcacherw".strip(),
        }

    def build(self, targets: Sequence[Target], ldflags: str, folder: Path, say: Say) -> None:
        """Builds targets into a folder, which takes minutes."""
        packages = [target.package for target in targets]
        names = ", ".join(target.name for target in targets)
        with Progress(f"Building {names} from Go modules", say) as progress:
            # Errors in packages are left to the build, whose messages are better.
            listed = ["list", "-e", "-mod=readonly", "-deps", "-f", "{{.ImportPath}}", *packages]
            all_ = 0

            def fetched(line: str) -> str:
                nonlocal all_
                all_ += not line.startswith("go: ")
                return line

            self._run(listed, progress, fetched)
            # Without VCS stamps: they make a build fail where git does not trust the checkout.
            command = ["build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-v"]
            command += ["-ldflags", ldflags, "-o", f"{folder}{os.sep}", *packages]
            compiled = 0

            def built(line: str) -> str:
                nonlocal compiled
                # With -v Go prints each package that it compiles; other lines begin with `go: `.
                compiled += not line.startswith("go: ")
                return f"{compiled} of {all_} packages, {line}"

            self._run(command, progress, built)

    def _run(self, arguments: list[str], progress: Progress, step: Callable[[str], str]) -> None:
        # In a process group of its own, so that only this program passes on a Ctrl-C. If this
        # program is killed, Go ends at the next line that it cannot write.
        with subprocess.Popen(
            [self._go, *arguments],
            cwd=self._source,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            process_group=0,
        ) as process:
            output = _watch(process, progress, step)
        if process.returncode != 0:
            if _NO_ROOM in output.lower():
                raise no_room(self._work)
            raise SourceUnavailableError(
                f"`go {arguments[0]}` of {arguments[-1]} failed:\n{output}"
            )

    def module_folder(self, module: str) -> Path:
        """Returns the folder into which Go has unpacked a module."""
        command = [self._go, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module]
        output = _read(f"`go list` of {module}", command, self._source, self._environment)
        return Path(output.strip())


def _read(
    what: str, command: list[str], folder: Path, environment: Mapping[str, str] | None = None
) -> str:
    answer = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        raise SourceUnavailableError(f"{what} failed: {answer.stderr.strip()}")
    return answer.stdout


def _proxies(users: dict[str, str]) -> str:
    """Returns the user's module proxies, preceded by the user's own module cache if it exists."""
    downloads = Path(users["GOMODCACHE"]) / "cache" / "download"
    if not downloads.is_dir():
        return users["GOPROXY"]
    return f"{downloads.as_uri()},{users['GOPROXY']}"


def _watch(process: subprocess.Popen[str], progress: Progress, step: Callable[[str], str]) -> str:
    """Waits for a Go process, shows its progress, and returns the end of its output.

    Any exception meanwhile, such as Ctrl-C, ends the process.
    """
    lines: deque[str] = deque(maxlen=_LINES_KEPT)
    reached = "starting"

    def read() -> None:
        nonlocal reached
        for line in process.stdout or ():
            lines.append(line.rstrip())
            reached = step(lines[-1])

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        while process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)
            progress.update(reached)
    except BaseException:
        _end(process)
        raise
    finally:
        reader.join()
    return "\n".join(lines)


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a build with all its compilers."""
    with suppress(subprocess.TimeoutExpired):
        process.send_signal(signal.SIGINT)
        process.wait(timeout=5)
    # Go may end before its compilers do.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def hash_of(flags: str, files: Iterable[Path]) -> str:
    """Returns a short hash of the inputs of a build."""
    whole = hashlib.sha256(flags.encode())
    for file in files:
        content = file.read_bytes()
        whole.update(f"\n{file.name} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()[:12]
