"""Which stacks a change touches, as the outputs of a workflow's step.

    python -m aksgpu.ci.stacks --changed-since HEAD^1

prints `touched`, the stacks whose preview may have changed, and `deployed`, those of them that are
in Azure, in the order in which they are to be updated. The variable DEPLOYED_STACKS names the
latter. `--folder` prints where the stack files are.
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
    "reference/",
    "rehearsal/",
    "tests/",
    ".gitignore",
    "LICENSE",
    "Makefile",
    "requirements-dev.txt",
)
# Where Pulumi.yaml says that the stack files lie. There is no reader of YAML here, so it has to be
# said in one line; `config: FOLDER` is how older projects do.
_FOLDER = re.compile(
    r"^(?P<quote>[\"']?)(?P<key>stackConfigDir|config)(?P=quote)[ ]*:[ ]+"
    r"(?:\"(?P<double>[^\"\\\n]*)\"|'(?P<single>[^'\n]*)'|(?P<plain>[\w./-]([^:#\n]*[^:#\s])?))"
    r"[ ]*(?:[ ]\#.*)?$",
    re.MULTILINE,
)
# What is read here in part only: another way to say it, or a project in braces.
_SAYS_FOLDER = re.compile(
    r"\A(?:\s|\#.*\n|---)*[{]|^[\"']?(?:stackConfigDir\b|config[\"']?[ ]*:[ ]+[^\s{#])",
    re.MULTILINE,
)
_HERE = PurePosixPath()
# Names go into the arguments of commands, and come from files that a pull request may bring.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class StacksError(Exception):
    """The stacks cannot be told, and the message says what can be done about it."""


def folder_of_stacks(project: str) -> PurePosixPath:
    """Where the stack files are, by the text of Pulumi.yaml, from where that is."""
    said = {
        found["key"]: found["double"] or found["single"] or found["plain"]
        for found in _FOLDER.finditer(project)
    }
    if _SAYS_FOLDER.search(_FOLDER.sub("", project)):
        raise StacksError("Write stackConfigDir in Pulumi.yaml as a line: stackConfigDir: FOLDER")
    return PurePosixPath(os.path.normpath(said.get("stackConfigDir") or said.get("config") or "."))


def touched(
    changed: Iterable[str] | None,
    stacks: Sequence[str],
    folder: PurePosixPath = _HERE,
) -> list[str]:
    """The stacks that changed files touch; all of them where it is not known what has changed.

    One whose file goes is one of them: its pools go out of everybody's hands.
    """
    if changed is None:
        return list(stacks)
    found: set[str] = set()
    gone: set[str] = set()
    for path in changed:
        file = PurePosixPath(path)
        if file.parent == folder and (stack := stack_of(file.name)):
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
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--changed-since", help=counted)
    wanted.add_argument("--folder", action="store_true", help="Print where the stack files are")
    options = parser.parse_args(arguments)
    here = Path.cwd()
    try:
        project = here / "Pulumi.yaml"
        text = project.read_text(encoding="utf-8-sig") if project.exists() else ""
        folder = folder_of_stacks(text)
        if options.folder:
            sys.stdout.write(f"{folder}\n")
            return 0
        stacks = stacks_of(here / folder)
        live = deployed(os.environ.get("DEPLOYED_STACKS", ""), stacks)
        told = touched(changed_files(here, options.changed_since), stacks, folder)
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
