"""Which stacks a change affects, as the outputs of a workflow's step.

    python -m aksgpu.ci.stacks --changed-since HEAD^1

prints `touched`, the stacks whose preview may have changed, and `deployed`, those of them that are
deployed in Azure, in the order of their updates. The variable DEPLOYED_STACKS names the deployed
stacks. `suites` is false if stack files alone have changed: no test judges those. `--folder` prints
the folder of the stack files.
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
from aksgpu.stack_names import links_in, stack_of, stacks_in

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
# The folder of the stack files in Pulumi.yaml. The standard library cannot read YAML, so it must be
# on one line. Older projects have `config: FOLDER`.
_FOLDER = re.compile(
    r"^(?P<quote>[\"']?)(?P<key>stackConfigDir|config)(?P=quote)[ ]*:[ ]+"
    r"(?:\"(?P<double>[^\"\\\n]*)\"|'(?P<single>[^'\n]*)'|(?P<plain>[\w./-]([^:#\n]*[^:#\s])?))"
    r"[ ]*(?:[ ]\#.*)?$",
    re.MULTILINE,
)
# What this cannot read: another notation of the key, or a project in braces.
_SAYS_FOLDER = re.compile(
    r"\A(?:\s|\#.*\n|---)*[{]|^[\"']?(?:stackConfigDir\b|config[\"']?[ ]*:[ ]+[^\s{#])",
    re.MULTILINE,
)
_HERE = PurePosixPath()
# Names become arguments of commands, and a pull request can add a file with any name.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class StacksError(Exception):
    """The stacks cannot be determined; the message says what to do."""


def folder_of_stacks(project: str) -> PurePosixPath:
    """The folder of the stack files, from the text of Pulumi.yaml and relative to it."""
    folders = {
        match["key"]: match["double"] or match["single"] or match["plain"]
        for match in _FOLDER.finditer(project)
    }
    if _SAYS_FOLDER.search(_FOLDER.sub("", project)):
        raise StacksError("Write stackConfigDir in Pulumi.yaml as a line: stackConfigDir: FOLDER")
    folder = folders.get("stackConfigDir") or folders.get("config") or "."
    return PurePosixPath(os.path.normpath(folder))


def touched(
    changed: Iterable[str] | None,
    stacks: Sequence[str],
    folder: PurePosixPath = _HERE,
) -> list[str]:
    """The stacks that changed files affect; all stacks if the changes are not known."""
    if changed is None:
        return list(stacks)
    affected: set[str] = set()
    for path in changed:
        file = PurePosixPath(path)
        if file.parent == folder and (stack := stack_of(file.name)):
            affected.add(stack)
        elif not _touches_none(path):
            affected.update(stacks)
    return [stack for stack in stacks if stack in affected]


def stacks_of(folder: Path) -> list[str]:
    """The stacks that have a file."""
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
    folder_help = "Print the folder of the stack files"
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--changed-since", help=since_help)
    choice.add_argument("--folder", action="store_true", help=folder_help)
    options = parser.parse_args(arguments)
    here = Path.cwd()
    try:
        folder = folder_of_stacks(_text(here / "Pulumi.yaml"))
        if options.folder:
            sys.stdout.write(f"{folder}\n")
            return 0
        stacks = stacks_of(here / folder)
        live = deployed(os.environ.get("DEPLOYED_STACKS", ""), stacks)
        changed = changed_files(here, options.changed_since)
        if changed is not None:
            changed += _links_to(changed, folder)
        affected = touched(changed, stacks, folder)
    except (StacksError, ProgramError) as error:
        sys.stderr.write(f"{error}\n")
        return WRONG_USAGE if isinstance(error, StacksError) else NOT_KNOWN
    live = [stack for stack in live if stack in affected]
    outputs = {
        "touched": affected,
        "deployed": live,
        "suites": changed is None or any(_is_no_stack_file(path, folder) for path in changed),
    }
    sys.stdout.writelines(f"{name}={json.dumps(value)}\n" for name, value in outputs.items())
    return 0


def _links_to(changed: Sequence[str], folder: PurePosixPath) -> list[str]:
    """The files of stacks that are links to changed ones."""
    links = links_in(Path(folder)).items()
    return [str(folder / link) for link, target in links if str(folder / target) in changed]


def _is_no_stack_file(path: str, folder: PurePosixPath) -> bool:
    file = PurePosixPath(path)
    return file.parent != folder or not stack_of(file.name)


def _text(project: Path) -> str:
    """The text of a project file; empty if there is none."""
    try:
        return project.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise StacksError(f"{project.name} cannot be read: {error}. Write it in UTF-8.") from None


def _touches_none(path: str) -> bool:
    folders = tuple(known for known in TOUCHES_NONE if known.endswith("/"))
    return PurePosixPath(path).suffix == ".md" or path in TOUCHES_NONE or path.startswith(folders)


def _git(folder: Path, *arguments: str) -> Ended:
    return Program(("git",), folder).attempt(*arguments, seconds=READ_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
