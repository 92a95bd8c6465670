"""The rehearsal's files: records, scripts that are reread on change, and logs."""

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

Content = TypeVar("Content")


def read_json(path: Path) -> dict[str, Any] | None:
    """Returns the JSON object in a file; None if the file is missing or damaged."""
    return read_record(path, dict[str, Any])


def read_record(path: Path, kind: type[Content]) -> Content | None:
    """Returns the content of a JSON file; None if it is missing or of another type."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def write_json(path: Path, content: dict[str, Any], mode: int = 0o644) -> None:
    write_whole(path, json.dumps(content, indent=2).encode() + b"\n", mode)


def write_whole(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Writes a file atomically, with its final mode; also safe against a loss of power."""
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
    """Flushes a folder's entries to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class WatchedFile(Generic[Content]):
    """A typed JSON file that is reread whenever it has changed.

    An invalid file counts as absent, with a line in server.log.
    """

    def __init__(self, path: Path, kind: type[Content], absent: Content) -> None:
        self._path = path
        self._kind = kind
        self._absent = self._content = absent
        self._version: tuple[int, ...] | None = None
        # What is wrong with the file; None if it is valid.
        self.complaint: str | None = None

    def read(self) -> Content:
        """Returns the content: the same object as long as the file does not change."""
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
                    log_line(self.complaint)
        return self._content


class ScriptError(Exception):
    """A script of the user's is not valid."""


def parse_script(path: Path, kind: type[Content]) -> Content:
    """Returns the content of a JSON file. Raises ScriptError with everything wrong with it."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except ValidationError as error:
        mistakes = "; ".join(
            ".".join(map(str, detail["loc"])) + (": " if detail["loc"] else "") + detail["msg"]
            for detail in error.errors(include_url=False, include_context=False)
        )
        raise ScriptError(f"{path.name} is not valid and is ignored: {mistakes}") from None
    except OSError as error:
        raise ScriptError(f"{path.name} cannot be read and is ignored: {error}") from None


def log_line(line: str) -> None:
    """Writes a line to server.log (the server's stderr), unless the disk is full."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def read_log(path: Path) -> bytes:
    """Returns the content of a log, which may not be there yet."""
    return path.read_bytes() if path.exists() else b""


def log_length(path: Path) -> int:
    """Returns the length of what `read_log` returns."""
    return path.stat().st_size if path.exists() else 0
