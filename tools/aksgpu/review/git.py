"""Reads stack files from git."""

from pathlib import Path

from aksgpu.running import READ_SECONDS, Ended, Program


def is_commit(folder: Path, ref: str) -> bool:
    commit = f"{ref}^{{commit}}"
    return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", commit).code == 0


def content_at(folder: Path, ref: str, name: str) -> bytes | None:
    """The content of a file of that folder at a commit; None if there is none."""
    shown = _git(folder, "show", "--end-of-options", f"{ref}:./{name}")
    return None if shown.code else shown.printed


def _git(folder: Path, *arguments: str) -> Ended:
    """Runs git. Raises ProgramError if it cannot run, or does not end."""
    return Program(("git",), folder).attempt(*arguments, seconds=READ_SECONDS)
