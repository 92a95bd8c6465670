"""An update at work is one line: how many resources are done, and which one is at work."""

import json
from pathlib import Path
from typing import Any

import pytest
from pulumi.automation.events import EngineEvent

from aksgpu.outcome import Cause
from aksgpu.project import Project
from aksgpu.rehearsal_stage import Stage
from aksgpu.rehearse import updating
from aksgpu.rehearse.planning import Plan
from aksgpu.rehearse.updating import EventLog
from aksgpu.review.preview_result import PreviewResult
from aksgpu.running import Program
from machine_setup import Engine
from rehearsal.cloud import Cloud

URN = "urn:pulumi:dev::aks-gpu::"
POOL = f"{URN}aks-gpu:components:GpuNodePool$azure-native:containerservice:AgentPool::gpu"
GROUP = f"{URN}azure-native:resources:ResourceGroup::group"
COMPONENT = f"{URN}aks-gpu:components:GpuNodePool::gpu"


def step(event: str, urn: str, op: str = "create", *, custom: bool = True) -> dict[str, Any]:
    return {event: {"metadata": {"op": op, "urn": urn, "new": {"custom": custom}}}}


def warning(message: str) -> dict[str, Any]:
    return {"diagnosticEvent": {"severity": "warning", "message": message}}


def test_progress_is_read_from_complete_lines_of_the_event_log(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log.read()
    assert log.progress({POOL, GROUP}) == "0 of 2 resources"
    begun = [step("resourcePreEvent", GROUP), step("resOutputsEvent", GROUP)]
    begun += [step("resourcePreEvent", POOL), step("resourcePreEvent", COMPONENT, custom=False)]
    text = "".join(json.dumps(event) + "\n" for event in begun)
    log.file.write_text(text + '{"half of')
    log.read()
    assert log.progress({POOL, GROUP}) == "1 of 2 resources, creating gpu (AgentPool)"
    log.file.write_text(text + json.dumps(step("resOutputsEvent", POOL)) + "\n")
    log.read()
    assert log.progress({POOL, GROUP}) == "2 of 2 resources"


def test_a_line_without_an_event_is_a_warning(tmp_path: Path) -> None:
    """The command crashed in the middle of an update."""
    log = EventLog(tmp_path / "events.jsonl")
    lines = [b"{", b"[]", b"\xff", json.dumps(step("resOutputsEvent", GROUP)).encode()]
    log.file.write_bytes(b"\n".join([*lines, b""]))
    log.read()
    assert log.progress({GROUP}) == "1 of 1 resources"
    assert len([*log.warnings()]) == 3
    PreviewResult().on_events(map(EngineEvent.from_json, log.events))


def test_a_warning_is_shown_once(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log.events = [warning("old\n"), warning("old\n"), warning("new\n")]
    assert [*log.warnings()] == ["old", "new"]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    given = ("tenant", "subscription", "id", "secret")
    cloud = Cloud(tmp_path, "https://localhost:1", 1, *given, tmp_path, tmp_path, 1.0)
    return Stage(Engine(tmp_path / "pulumi", "3", "build"), cloud, Project(tmp_path, tmp_path))


def test_an_error_of_the_engine_is_shown_with_its_log(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = {"diagnosticEvent": {"severity": "error", "message": "Azure is not in the mood"}}

    def fails(
        pulumi: Program, command: list[str], log: Path, events: EventLog, changes: set[str]
    ) -> Cause:
        events.file.write_text(json.dumps(error) + "\n")
        return Cause.UPDATE_FAILED

    monkeypatch.setattr(updating, "_run", fails)
    # The name can have the organization of a rehearsal's backend.
    updated = updating.update(stage, Plan("organization/aks-gpu/dev", PreviewResult()))
    assert updated.log == stage.project.home / "updates" / "dev.log"
    (problem,) = updated.problems
    assert (problem.cause, str(problem)) == (Cause.UPDATE_FAILED, "Azure is not in the mood")


def test_a_killed_update_leaves_nothing_outside_of_its_home(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The events stayed in the machine's folder for temporary files, one folder for each kill."""

    def looks(*arguments: Any) -> Cause:
        events: EventLog = arguments[3]
        assert events.file.is_relative_to(stage.project.home)
        return Cause.FINE

    monkeypatch.setattr(updating, "_run", looks)
    updating.update(stage, Plan("dev", PreviewResult()))
