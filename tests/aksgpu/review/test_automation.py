"""What becomes of a failure of the engine."""

from pathlib import Path
from typing import Any

import pytest
from pulumi.automation import CommandResult, Stack
from pulumi.automation.errors import create_command_error

from aksgpu.outcome import StoppedError
from aksgpu.review import automation
from aksgpu.running import Program
from machine_setup import Engine


def test_a_stack_that_cannot_be_created_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It was taken for a crash of the command."""

    def refused(*_: Any) -> None:
        raise create_command_error(CommandResult(stdout="", stderr="no room left", code=255))

    monkeypatch.setattr(Stack, "create", refused)
    engine = Engine(tmp_path / "pulumi", "3.259.0", "path")
    place = automation.Place(engine, Program(("pulumi",), tmp_path))
    with pytest.raises(StoppedError, match="no room left"):
        automation.create(place, "base")
