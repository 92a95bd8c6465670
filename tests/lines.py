"""Counts the lines of each room, and of its tests: `python -m tests.lines` prints them.

What a room should have at most is a decision about promises, in tests/rooms.csv. It fails nobody.
"""

import csv
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = Path(__file__).with_name("rooms.csv")
PROGRAMS = {".py", ".go"}
TABLES = {".csv", ".toml", ".yaml", ".yml", ".sh", ".css", ".js", ".html"}


def rooms() -> list[dict[str, str]]:
    with ROOMS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def counted() -> Counter[tuple[str, str, bool]]:
    """The lines written by hand: by room, whether of the product or its tests, and of a table."""
    folders = {
        folder: (room["room"], kind)
        for room in rooms()
        for kind in ("product", "tests")
        for folder in room[kind].split()
    }
    lines: Counter[tuple[str, str, bool]] = Counter()
    for name in by_hand(git("ls-files")):
        suffix = Path(name).suffix
        if suffix in PROGRAMS | TABLES:
            path = name if "/" in name else f"./{name}"
            # The nearest of the folders that it is in; others count with the tests of the root.
            inside = [folder for folder in folders if path.startswith(folder)]
            room, kind = folders[max(inside, key=len)]
            lines[room, kind, suffix in TABLES] += len((ROOT / name).read_bytes().splitlines())
    return lines


def by_hand(names: Sequence[str]) -> list[str]:
    """The files that are not generated."""
    attributes = git("check-attr", "linguist-generated", "--", *names)
    return [line.split(": ")[0] for line in attributes if not line.endswith(": set")]


def git(*arguments: str) -> list[str]:
    command = ["git", "-c", "core.quotePath=false", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def table() -> list[str]:
    """The rooms with their lines, what they should have at most, and the lines of their tables."""
    lines, sums = counted(), Counter[int]()
    shown: list[tuple[str, ...]] = [("room", "product", "at most", "tables", "tests", "at most")]
    for room in rooms():
        name = room["room"]
        row = [
            lines[name, "product", False],
            int(room["most"]),
            lines[name, "product", True],
            lines[name, "tests", False],
            int(room["most_of_tests"]),
        ]
        sums.update(dict(enumerate(row)))
        shown.append((name, *map("{:,}".format, row)))
    shown.append(("sum", *(f"{sums[column]:,}" for column in range(5))))
    return [f"{name:27}" + "".join(f"{cell:>9}" for cell in cells) for name, *cells in shown]


if __name__ == "__main__":
    sys.stdout.write("\n".join([*table(), ""]))
