"""What git knows of a stack file."""

from contextlib import suppress
from pathlib import Path

from aksgpu.running import READ_SECONDS, Ended, Program, ProgramError


class UnknownBaseError(Exception):
    """There is no such commit here."""


def check_base(folder: Path, ref: str) -> None:
    """Raises UnknownBaseError where git cannot tell what the base is."""
    ended = _git(
        folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"
    )
    if ended is None or ended.code != 0:
        raise UnknownBaseError(
            f"git knows no commit {ref!r} in {folder}. In CI, fetch it first (fetch-depth: 0)."
        )


def text_at(folder: Path, ref: str, name: str) -> str | None:
    """A file of that folder as it was; None where it was not there."""
    ended = _git(folder, "show", "--end-of-options", f"{ref}:./{name}")
    return ended.out if ended and ended.code == 0 else None


def path_in_repository(file: Path) -> str:
    """A file's path from the root of its repository, or its name where there is none."""
    ended = _git(file.parent, "rev-parse", "--show-prefix")
    prefix = ended.out.strip() if ended and ended.code == 0 else ""
    return prefix + file.name


def _git(folder: Path, *arguments: str) -> Ended | None:
    with suppress(ProgramError):
        return Program(("git",), folder).attempt(*arguments, seconds=READ_SECONDS)
    return None
