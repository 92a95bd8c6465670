"""Reads stack files from git."""

import posixpath
from pathlib import Path

from aksgpu.running import READ_SECONDS, Ended, Program

# The mode of a symbolic link in `git ls-tree`.
_LINK = "120000 "
_MOST_LINKS = 5


def is_commit(folder: Path, ref: str) -> bool:
    commit = f"{ref}^{{commit}}"
    return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", commit).code == 0


def content_at(folder: Path, ref: str, name: str) -> bytes | None:
    """The content of a file of that folder at a commit; None if there is none. Follows links."""
    for _ in range(_MOST_LINKS):
        path = posixpath.normpath(name)
        kind = _git(folder, "ls-tree", "--end-of-options", ref, "--", path).out
        shown = _git(folder, "show", "--end-of-options", f"{ref}:./{path}")
        if shown.code or not kind.startswith(_LINK):
            return None if shown.code else shown.printed
        name = posixpath.join(posixpath.dirname(path), shown.out)
    return None


def _git(folder: Path, *arguments: str) -> Ended:
    """Runs git. Raises ProgramError if it cannot run, or does not end."""
    return Program(("git",), folder).attempt(*arguments, seconds=READ_SECONDS)
