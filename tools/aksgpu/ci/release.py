"""Whether a tag is the version that the files have, and what the release says.

    python -m aksgpu.ci.release v1.2.3

prints the part of CHANGELOG.md for the version, as the notes of its release.
"""

import re
import sys
from pathlib import Path

from aksgpu.outcome import AGAINST

_PROJECT = Path(__file__).resolve().parents[3]
_CHANGES = "CHANGELOG.md"
_VERSION = r"(\d+\.\d+\.\d+)(?![\w.+-])"
# Where the version is: each file, and what is before it.
_PLACES = (
    (_CHANGES, r"^## "),
    ("pyproject.toml", r'^version = "'),
    ("policies/PulumiPolicy.yaml", r"^version: "),
    ("plugins/aks_preview/configuration.py", r'^VERSION: Final = "'),
    ("templates/go/Pulumi.yaml", r"^    version: "),
    ("templates/python/Pulumi.yaml", r"^    version: "),
)


def versions(folder: Path) -> dict[str, str]:
    """Returns the version by the files that have it."""
    found = {}
    for name, before in _PLACES:
        match = re.search(before + _VERSION, _read(folder / name), re.MULTILINE)
        found[name] = match[1] if match else "none"
    return found


def notes(folder: Path, version: str) -> str:
    """Returns what the change log says of a version, or of what is unreleased."""
    for part in re.split(r"^## ", _read(folder / _CHANGES), flags=re.MULTILINE):
        heading, _, said = part.partition("\n")
        if heading.split()[:1] == [version]:
            return said.strip() + "\n"
    return "\n"


def mistakes(folder: Path, tag: str) -> list[str]:
    """Returns what keeps a tag from being released."""
    found = [
        f"{name} has {version}, and the tag is {tag}."
        for name, version in versions(folder).items()
        if f"v{version}" != tag
    ]
    if notes(folder, "Unreleased").strip():
        found.append(f"{_CHANGES} has changes that are unreleased.")
    return found


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


if __name__ == "__main__":
    [wanted] = sys.argv[1:]
    if wrong := mistakes(_PROJECT, wanted):
        sys.stderr.write("\n".join(wrong) + "\n")
        sys.exit(AGAINST)
    sys.stdout.write(notes(_PROJECT, wanted.removeprefix("v")))
