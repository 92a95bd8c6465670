"""A stack of plain azure-native resources moves to the components, and away from them again.

docs/move.md has the programs: nothing is replaced, nothing is deleted, and no preview is left with
a change.
"""

import re

import pytest

from tests.bench import ROOT, Bench
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.nightly]
PAGE = ROOT / "docs" / "move.md"


def program(heading: str, name: str) -> str:
    """A program of the page, with names of the test's own."""
    part = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    text = re.search(r"```python\n(.*?)```", part, re.DOTALL)
    assert text, heading
    return text[1].replace("NAME", name)


def ids(bench: Bench) -> set[str]:
    """What is in Azure by the state, and by which provider."""
    return {
        f"{each['type']} {each['id']}"
        for each in bench.resources().values()
        if each["type"].startswith("azure-native:")
    }


def test_a_stack_moves_to_the_components_and_away(bench: Bench) -> None:
    name = unique("move")
    bench.up(program("Plain azure-native", name))
    plain = ids(bench)
    assert len(plain) == 3
    for heading in ("The same with aks-gpu", "Away again"):
        bench.write(program(heading, name))
        assert {*bench.changes().values()} <= {"create", "update", "delete"}
        bench.pulumi("up", "--yes", "--skip-preview")
        assert ids(bench) == plain
        assert bench.requests("DELETE") == []
        assert bench.changes() == {}
        bench.pulumi("refresh", "--yes", "--skip-preview")
        assert bench.changes() == {} or heading == "Away again"
    # Both have only updated what there was.
    created = [line for line in bench.requests("PUT") if line["status"] == 201]
    assert len(created) == 3
