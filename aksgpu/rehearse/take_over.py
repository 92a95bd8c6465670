"""Takes a stack file over into the rehearsal's project, before plain `pulumi` reads it there.

    python -m aksgpu.rehearse.take_over PROGRAM HOME STACK

The `pulumi` of a shell that has evaluated `aksgpu env` does so where the file is newer.
"""

import os
import sys
from pathlib import Path

from aksgpu.project import Project
from aksgpu.stack_names import stack_file
from settings.stack_file import StackFileError


def take_over(program: Path, home: Path, stack: str) -> str | None:
    """Why it cannot be taken over; None where it has been."""
    project = Project(program, home)
    try:
        project.write_stack(stack)
        # It may say the same as before, and is as new as the file all the same.
        os.utime(stack_file(project.folder, stack))
    except StackFileError as error:
        return str(error)
    except OSError as error:
        return f"the rehearsal is not there any more ({error}): make rehearse STACK={stack}"
    return None


if __name__ == "__main__":
    if refused := take_over(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]):
        sys.exit(f"error: {refused}")
