"""The order of the three ways, and what is said where none of them leads anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from machine_setup import Engine, EngineUnavailableError, ensure_engine
from machine_setup.cache import engine_cache
from machine_setup.pins import SITES
from machine_setup.versions import LOWEST_PULUMI, PULUMI


@pytest.fixture(autouse=True)
def bare_machine(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Pulumi, Go or releases; the folder returned is all its PATH."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Port 9 is for discarding, and hardly anywhere is there a server on it.
    monkeypatch.setenv(SITES["pulumi"][1], "http://127.0.0.1:9")
    return folder


def add(folder: Path, name: str, prints: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / name
    script.write_text(f"#!/bin/sh\necho '{prints}'\n")
    script.chmod(0o755)
    return script


def keep_a_release() -> Path:
    return add(engine_cache() / "release" / f"pulumi-{PULUMI}", "pulumi")


def test_pulumi_on_path_wins(bare_machine: Path, messages: list[str]) -> None:
    keep_a_release()
    pulumi = add(bare_machine, "pulumi", "v3.999.0")
    add(bare_machine, "pulumi-language-python")

    assert ensure_engine(messages.append) == Engine(pulumi, "3.999.0", "path")
    assert messages == []


def test_an_old_pulumi_on_path_is_reported_and_not_used(
    bare_machine: Path, messages: list[str]
) -> None:
    kept = keep_a_release()
    add(bare_machine, "pulumi", "v3.1.0")
    add(bare_machine, "pulumi-language-python")

    assert ensure_engine(messages.append) == Engine(kept, PULUMI, "release")
    [line] = messages
    assert "Not using the pulumi on PATH" in line
    assert "version 3.1.0" in line
    assert LOWEST_PULUMI in line


def test_an_unavailable_pulumi_is_one_error_with_all_three_causes(
    bare_machine: Path, messages: list[str]
) -> None:
    with pytest.raises(EngineUnavailableError) as raised:
        ensure_engine(messages.append)

    assert any("release could not be downloaded" in line for line in messages)
    message = str(raised.value)
    assert "1. pulumi on PATH: there is no `pulumi` on PATH" in message
    assert "2. the official release: http://127.0.0.1:9/" in message
    assert "3. a build from Go modules: there is no `go` on PATH" in message
    assert "install Go" in message
    assert SITES["pulumi"][1] in message


def test_windows_is_refused_with_the_requirements(
    monkeypatch: pytest.MonkeyPatch, messages: list[str]
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Windows")

    with pytest.raises(EngineUnavailableError, match="put pulumi on PATH"):
        ensure_engine(messages.append)
