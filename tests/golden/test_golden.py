"""What the repository's programs send is what it was: the net below changes of how it is made.

A review replayed all stacks once to see what a rewriting might change; nothing showed it since, but
for lives on the engine. Where a change of requests is meant, the command makes the table anew, and
its difference is read with the commit's.
"""

import pytest

from tests.golden.programs import PROGRAMS
from tests.golden.table import COMMAND, FOLDER, difference, made


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_sends_what_it_always_sent(program: str) -> None:
    differs = difference(program, made(program))
    if differs:
        pytest.fail(f"{differs}\nIf that is meant: {COMMAND}", pytrace=False)


def test_each_file_is_of_a_program() -> None:
    assert sorted(file.stem for file in FOLDER.iterdir()) == sorted(PROGRAMS)
