"""Which Helm a rehearsal gets."""

import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from machine_setup import ensure
from machine_setup.errors import EngineUnavailableError, SourceUnavailableError
from machine_setup.from_source.programs import CHARTS, Programs
from machine_setup.versions import HELM


def test_go_mod_names_the_version() -> None:
    text = (CHARTS.source / "go.mod").read_text()
    assert re.findall(r"helm.sh/helm/v3 v(\S+)", text) == [HELM]


def on_path(folder: Path, answer: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = folder / "helm"
    program.write_text(f"#!/bin/sh\necho {answer}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    return program


def test_helm_3_on_path_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = on_path(tmp_path, "v3.18.4+g1234567", monkeypatch)
    assert ensure.ensure_helm() == ensure.helm_place() == program


@pytest.mark.parametrize("answer", ["v2.17.0", "v4.3.1", "none"])
def test_another_version_of_helm_is_not_used(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path(tmp_path, answer, monkeypatch)
    assert (tmp_path / "cache") in ensure.helm_place().parents


def test_a_helm_that_does_not_run_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of every rehearsal crashed, also of stacks without a Helm release."""
    on_path(tmp_path, "v3.18.4", monkeypatch).write_text("#!/no/such/interpreter\n")
    assert (tmp_path / "cache") in ensure.helm_place().parents


def test_a_helm_that_hangs_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of every rehearsal hung with it."""
    on_path(tmp_path, "v3.18.4", monkeypatch)

    def hang(command: list[str], **options: Any) -> None:
        assert options.get("timeout"), "it would hang for ever"
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(subprocess, "run", hang)
    assert (tmp_path / "cache") in ensure.helm_place().parents


def test_a_helm_on_path_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rehearsal starts pulumi several times, and each of them asks for Helm's place."""
    program = on_path(tmp_path, "v3.18.4", monkeypatch)
    program.write_text(f"#!/bin/sh\necho asked >>{tmp_path}/asked\necho v3.18.4\n")
    assert ensure.helm_place() == ensure.ensure_helm() == program
    assert (tmp_path / "asked").read_text() == "asked\n"


def test_a_machine_without_helm_and_go_gets_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path(tmp_path, "v2.17.0", monkeypatch)

    def no_build(*_: object) -> list[Path]:
        raise SourceUnavailableError("there is no `go` on PATH")

    monkeypatch.setattr(Programs, "build", no_build)
    with pytest.raises(EngineUnavailableError, match="install Helm 3"):
        ensure.ensure_helm()
