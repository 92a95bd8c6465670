"""The lock files: what is installed is what was locked, down to its bytes."""

import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.article.azure_cli import LOCK, VERSION
from tests.bench import ROOT

LOCKS = (
    ROOT / "requirements.txt",
    ROOT / "tools" / "requirements.txt",
    ROOT / "tools" / "requirements-dev.txt",
    LOCK,
)
# Where commands stand: what runs them, and what is copied from a page.
COMMANDS = [
    ROOT / "Makefile",
    *ROOT.glob(".github/**/*.yml"),
    *ROOT.glob(".ci/*"),
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("examples/*/README.md"),
    ROOT / "tests" / "article" / "azure_cli.py",
]


def installs() -> Iterator[tuple[str, str]]:
    """Every command that installs a file of requirements, in one line."""
    for file in COMMANDS:
        text = re.sub(r"\\\n\s*", "", file.read_text())
        for line in text.splitlines():
            if re.search(r"[\s\"]-r[\s\"]", line) and ("pip" in line or "PIP" in line):
                yield str(file.relative_to(ROOT)), line


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: str(lock.relative_to(ROOT)))
def test_each_package_has_a_version_and_hashes(lock: Path) -> None:
    lines = [line for line in lock.read_text().splitlines() if not line.lstrip().startswith("#")]
    packages = [(line, after) for line, after in pairwise(lines) if line[0] != " "]

    assert len(packages) > 40
    for package, after in packages:
        assert re.match(r"[\w.-]+==\S+ ", package), package
        assert re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", after), package


def test_every_package_is_installed_by_its_hash() -> None:
    """Jobs with credentials installed whatever the index gave out under the right version."""
    commands = list(installs())

    assert len(commands) >= 4
    assert [where for where in commands if "--require-hashes" not in where[1]] == []


def test_the_build_uses_locked_dependencies() -> None:
    """Its build fetched a setuptools of its own, by no hash."""
    [backend] = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    for lock in LOCKS[:3]:
        assert f"\n{backend} " in lock.read_text()
    for file in COMMANDS:
        for line in file.read_text().splitlines():
            assert "-e ." not in line or "--no-build-isolation" in line, file


def test_the_azure_cli_is_the_one_that_was_locked() -> None:
    assert LOCK.with_suffix(".in").read_text() == f"azure-cli=={VERSION}\n"
    assert f"\nazure-cli=={VERSION} " in LOCK.read_text()
