"""The files of a stack, and the stack of a file: a name may have dots in it, as prod.eu has.

The standard library alone: `aksgpu.ci` runs without an installation.
"""

import re
from pathlib import Path

_OF_ONE_STACK = re.compile(r"(?s)Pulumi\.(?P<stack>.+?)\.(yaml|policies\.json)")
_IN_FILES = re.compile(r"(organization/([\w.-]{1,100}/)?)?[\w.-]{1,100}", re.ASCII)


def short_name(stack: str) -> str:
    """A stack's own name: one of an organisation is written `organisation/project/stack`."""
    return stack.rpartition("/")[2]


def is_for_pulumi(stack: str) -> bool:
    """Whether Pulumi takes a name for a stack's, in a state in files."""
    return _IN_FILES.fullmatch(stack) is not None and short_name(stack).strip(".") != ""


def stack_file(folder: Path, stack: str) -> Path:
    return folder / f"Pulumi.{short_name(stack)}.yaml"


def policies_file(folder: Path, stack: str) -> Path:
    """Where a stack configures the policy pack: beside its stack file."""
    return stack_file(folder, stack).with_suffix(".policies.json")


def stack_of(file: str) -> str | None:
    """The stack whose stack file, or configuration of the pack, has this name."""
    found = _OF_ONE_STACK.fullmatch(file)
    return found["stack"] if found else None


def stacks_in(folder: Path) -> list[str]:
    """The stacks that have a stack file, by name. A folder is none, nor what lies elsewhere."""
    files = (file for file in folder.glob("Pulumi.*.yaml") if file.is_file())
    return sorted(filter(None, (stack_of(file.name) for file in files if not file.is_symlink())))
