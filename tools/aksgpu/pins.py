"""Writes what the policy pack and aks-preview need, as a part of requirements.txt.

    python -m aksgpu.pins

The engine installs it for each of them where there is no environment yet.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

_PROJECT = Path(__file__).resolve().parents[2]
# What the code of a folder imports, by the folder.
NEEDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "policies": ("pulumi-policy",),
        "plugins/aks_preview": (
            "aiohttp",
            "azure-core",
            "azure-identity",
            "azure-mgmt-core",
            "pulumi",
        ),
    }
)
_HEAD = "# A part of requirements.txt, written by `make lock`.\n"

# A package in the lock file: its line, its hashes, then its dependents as comments.
_PINNED = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==")
_HASH = re.compile(r"\s+--hash=")
_DEPENDENT = re.compile(r"\s+#(?: via)?\s+(?P<name>[A-Za-z0-9._-]+)")


def requirements(folder: str) -> str:
    """The requirements of a folder, from the lock file."""
    locked = (_PROJECT / "requirements.txt").read_text(encoding="utf-8")
    return _HEAD + "\n".join(pins_for(NEEDS[folder], locked)) + "\n"


def pins_for(packages: Collection[str], locked: str) -> list[str]:
    """The lines of a lock file for packages and all their dependencies."""
    lines = {name: (line, dependents) for name, line, dependents in _entries(locked)}
    needed = {*packages}
    while more := {
        name
        for name, (_, dependents) in lines.items()
        if name not in needed and dependents & needed
    }:
        needed |= more
    return [lines[name][0] for name in sorted(needed)]


def _entries(locked: str) -> Iterator[tuple[str, str, set[str]]]:
    name, line = "", ""
    dependents: set[str] = set()
    for text in [*locked.splitlines(), "end=="]:
        if pinned := _PINNED.match(text):
            if name:
                yield name, line, dependents
            name, line, dependents = pinned["name"], text, set()
        elif name and _HASH.match(text):
            line += f"\n{text}"
        elif name and (wanting := _DEPENDENT.match(text)):
            dependents.add(wanting["name"])


if __name__ == "__main__":
    for folder in NEEDS:
        (_PROJECT / folder / "requirements.txt").write_text(requirements(folder), encoding="utf-8")
