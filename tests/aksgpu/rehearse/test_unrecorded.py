"""What an update has created and no state has."""

import json
import os
from pathlib import Path

import pytest

from aksgpu.project import Project
from aksgpu.rehearse.unrecorded import has_unrecorded

GROUP = "/subscriptions/s/resourceGroups/g"
HELD = {"pid": os.getpid(), "hostname": "another", "username": "me"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path, tmp_path)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The log of a cloud in which a plug-in of ours has created a group."""
    request = {"method": "PUT", "path": GROUP, "status": 201, "headers": {"User-Agent": "aks-gpu"}}
    file = tmp_path / "requests.jsonl"
    file.write_text(json.dumps(request) + "\n")
    return file


def write(project: Project, kind: str, name: str, content: object) -> None:
    file = project.state / ".pulumi" / kind / "aks-gpu" / name
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(content))


def test_what_no_state_has_is_told(project: Project, log: Path) -> None:
    assert has_unrecorded(project.state, log, 0)
    # It was there before the update.
    assert not has_unrecorded(project.state, log, log.stat().st_size)


def test_what_another_stack_has_created_is_no_loss(project: Project, log: Path) -> None:
    """Of two stacks rehearsed at once, the one that failed threw the other away, the next time."""
    resources = [{"id": GROUP.upper()}, {"urn": "no resource of Azure"}]
    checkpoint = {"checkpoint": {"latest": {"resources": resources}}}
    write(project, "stacks", "other.json", checkpoint)
    assert not has_unrecorded(project.state, log, 0)


def test_what_another_update_may_still_record_is_no_loss(project: Project, log: Path) -> None:
    write(project, "locks", "other/lock.json", HELD)
    assert not has_unrecorded(project.state, log, 0)
