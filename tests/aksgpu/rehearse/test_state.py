"""The state of a rehearsed stack, as the engine exports it."""

from pathlib import Path

import pytest

from aksgpu.outcome import Cause, StoppedError
from aksgpu.rehearse import state
from aksgpu.running import Program


def test_a_mistake_in_the_owners_project_file_is_the_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was said to be damage of the rehearsal, in a file that nobody writes by hand."""
    theirs, copy = tmp_path / "theirs", tmp_path / "copy"
    copy.mkdir()
    monkeypatch.setenv("AKS_GPU_PROJECT", str(theirs))
    complaint = f"error: could not validate '{copy}/Pulumi.yaml': a template needs a name"
    pulumi = Program(["sh", "-c", f'echo "{complaint}" >&2; exit 1'], copy)
    with pytest.raises(StoppedError) as raised:
        state.read(pulumi, "dev")
    (finding,) = raised.value.findings
    assert finding.cause is Cause.STACK_FILE_INVALID
    assert f"could not validate '{theirs}/Pulumi.yaml'" in finding.what
    assert finding.advice == "correct the Pulumi.yaml"


def test_a_state_that_cannot_be_read_has_a_way_out(tmp_path: Path) -> None:
    """With a lost passphrase, the advice was to set it, and nothing named rehearse-down."""
    pulumi = Program(["sh", "-c", "echo error: incorrect passphrase >&2; exit 1"], tmp_path)
    with pytest.raises(StoppedError) as raised:
        state.read(pulumi, "dev")
    (finding,) = raised.value.findings
    assert finding.cause is Cause.PROGRAM_FAILED
    assert "error: incorrect passphrase" in finding.what
    assert "`make rehearse-down`" in finding.advice
