"""Files of the rehearsal's own: records, scripts that are read again on change, and logs."""

import contextlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

Content = TypeVar("Content")
# Beyond that a log begins anew, and what was in it lies beside it.
MOST_LOG_BYTES = 16 << 20


def read_json(path: Path) -> dict[str, Any] | None:
    """Returns the object in a file; None when there is none: a damaged record is no record."""
    return read_record(path, dict[str, Any])


def read_record(path: Path, kind: type[Content]) -> Content | None:
    """Returns what a file holds, if it is of that kind."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def write_json(path: Path, content: dict[str, Any], mode: int = 0o644) -> None:
    write_whole(path, json.dumps(content, indent=2).encode() + b"\n", mode)


def write_whole(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Writes a file so that a reader sees all of it or none, under its final mode.

    So it is after a loss of power, too.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Sees to it that the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class WatchedFile(Generic[Content]):
    """A JSON file of a kind that is read again whenever it has changed.

    One that cannot be read counts as absent, and server.log says so.
    """

    def __init__(self, path: Path, kind: type[Content], absent: Content) -> None:
        self._path = path
        self._kind = kind
        self._absent = self._content = absent
        self._version: tuple[int, ...] | None = None
        # What is wrong with it, if anything is.
        self.complaint: str | None = None

    def read(self) -> Content:
        """Returns the content; the same object for as long as the file is the same."""
        try:
            status = self._path.stat()
            version = (status.st_mtime_ns, status.st_ino, status.st_size)
        except OSError:
            version = None
        if version != self._version:
            self._version = version
            self._content, self.complaint = self._absent, None
            if version is not None:
                try:
                    self._content = parse_script(self._path, self._kind)
                except ScriptError as error:
                    self.complaint = str(error)
                    complain(self.complaint)
        return self._content


class ScriptError(Exception):
    """A script that somebody wrote cannot be read."""


def parse_script(path: Path, kind: type[Content]) -> Content:
    """Returns what a JSON file says. Raises ScriptError with all that is wrong with it."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except ValidationError as error:
        wrong = "; ".join(
            ".".join(map(str, one["loc"])) + (": " if one["loc"] else "") + one["msg"]
            for one in error.errors(include_url=False, include_context=False)
        )
        raise ScriptError(f"{path.name} is not valid, and counts for nothing: {wrong}") from None
    except OSError as error:
        raise ScriptError(f"{path.name} cannot be read, and counts for nothing: {error}") from None


def complain(line: str) -> None:
    """Writes a line to server.log, where there is room for it."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def older_log(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


def bound_log(path: Path) -> None:
    """Begins a log anew when it has grown; whoever has it open to append goes on."""
    with contextlib.suppress(OSError):
        if path.stat().st_size > MOST_LOG_BYTES:
            with contextlib.suppress(OSError):
                shutil.copyfile(path, older_log(path))
            os.truncate(path, 0)


def read_log(path: Path) -> bytes:
    """Returns what there is of a log, its older part too."""
    return b"".join(part.read_bytes() for part in (older_log(path), path) if part.exists())
