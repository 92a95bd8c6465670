"""Which stacks a change affects, as the outputs of a workflow's step.

    python -m aksgpu.ci.stacks --changed-since HEAD^1

prints `touched`, the stacks whose preview may have changed, and `deployed`, those of them that are
deployed in Azure, in the order of their updates. The variable DEPLOYED_STACKS names the deployed
stacks. `suites` is false if stack files alone have changed: no test judges those.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from aksgpu.outcome import NOT_KNOWN, WRONG_USAGE
from aksgpu.running import READ_SECONDS, Ended, Program, ProgramError
from aksgpu.stack_names import stack_of, stacks_in

# Files that no deployment uses. A file that is not listed affects every stack: better one review
# too many than one too few.
TOUCHES_NONE = (
    ".ci/",
    ".devcontainer/",
    ".github/",
    "docs/",
    "examples/",
    "templates/",
    "tests/",
    "tools/",
    ".gitignore",
    "LICENSE",
    "Makefile",
)
# Names become arguments of commands, and a pull request can add a file with any name.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class StacksError(Exception):
    """The stacks cannot be determined; the message says what to do."""


def touched(changed: Iterable[str] | None, stacks: Sequence[str]) -> list[str]:
    """The stacks that changed files affect; all stacks if the changes are not known."""
    affected: set[str] = set() if changed is not None else {*stacks}
    for path in changed or ():
        if stack := _stack_of(path):
            affected.add(stack)
        elif not _touches_none(path):
            affected.update(stacks)
    return [stack for stack in stacks if stack in affected]


def stacks_of(folder: Path) -> list[str]:
    """The stacks that have a file."""
    if links := [file.name for file in folder.glob("Pulumi.*") if file.is_symlink()]:
        # What a link leads to changes without it.
        raise StacksError(f"{', '.join(sorted(links))}: write a file in place of the link.")
    stacks = stacks_in(folder)
    if invalid := [stack for stack in stacks if not _NAME.fullmatch(stack)]:
        raise StacksError(
            f"Invalid stack names: {', '.join(map(repr, invalid))}. A name starts with a letter or "
            "a digit, and has only letters, digits, dots, dashes and underscores."
        )
    return stacks


def deployed(named: str, stacks: Sequence[str]) -> list[str]:
    """The stacks in DEPLOYED_STACKS; each must have a file."""
    names = named.split()
    if missing := [stack for stack in names if stack not in stacks]:
        raise StacksError(
            f"DEPLOYED_STACKS names {', '.join(missing)}, which has no stack file. Existing stack "
            f"files: {', '.join(stacks)}. To remove a stack, destroy it first, then remove it from "
            "the variable, and delete its file last."
        )
    return names


def changed_files(folder: Path, since: str) -> list[str] | None:
    """The files that differ from a commit; None if the commit is not known."""
    if not since:
        return None
    commit = _git(folder, "rev-parse", "--verify", "--quiet", f"{since}^{{commit}}")
    if commit.code:
        sys.stderr.write(
            f"{commit.err}The commit {since} is not known here: all stacks are affected.\n"
        )
        return None
    # Lists a renamed file under both names.
    listed = _git(folder, "diff", "--name-only", "--no-renames", "-z", commit.out.strip(), "HEAD")
    return [path for path in listed.succeeded().split("\0") if path]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the outputs of the step."""
    parser = argparse.ArgumentParser(prog="python -m aksgpu.ci.stacks", description=__doc__)
    since_help = "A commit; if it is empty, all stacks are affected"
    parser.add_argument("--changed-since", required=True, help=since_help)
    options = parser.parse_args(arguments)
    here = Path.cwd()
    try:
        stacks = stacks_of(here)
        live = deployed(os.environ.get("DEPLOYED_STACKS", ""), stacks)
        changed = changed_files(here, options.changed_since)
    except (StacksError, ProgramError) as error:
        sys.stderr.write(f"{error}\n")
        return WRONG_USAGE if isinstance(error, StacksError) else NOT_KNOWN
    affected = touched(changed, stacks)
    outputs = {
        "touched": affected,
        "deployed": [stack for stack in live if stack in affected],
        "suites": changed is None or not all(map(_stack_of, changed)),
    }
    sys.stdout.writelines(f"{name}={json.dumps(value)}\n" for name, value in outputs.items())
    return 0


def _stack_of(path: str) -> str | None:
    """The stack of a stack file, or of a configuration of the pack; both are in the root."""
    return None if "/" in path else stack_of(path)


def _touches_none(path: str) -> bool:
    folders = tuple(known for known in TOUCHES_NONE if known.endswith("/"))
    return PurePosixPath(path).suffix == ".md" or path in TOUCHES_NONE or path.startswith(folders)


def _git(folder: Path, *arguments: str) -> Ended:
    return Program(("git",), folder).attempt(*arguments, seconds=READ_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
