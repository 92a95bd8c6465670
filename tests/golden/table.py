"""The golden table: what each program sent when somebody last looked at it, a file each."""

import difflib
from pathlib import Path

import yaml

from tests.golden.programs import life_of
from tests.rehearsal.arm.in_process import SUBSCRIPTION

FOLDER = Path(__file__).with_name("requests")
COMMAND = ".venv/bin/python -m tests.golden"


class _Dumper(yaml.CSafeDumper):
    """Shows texts of several lines as such, and no references."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)


def file_of(program: str) -> Path:
    return FOLDER / f"{program}.yaml"


def made(program: str) -> str:
    """The file of a program, anew."""
    parts = [f"# What {program} sends. Made by `{COMMAND}`.\n"]
    for part, sent in life_of(program).items():
        if sent:
            parts.append(yaml.dump({part: sent}, Dumper=_Dumper, width=10_000))
    return "".join(parts).replace(SUBSCRIPTION, "{subscription}")


def difference(program: str, new: str) -> str:
    """How a file differs from the one that is kept; empty if it does not."""
    file = file_of(program)
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    before, now = old.splitlines(keepends=True), new.splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, now, file.name, f"{file.name}, now"))
