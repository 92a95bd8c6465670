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
        automation.bring_up(place, "base")


def test_settings_of_a_rule_that_a_pack_does_not_have_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The engine named neither file nor rule: `invalid enforcement level ""`."""
    words = 'error: configuring policy pack "theirs": invalid enforcement level ""'

    def refused(*_: Any, **__: Any) -> None:
        raise create_command_error(CommandResult(stdout="", stderr=words, code=255))

    monkeypatch.setattr(Stack, "select", lambda *_: Stack)
    monkeypatch.setattr(Stack, "preview", refused)
    file = tmp_path / "Pulumi.dev.policies.json"
    file.write_text(
        '{"nosuch-rule": {"a": 1}, "all": "advisory", "one": {"enforcementLevel": "disabled"}}'
    )
    place = automation.Place(
        Engine(tmp_path / "pulumi", "3.259.0", "path"), Program(("pulumi",), tmp_path)
    )
    _, [problem] = automation.preview(place, "dev", tmp_path, file)
    assert problem.what.endswith(
        'invalid enforcement level "": in Pulumi.dev.policies.json, a rule has settings that the '
        "pack does not have: nosuch-rule"
    )
