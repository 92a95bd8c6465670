"""The stacks of a rehearsal, by the files of its state: no engine is asked."""

from pathlib import Path

from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROGRAM

_ENDINGS = (".json", ".json.gz")


def stacks_of(home: Path) -> list[str]:
    """The names of the stacks there are."""
    files = (Project(PROGRAM, home).state / ".pulumi" / "stacks").rglob("*")
    names = (
        file.name.removesuffix(ending)
        for file in files
        for ending in _ENDINGS
        if file.is_file() and file.name.endswith(ending)
    )
    return sorted(names)
