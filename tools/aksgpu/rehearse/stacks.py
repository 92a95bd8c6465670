"""The stacks of a rehearsal, from the files of its backend, without an engine."""

from pathlib import Path

from aksgpu.rehearsal_stage import rehearsed_project
from stack_settings.stack_file import read_project

_ENDINGS = (".json", ".json.gz")


def stacks_of(home: Path) -> list[str]:
    """The names of the stacks; those of other projects as `project/name`."""
    rehearsed = rehearsed_project(home)
    folder = rehearsed.state / ".pulumi" / "stacks"
    # The rehearsal has a project file too, whatever has become of the program's.
    projects = map(read_project, (rehearsed.program, rehearsed.folder))
    program = next((name for each in projects if (name := each.get("name"))), None)
    stacks = []
    for file in folder.rglob("*"):
        ending = next((ending for ending in _ENDINGS if file.name.endswith(ending)), None)
        if ending and file.is_file():
            is_ours = file.parent.name == program or file.parent == folder
            project = "" if is_ours else file.parent.name
            stacks.append(f"{project}/{file.name.removesuffix(ending)}".lstrip("/"))
    return sorted(stacks)
