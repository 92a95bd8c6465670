"""Copies a stack file into the rehearsal's project, before `pulumi` reads it there.

    python -m aksgpu.rehearse.take_over PROGRAM HOME STACK

The `pulumi` function of a shell that has evaluated `aksgpu env` runs it if the file is newer.
"""

import os
import sys
from pathlib import Path

from aksgpu.project import Project
from aksgpu.stack_names import stack_file
from stack_settings.stack_file import StackFileError


def take_over(program: Path, home: Path, stack: str) -> str | None:
    """Copies the file; the reason if that fails, else None."""
    project = Project(program, home)
    try:
        project.write_stack(stack)
        # Unchanged content is not written, but the copy must not stay older than the file.
        os.utime(stack_file(project.folder, stack))
    except StackFileError as error:
        return str(error)
    except OSError as error:
        return f"the rehearsal does not exist any more ({error}): make rehearse STACK={stack}"
    return None


if __name__ == "__main__":
    if reason := take_over(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]):
        sys.exit(f"error: {reason}")
