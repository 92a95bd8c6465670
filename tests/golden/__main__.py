"""Makes the golden table anew, and shows how it differs: `python -m tests.golden`."""

import logging
import sys

from tests.golden.programs import PROGRAMS
from tests.golden.table import FOLDER, difference, file_of, made

if __name__ == "__main__":
    # Warnings of programs.
    logging.disable()
    FOLDER.mkdir(exist_ok=True)
    for program in PROGRAMS:
        new = made(program)
        sys.stdout.write(difference(program, new))
        file_of(program).write_text(new, encoding="utf-8")
    for file in {*FOLDER.iterdir()} - {*map(file_of, PROGRAMS)}:
        sys.stdout.write(f"{file.name} is of no program, and gone.\n")
        file.unlink()
