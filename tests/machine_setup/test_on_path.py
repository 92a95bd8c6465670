"""Which `pulumi` on PATH is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from machine_setup import Engine
from machine_setup.errors import SourceUnavailableError
from machine_setup.on_path import find_on_path
from machine_setup.versions import LOWEST_PULUMI


def add(folder: Path, name: str, prints: str = "") -> Path:
    script = folder / name
    script.write_text(f"#!/bin/sh\necho '{prints}'\n")
    script.chmod(0o755)
    return script


@pytest.mark.parametrize("version", [LOWEST_PULUMI, "3.1000.0", "4.0.0-dev.12"])
def test_a_recent_pulumi_on_path_is_used(folder: Path, version: str) -> None:
    pulumi = add(folder, "pulumi", f"v{version}")
    add(folder, "pulumi-language-python")

    assert find_on_path() == (pulumi, version.removesuffix("-dev.12"))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("v3.99.0", "is version 3.99.0"),
        ("no idea", "printed 'no idea'"),
    ],
)
def test_another_pulumi_on_path_is_not_used(folder: Path, answer: str, reason: str) -> None:
    add(folder, "pulumi", answer)
    add(folder, "pulumi-language-python")

    with pytest.raises(SourceUnavailableError, match=reason):
        find_on_path()


def test_a_failing_pulumi_on_path_is_not_used(folder: Path) -> None:
    add(folder, "pulumi", f"v{LOWEST_PULUMI}").write_text("#!/bin/sh\nexit 1\n")
    add(folder, "pulumi-language-python")

    with pytest.raises(SourceUnavailableError, match="failed"):
        find_on_path()


def test_a_pulumi_without_language_host_is_not_used(folder: Path) -> None:
    add(folder, "pulumi", f"v{LOWEST_PULUMI}")

    with pytest.raises(SourceUnavailableError, match="there is no pulumi-language-python"):
        find_on_path()


def test_language_host_may_lie_beside_the_real_file_of_a_linked_pulumi(
    folder: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder / "pulumi").symlink_to(add(elsewhere, "pulumi", f"v{LOWEST_PULUMI}"))
    add(elsewhere, "pulumi-language-python")

    assert find_on_path() == (folder / "pulumi", LOWEST_PULUMI)


def test_path_is_changed_only_if_another_pulumi_precedes(folder: Path) -> None:
    engine = Engine(add(folder, "pulumi"), LOWEST_PULUMI, "path")

    assert engine.on_path(f"/usr/bin:{folder}") == f"/usr/bin:{folder}"
    assert engine.on_path("/usr/bin:/bin") == f"{folder}:/usr/bin:/bin"
