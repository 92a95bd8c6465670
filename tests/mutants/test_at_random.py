"""Random mutants are put into live code, and told by what their tests see."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.edits import edits
from tests.mutants.table import ROOT

_SHOP = """
from functools import cache

@cache
def price(count: int) -> int:
    reduced = count > 9
    return 8 if reduced else 10

def greeting() -> str:
    return "hello"

def wait(done: bool) -> None:
    while not done:
        pass

def unseen() -> bool:
    return True

FIRST = price(1)
"""
_TESTS = """
import shop.till

def test_good() -> None:
    assert (shop.till.price(9), shop.till.price(10)) == (10, 8)

def test_useless() -> None:
    assert shop.till.greeting() is not None

def test_in_time() -> None:
    shop.till.wait(True)
"""
_PROJECT = """
[tool.pytest.ini_options]
pythonpath = ["."]
addopts = "--import-mode=importlib"
markers = ["long", "nightly", "browser"]
"""


@pytest.mark.long
def test_a_mutant_survives_where_no_test_sees_it(tmp_path: Path) -> None:
    """A cached function and one that would wait forever are caught, too."""
    files = {"shop/till.py": _SHOP, "tests/shop/test_till.py": _TESTS, "pyproject.toml": _PROJECT}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "tests.mutants", "--random", "shop", "--seed", "1", "--killers"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    outcomes = {
        line.partition("# ")[2]: line.split()[1]
        for line in ended.stdout.splitlines()
        if "shop/till.py:" in line
    }
    assert outcomes == {
        "count > 9 -> count >= 9": "caught",
        "9 -> 10": "caught",
        "return 8 if reduced else 10 -> return None": "caught",
        "8 -> 9": "caught",
        "10 -> 11": "caught",
        "reduced -> not reduced": "caught",
        "'hello' -> 'helloX'": "SURVIVED",
        "not done -> done": "hangs",
    }, ended.stdout
    assert "3 of them never reached" in ended.stdout
    assert "6 | tests/shop/test_till.py::test_good\n" in ended.stdout
    assert "Kill nothing:\n    tests/shop/test_till.py::test_useless\n" in ended.stdout


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("return a and not b", ["return None", "a or not b", "b"]),
        ("return [x for x in a if x]", ["return None", "not x"]),
        ("a['b'] = 1 + b", ["pass", "'bX'", "1", "2"]),
        ("assert 1 < a in b", ["1 <= a in b", "2"]),
        ("'A docstring.'", []),
        ("raise ValueError('a sentence')", ["pass"]),
        ("return f'{a}and' if b else a / b", ["return None", "not b"]),
        ("a: Literal['b'] = True", ["False"]),
    ],
)
def test_what_a_line_can_have(line: str, faults: list[str], tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    file.write_text(f"TABLE = [1, True]\ndef function(a, b=True):\n    {line}\n", encoding="utf-8")
    made = edits(file)
    assert [ast.unparse(edit.new) for edit in made] == faults
    for edit in made:
        assert compile(ast.fix_missing_locations(edit.visit(edit.tree)), file, "exec")
