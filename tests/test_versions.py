"""The project has one version, in all its files, and a release is of that version."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from aks_catalogue.address import REPOSITORY
from aksgpu.ci.release import mistakes, notes, versions
from tests.bench import ROOT

FOUND = versions(ROOT)
VERSION = FOUND["pyproject.toml"]
CHANGES = """# Changes

## Unreleased

## 1.2.0 (2026-11-23)

- A change.

## 1.1.0 (2026-11-22)

- An older change.
"""


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """The files that have the version, of a commit that can be released."""
    for name in FOUND:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    text = (ROOT / "CHANGELOG.md").read_text()
    (tmp_path / "CHANGELOG.md").write_text(text[text.index(f"## {VERSION}") :])
    return tmp_path


def test_the_version_is_the_same_in_every_file() -> None:
    assert dict.fromkeys(FOUND, VERSION) == FOUND


def test_every_file_that_has_the_version_is_compared() -> None:
    """A template that is not in the list would give out the previous release."""
    kinds = ["*.json", "*.md", "*.py", "*.toml", "*.txt", "*.yaml"]
    listed = subprocess.run(
        ["git", "grep", "-l", "-I", "--fixed-strings", VERSION, "--", *kinds],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    whole = re.compile(rf"(?<![\d.]){re.escape(VERSION)}(?![\d.])")
    for name in listed.stdout.split():
        if not name.startswith("tests/") and whole.search((ROOT / name).read_text()):
            assert name in {*FOUND, "docs/upgrade.md"}


def test_a_tag_of_the_version_is_released(ready: Path) -> None:
    assert mistakes(ready, f"v{VERSION}") == []


@pytest.mark.parametrize("file", FOUND)
def test_no_release_has_another_version_in_a_file(ready: Path, file: str) -> None:
    text = (ready / file).read_text()
    (ready / file).write_text(text.replace(VERSION, "9.9.9"))

    assert mistakes(ready, f"v{VERSION}") == [f"{file} has 9.9.9, and the tag is v{VERSION}."]


def test_no_release_has_a_part_of_a_longer_version(ready: Path) -> None:
    file = ready / "pyproject.toml"
    file.write_text(file.read_text().replace(f'"{VERSION}"', f'"{VERSION}.dev1"'))

    assert mistakes(ready, f"v{VERSION}") == [
        f"pyproject.toml has none, and the tag is v{VERSION}."
    ]


def test_no_release_leaves_changes_unreleased(ready: Path) -> None:
    file = ready / "CHANGELOG.md"
    file.write_text(f"# Changes\n\n## Unreleased\n\n- A change.\n\n{file.read_text()}")

    assert mistakes(ready, f"v{VERSION}") == ["CHANGELOG.md has changes that are unreleased."]


def test_the_notes_are_what_the_changelog_says_of_the_version(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)

    assert notes(tmp_path, "1.2.0") == "- A change.\n"
    assert notes(ROOT, VERSION) in (ROOT / "CHANGELOG.md").read_text()


def test_every_file_has_the_same_address() -> None:
    """To rename the repository meant to find 21 files: now this names those that are left."""
    pattern = r"github\.com/[A-Za-z-]+/aks-gpu"
    listed = subprocess.run(
        ["git", "grep", "-h", "-o", "-I", "--extended-regexp", pattern],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    # Another repository has the name, too.
    assert {*listed.stdout.split()} - {"github.com/Azure/aks-gpu"} == {REPOSITORY}
