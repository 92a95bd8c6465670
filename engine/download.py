"""Downloading a file, from where an earlier try broke off."""

import http.client
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from engine.errors import WayClosedError
from engine.progress import Progress

# For reaching the site, and for each piece of the answer; not for the whole download.
_PATIENCE_SECONDS = 10
_PIECE = 1 << 18
# Before each further try; a try that gets further begins them anew.
PAUSES = (1.0, 2.0, 4.0, 8.0)
# A site that was never reached is mostly one that this machine cannot reach.
_TRIES_UNREACHED = 2
# Answers that may be others in a moment: too early, too many, or trouble over there.
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_NOT_THAT_FAR = 416


class _PassingError(Exception):
    """What may go well at the next try."""

    def __init__(self, what: object, *, reached: bool = True) -> None:
        super().__init__(str(what))
        self.reached = reached


def download(address: str, file: Path, progress: Progress) -> None:
    """Download to a file. What is there already is taken for the beginning of it.

    Raises WayClosedError where the site does not have it or stays out of reach; an OSError is the
    own disk's.
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
                raise WayClosedError(f"{address} cannot be fetched: {error}") from error
            progress.update(f"broke off ({error}), trying again")
            time.sleep(PAUSES[max(tries - 1, 0)])
        else:
            return


def _go_on(address: str, file: Path, progress: Progress) -> None:
    got = _size(file)
    try:
        # The address is the project's own or what the user has set, so any scheme is theirs.
        request = urllib.request.Request(address)  # noqa: S310
        if got:
            request.add_header("Range", f"bytes={got}-")
        answer = urllib.request.urlopen(request, timeout=_PATIENCE_SECONDS)  # noqa: S310
    except urllib.error.HTTPError as error:
        if error.code == _NOT_THAT_FAR and got:
            # It is whole already, or it was of another file.
            file.unlink()
        elif error.code not in _PASSING:
            raise WayClosedError(f"{address} cannot be fetched: {error}") from error
        raise _PassingError(error) from error
    except (OSError, http.client.HTTPException) as error:
        raise _PassingError(error, reached=False) from error
    except ValueError as error:
        raise WayClosedError(f"{address} cannot be fetched: {error}") from error
    with answer:
        continues = getattr(answer, "status", None) == http.HTTPStatus.PARTIAL_CONTENT
        size = int(answer.headers.get("Content-Length") or 0) + (got if continues else 0)
        # Unbuffered, so that a full disk is told by the write itself.
        with file.open("ab" if continues else "wb", buffering=0) as output:
            _copy(answer, output, size, progress)
            if (written := output.tell()) < size:
                raise _PassingError(f"it broke off after {written} of {size} bytes")


def _copy(answer: BinaryIO, output: BinaryIO, size: int, progress: Progress) -> None:
    while True:
        try:
            piece = answer.read(_PIECE)
        except (OSError, http.client.HTTPException) as error:
            raise _PassingError(error) from error
        if not piece:
            return
        while piece:
            piece = piece[output.write(piece) :]
        got = output.tell()
        progress.update(f"{got >> 20} of {size >> 20} MB" if size else f"{got >> 20} MB")


def _size(file: Path) -> int:
    with suppress(FileNotFoundError):
        return file.stat().st_size
    return 0
