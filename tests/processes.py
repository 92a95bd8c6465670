"""The processes of this machine, so that a test can tell what is left running."""

import subprocess


def command_lines(part: str) -> dict[int, str]:
    """The command lines that have `part` in them, whole, by the ids of their processes."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,args=", "-ww"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line.split(maxsplit=1) for line in listed.stdout.splitlines())
    return {int(line[0]): line[1] for line in lines if len(line) == 2 and part in line[1]}
