"""What a removal does where Pulumi cannot destroy a stack at once."""

from pathlib import Path

import pytest

from aksgpu.project import Project
from aksgpu.rehearse import down, state
from aksgpu.rehearse.state import State
from aksgpu.running import Program, ProgramError

GOING = "error: 409 ResourceGroupBeingDeleted: The resource group 'g' is in deprovisioning state"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(state, "read_or_init", lambda *_: State())
    return Project(tmp_path, tmp_path)


def pulumi(folder: Path, fails: int) -> Program:
    """A program that fails so many times."""
    script = folder / "pulumi"
    script.write_text(
        f"#!/bin/sh\necho run >> {folder}/runs\n"
        f'[ $(wc -l < {folder}/runs) -gt {fails} ] || {{ echo "{GOING}" >&2; exit 1; }}\n'
    )
    script.chmod(0o755)
    return Program((str(script),), folder, {})


def test_a_resource_in_a_group_that_goes_is_no_failure(tmp_path: Path, project: Project) -> None:
    """Two copies of a resource, one in a group that was being deleted: all was removed, but the
    command failed, and said that resources would remain on Azure."""
    down._destroy(pulumi(tmp_path, fails=1), "dev", project)
    assert len((tmp_path / "runs").read_text().splitlines()) == 2


def test_what_fails_twice_is_told(tmp_path: Path, project: Project) -> None:
    with pytest.raises(ProgramError, match="ResourceGroupBeingDeleted"):
        down._destroy(pulumi(tmp_path, fails=2), "dev", project)
