"""What Pulumi.yaml says of stack files."""

from pathlib import Path
from typing import Any

import pytest

from stack_settings.project_file import read_project
from stack_settings.stack_file import parse


def written(folder: Path, text: str) -> Any:
    (folder / "Pulumi.yaml").write_text(text)
    return read_project(folder)


def test_a_project_file_gives_values_to_keys(tmp_path: Path) -> None:
    declared = "{a: {type: string, default: x}, b: {value: true}, c: {type: object}, d: 4}"
    assert written(tmp_path, f"config: {declared}").defaults == {
        "aks-gpu:a": "x",
        "aks-gpu:b": True,
        "aks-gpu:d": 4,
    }


@pytest.mark.parametrize("text", ["stackConfigDir: stacks", "config: stacks"])
def test_the_project_file_names_the_folder_of_stack_files(tmp_path: Path, text: str) -> None:
    assert written(tmp_path, text).folder_of_stacks == "stacks"
    assert read_project(tmp_path / "nowhere").folder_of_stacks == "."
    assert written(tmp_path, "config: {a: b}").folder_of_stacks == "."


DECLARED = """config:
  aks-gpu:flag: {type: boolean}
  count: {type: integer}
  aks-gpu:name: {type: string}
  aks-gpu:map: {type: object}
  aks-gpu:lists: {type: array, items: {type: array, items: {type: string}}}
"""


@pytest.mark.parametrize(
    ("declared", "wrong"),
    [
        ("{flag: true, count: 3, name: 4, map: {}, lists: [[a], []]}", []),
        ("{flag: 'true', count: '-3', name: , map: {a: [b]}}", []),
        ("{flag: {secure: x}, count: {secure: x}, name: {secure: x}}", []),
        ("{flag: yes, count: 1.5, name: [a], map: [a], lists: {a: b}}", 5),
        ("{flag: , count: , map: , lists: }", 4),
        ("{map: {secure: x}, lists: {secure: x}}", 2),
        ("{lists: [a, [b, 3], null]}", ["lists[0]", "lists[1][1]", "lists[2]"]),
    ],
)
def test_values_must_have_the_types_that_the_project_file_declares(
    tmp_path: Path, declared: str, wrong: Any
) -> None:
    """`allowRetired: yes` and a list for a map were fine here, and Pulumi refused them."""
    reported = parse(f"config: {declared}", "x").mistakes(written(tmp_path, DECLARED))
    paths = [each.mistake.path for each in reported]
    assert paths == wrong or len(paths) == wrong
    assert all(each.place for each in reported)
