"""The files of a stack, and the stack of a file. A name can contain dots, such as prod.eu.

Only the standard library: `aksgpu.ci` runs without an installation.
"""

import os
import re
from pathlib import Path

_OF_ONE_STACK = re.compile(r"(?s)Pulumi\.(?P<stack>.+?)\.(yaml|policies\.json)")
_IN_FILES = re.compile(r"(organization/([\w.-]{1,100}/)?)?[\w.-]{1,100}", re.ASCII)


def short_name(stack: str) -> str:
    """The name without organization and project, as in `organization/project/stack`."""
    return stack.rpartition("/")[2]


def mistake_in_name(stack: str) -> tuple[str, str] | None:
    """What is wrong with a stack's name for a file backend, and what to do; None if it is valid."""
    if _IN_FILES.fullmatch(stack) and short_name(stack).strip("."):
        return None
    return (
        f"Pulumi does not allow the stack name {stack[:100]!r}",
        "give the name between `Pulumi.` and `.yaml` in the stack file's name",
    )


def stack_file(folder: Path, stack: str) -> Path:
    return folder / f"Pulumi.{short_name(stack)}.yaml"


def policies_file(folder: Path, stack: str) -> Path:
    """The stack's configuration of the policy pack, next to its stack file."""
    return stack_file(folder, stack).with_suffix(".policies.json")


def stack_of(file: str) -> str | None:
    """The stack whose stack file, or configuration of the pack, has this name."""
    match = _OF_ONE_STACK.fullmatch(file)
    return match["stack"] if match else None


def stacks_in(folder: Path) -> list[str]:
    """The stacks that have a stack file, by name. A link must lead to a file of this folder."""
    files = (file for file in folder.glob("Pulumi.*.yaml") if file.is_file())
    own = (file for file in files if _target(file).parent == _target(folder))
    return sorted(filter(None, (stack_of(file.name) for file in own)))


def _target(file: Path) -> Path:
    return Path(os.path.realpath(file))
