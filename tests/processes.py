"""The processes of this machine, so that a test can tell what is left running."""

import subprocess


def command_lines(part: str) -> dict[int, str]:
    """The command lines that have `part` in them, whole, by the ids of their processes."""
    lines = (line.split(maxsplit=1) for line in _listed("pid=,args="))
    return {int(line[0]): line[1] for line in lines if len(line) == 2 and part in line[1]}


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    listed = _listed("pid=,ppid=")
    return [int(child) for child, parent in map(str.split, listed) if int(parent) == pid]


def descendants(pid: int) -> dict[int, str]:
    """What a process has started, and what that has, with their command lines."""
    commands, children = command_lines(""), children_of(pid)
    below = {process: commands.get(process, "") for process in children}
    return below | {
        inner: command for child in children for inner, command in descendants(child).items()
    }


def is_running(pid: int) -> bool:
    """Whether a process is there; one that has ended and is not asked after is not."""
    return any(
        line.split()[0] == str(pid) and not line.split()[1].startswith("Z")
        for line in _listed("pid=,stat=")
    )


def _listed(columns: str) -> list[str]:
    ended = subprocess.run(
        ["ps", "-eo", columns, "-ww"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout.splitlines()
