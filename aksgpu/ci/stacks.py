"""Which stacks a change touches, as the outputs of a workflow's step.

    python -m aksgpu.ci.stacks --changed-since HEAD^1

prints `touched`, the stacks whose preview may have changed, and `deployed`, those of them that are
in Azure, in the order in which they are to be updated. The variable DEPLOYED_STACKS names the
latter.
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

# What no deployment is made of. Whatever is not listed touches every stack: a file that nobody has
# thought of is better reviewed once too often.
TOUCHES_NONE = (
    ".ci/",
    ".github/",
    "acceptance/",
    "aksgpu/",
    "benchmarks/",
    "docs/",
    "engine/",
    "examples/",
    "kube/",
    "rehearsal/",
    "tests/",
    ".gitignore",
    "Makefile",
    "requirements-dev.txt",
)
# Names go into the arguments of commands, and come from files that a pull request may bring.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class StacksError(Exception):
    """The stacks cannot be told, and the message says what can be done about it."""


def touched(changed: Iterable[str] | None, stacks: Sequence[str]) -> list[str]:
    """The stacks that changed files touch; all of them where it is not known what has changed.

    One whose file goes is one of them: its pools go out of everybody's hands.
    """
    if changed is None:
        return list(stacks)
    found: set[str] = set()
    gone: set[str] = set()
    for path in changed:
        if stack := stack_of(path):
            found.add(stack)
            if path.endswith(".yaml") and stack not in stacks and _NAME.fullmatch(stack):
                gone.add(stack)
        elif not _touches_none(path):
            found.update(stacks)
    return [*(stack for stack in stacks if stack in found), *sorted(gone)]


def stacks_of(folder: Path) -> list[str]:
    """The stacks that have a file."""
    found = stacks_in(folder)
    if odd := [stack for stack in found if not _NAME.fullmatch(stack)]:
        raise StacksError(
            f"These are no names of stacks: {', '.join(map(repr, odd))}. A name begins with a "
            "letter or a digit, and consists of these, dots, dashes and underscores."
        )
    return found


def deployed(named: str, stacks: Sequence[str]) -> list[str]:
    """The stacks that DEPLOYED_STACKS names, which all have to have a file."""
    wanted = named.split()
    if missing := [stack for stack in wanted if stack not in stacks]:
        raise StacksError(
            f"DEPLOYED_STACKS names {', '.join(missing)}, and there is no such stack file. There "
            f"are: {', '.join(stacks)}. A stack that is to go is destroyed first, then taken out "
            "of that variable; its file goes last."
        )
    return wanted


def changed_files(folder: Path, since: str) -> list[str] | None:
    """The files that differ from a commit; None where that is not known."""
    if not since:
        return None
    commit = _git(folder, "rev-parse", "--verify", "--quiet", f"{since}^{{commit}}")
    if commit.code:
        sys.stderr.write(f"{commit.err}The commit {since} is not known here: every stack counts.\n")
        return None
    # A renamed file is told by both of its names.
    listed = _git(folder, "diff", "--name-only", "--no-renames", "-z", commit.out.strip(), "HEAD")
    return [path for path in listed.succeeded().split("\0") if path]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the outputs of the step."""
    parser = argparse.ArgumentParser(prog="python -m aksgpu.ci.stacks", description=__doc__)
    counted = "A commit; empty, and every stack counts"
    parser.add_argument("--changed-since", required=True, help=counted)
    since = parser.parse_args(arguments).changed_since
    here = Path.cwd()
    try:
        stacks = stacks_of(here)
        live = deployed(os.environ.get("DEPLOYED_STACKS", ""), stacks)
        told = touched(changed_files(here, since), stacks)
    except (StacksError, ProgramError) as error:
        sys.stderr.write(f"{error}\n")
        return WRONG_USAGE if isinstance(error, StacksError) else NOT_KNOWN
    live = [stack for stack in live if stack in told]
    sys.stdout.write(f"touched={json.dumps(told)}\ndeployed={json.dumps(live)}\n")
    return 0


def _touches_none(path: str) -> bool:
    folders = tuple(known for known in TOUCHES_NONE if known.endswith("/"))
    return PurePosixPath(path).suffix == ".md" or path in TOUCHES_NONE or path.startswith(folders)


def _git(folder: Path, *arguments: str) -> Ended:
    return Program(("git",), folder).attempt(*arguments, seconds=READ_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
