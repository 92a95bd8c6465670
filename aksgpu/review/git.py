"""What git knows of a stack file."""

from contextlib import suppress
from pathlib import Path

from aksgpu.running import READ_SECONDS, Program, ProgramError


def is_commit(folder: Path, ref: str) -> bool:
    commit = f"{ref}^{{commit}}"
    return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", commit) is not None


def text_at(folder: Path, ref: str, name: str) -> str | None:
    """A file of that folder as it was; None where it was not there."""
    return _git(folder, "show", "--end-of-options", f"{ref}:./{name}")


def path_in_repository(file: Path) -> str:
    """A file's path from the root of its repository, or its name where there is none."""
    prefix = None
    with suppress(ProgramError):
        prefix = _git(file.parent, "rev-parse", "--show-prefix")
    return (prefix or "").strip() + file.name


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints; None where git says no. Raises ProgramError where it does not answer."""
    answer = Program(("git",), folder).attempt(*arguments, seconds=READ_SECONDS)
    return None if answer.code else answer.out
