"""Faults put into the product on purpose, each to be caught by the tests that it names."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A fault in one file: `new` in place of `old`, which the file has once."""

    # What a user would meet.
    fault: str
    file: str
    old: str
    new: str
    # Files or node ids for pytest.
    tests: str

    def mutated(self, checkout: Path = ROOT) -> str:
        """The text of the file, with the fault in it."""
        text = (checkout / self.file).read_text(encoding="utf-8")
        count = text.count(self.old)
        if count != 1:
            raise ValueError(f"{self.file} has this {count} times, not once: {self.old}")
        return text.replace(self.old, self.new)


def mutants() -> list[Mutant]:
    table = tomllib.loads(Path(__file__).with_name("mutants.toml").read_text(encoding="utf-8"))
    return [Mutant(**row) for row in table["mutant"]]
