"""Files of the rehearsal's own: JSON, written whole or not at all, and read again on change."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

Content = TypeVar("Content")


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
    """A JSON file that is read again whenever it has changed."""

    def __init__(self, path: Path, parse: Callable[[Any], Content], absent: Content) -> None:
        self._path = path
        self._parse = parse
        self._absent = self._content = absent
        self._version: tuple[int, int] | None = None

    def read(self) -> Content:
        """Returns the parsed content; the same object for as long as the file is the same."""
        try:
            status = self._path.stat()
            version = (status.st_mtime_ns, status.st_ino)
        except FileNotFoundError:
            version = None
        if version != self._version:
            text = self._path.read_text() if version else None
            self._content = self._absent if text is None else self._parse(json.loads(text))
            self._version = version
        return self._content
