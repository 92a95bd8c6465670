"""Counts the lines of each room: those of programs, and beside them those of tables and other code.

`python -m tests.lines` prints them beside their ceilings, in tests/ceilings.csv.
"""

import csv
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench import ROOT

CEILINGS = Path(__file__).with_name("ceilings.csv")
PROGRAMS = {".py", ".go"}
OTHERS = {".csv", ".toml", ".yaml", ".yml", ".sh", ".css", ".js", ".html"}


@dataclass(frozen=True)
class Ceiling:
    """The most lines of a room, and why a commit raised them."""

    programs: int
    others: int
    why: str


def counted() -> dict[str, Counter[str]]:
    """The lines that are tracked and written by hand: of programs and of others, by room."""
    rooms: dict[str, Counter[str]] = {"programs": Counter(), "others": Counter()}
    for name in by_hand(git("ls-files")):
        suffix = Path(name).suffix
        if suffix not in PROGRAMS | OTHERS:
            continue
        room = room_of(name)
        kind = "programs" if suffix in PROGRAMS else "others"
        rooms[kind][room] += len((ROOT / name).read_bytes().splitlines())
    return rooms


def room_of(name: str) -> str:
    """The folder of the root that a file is in; behind plugins and tools, the folder there."""
    folder, *inner = Path(name).parts[:-1] or ["."]
    return "/".join([folder, *inner[:1]]) if folder in ("plugins", "tools") else folder


def by_hand(names: Sequence[str]) -> list[str]:
    """The files that are not generated."""
    attributes = git("check-attr", "linguist-generated", "--", *names)
    return [line.split(": ")[0] for line in attributes if not line.endswith(": set")]


def ceilings() -> dict[str, Ceiling]:
    with CEILINGS.open(newline="", encoding="utf-8") as file:
        return {
            row["room"]: Ceiling(int(row["programs"]), int(row["others"]), row["why"])
            for row in csv.DictReader(file)
        }


def git(*arguments: str) -> list[str]:
    command = ["git", "-c", "core.quotePath=false", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def main() -> int:
    lines = counted()
    shown = [("room", "programs", "at most", "others", "at most")]
    shown += [
        (
            room,
            str(lines["programs"][room]),
            str(most.programs),
            str(lines["others"][room]),
            str(most.others),
        )
        for room, most in ceilings().items()
    ]
    table = [f"{room:14}" + "".join(f"{cell:>10}" for cell in cells) for room, *cells in shown]
    for kind, counts in lines.items():
        product = sum(count for room, count in counts.items() if room != "tests")
        table.append(f"{kind}: {product} of the product, {counts['tests']} of the tests")
    sys.stdout.write("\n".join(table) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
