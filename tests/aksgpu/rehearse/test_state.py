"""The state of a rehearsed stack, as the engine exports it."""

from pathlib import Path

import pytest

from aksgpu.outcome import Cause, StoppedError
from aksgpu.rehearse import state
from aksgpu.running import Program


def test_a_state_that_cannot_be_read_has_a_way_out(tmp_path: Path) -> None:
    """With a lost passphrase, the advice was to set it, and nothing named rehearse-down."""
    pulumi = Program(["sh", "-c", "echo error: incorrect passphrase >&2; exit 1"], tmp_path)
    with pytest.raises(StoppedError) as raised:
        state.read(pulumi, "dev")
    (finding,) = raised.value.findings
    assert finding.cause is Cause.PROGRAM_FAILED
    assert "error: incorrect passphrase" in finding.what
    assert "`make rehearse-down`" in finding.advice
