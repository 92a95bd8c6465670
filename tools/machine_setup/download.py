"""Downloads a file, and resumes an interrupted download."""

import http.client
import re
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from machine_setup.errors import SourceUnavailableError
from machine_setup.progress import Progress

# The timeout for connecting and for each piece, not for the whole download.
_PATIENCE_SECONDS = 10
_PIECE = 1 << 18
# Several times the largest archive. A site that never ends would fill the disk.
_MOST_BYTES = 4 << 30
# The pauses between attempts; an attempt that makes progress starts over with the first.
PAUSES = (1.0, 2.0, 4.0, 8.0)
# A site that was never reached is most likely not reachable from this machine.
_TRIES_UNREACHED = 2
# Temporary HTTP errors: timeouts, throttling and server errors.
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_NOT_THAT_FAR = 416


class _PassingError(Exception):
    """A temporary error: the next attempt may succeed."""

    def __init__(self, what: object, *, reached: bool = True) -> None:
        super().__init__(str(what))
        self.reached = reached


def download(address: str, file: Path, progress: Progress) -> None:
    """Downloads to a file; existing content counts as the beginning of the download.

    Raises SourceUnavailableError if the site does not have the file or stays unreachable. An
    OSError comes from the local disk.
    """
    tries, reached = 0, False
    while True:
        before = _size(file)
        try:
            _go_on(address, file, progress)
        except _PassingError as error:
            reached = reached or error.reached
            tries = 0 if _size(file) > before else tries + 1
            if tries > len(PAUSES) or (tries >= _TRIES_UNREACHED and not reached):
                raise SourceUnavailableError(f"{address} cannot be downloaded: {error}") from error
            progress.update(f"interrupted ({error}), trying again")
            time.sleep(PAUSES[max(tries - 1, 0)])
        else:
            return


def _go_on(address: str, file: Path, progress: Progress) -> None:
    got = _size(file)
    try:
        # The address comes from the project or from the user, who may choose any scheme.
        request = urllib.request.Request(address)  # noqa: S310
        if got:
            request.add_header("Range", f"bytes={got}-")
        answer = urllib.request.urlopen(request, timeout=_PATIENCE_SECONDS)  # noqa: S310
    except urllib.error.HTTPError as error:
        if error.code == _NOT_THAT_FAR and got:
            # The file is complete already, or belongs to another download.
            file.unlink()
        elif error.code not in _PASSING:
            raise SourceUnavailableError(f"{address} cannot be downloaded: {error}") from error
        raise _PassingError(error) from error
    except (OSError, http.client.HTTPException) as error:
        raise _PassingError(error, reached=False) from error
    except ValueError as error:
        raise SourceUnavailableError(f"{address} cannot be downloaded: {error}") from error
    with answer:
        continues = getattr(answer, "status", None) == http.HTTPStatus.PARTIAL_CONTENT
        size = _length(answer.headers.get("Content-Length")) + (got if continues else 0)
        # Unbuffered, so that the write itself reports a full disk.
        with file.open("ab" if continues else "wb", buffering=0) as output:
            _copy(address, answer, output, size, progress)
            if (written := output.tell()) < size:
                raise _PassingError(f"the connection ended after {written} of {size} bytes")


def _copy(address: str, answer: BinaryIO, output: BinaryIO, size: int, progress: Progress) -> None:
    while True:
        try:
            piece = answer.read(_PIECE)
        # Python's own HTTP raises a ValueError for the size of a piece that is negative.
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise _PassingError(error) from error
        if not piece:
            return
        while piece:
            piece = piece[output.write(piece) :]
        got = output.tell()
        if got > _MOST_BYTES:
            output.truncate(0)
            limit = f"the answer has more than {_MOST_BYTES >> 30} GB"
            raise SourceUnavailableError(f"{address} cannot be downloaded: {limit}")
        progress.update(f"{got >> 20} of {size >> 20} MB" if size else f"{got >> 20} MB")


def _length(header: str | None) -> int:
    """Returns the size that a site tells; 0 if it tells none that is a number."""
    text = (header or "").strip()
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else 0


def _size(file: Path) -> int:
    with suppress(FileNotFoundError):
        return file.stat().st_size
    return 0
