"""A stack of another team's program, whose name is misspelt."""

from pathlib import Path

import pytest
from rich.console import Console

from aksgpu.rehearsal_stage import PROJECT_VARIABLE
from aksgpu.rehearse import command
from stack_settings.stack_file import NoStackFileError


class _StartedError(Exception):
    pass


def starts(*_: object) -> None:
    raise _StartedError


def test_a_misspelt_stack_is_told_which_stack_files_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stack without settings was created, and failed in the middle of it for want of them."""
    (tmp_path / "Pulumi.yaml").write_text("name: theirs\nruntime: python\n")
    monkeypatch.setenv(PROJECT_VARIABLE, str(tmp_path))
    monkeypatch.setattr(command, "set_stage", starts)
    # A program without any needs none.
    with pytest.raises(_StartedError):
        command.rehearse("nix", Console())
    (tmp_path / "Pulumi.test.yaml").write_text("config: {}\n")
    with pytest.raises(_StartedError):
        command.rehearse("test", Console())
    for work in (
        lambda: command.rehearse("nix", Console()),
        lambda: command.print_environment("nix"),
    ):
        with pytest.raises(
            NoStackFileError, match=r"no stack file Pulumi.nix.yaml.*Pulumi.test.yaml"
        ):
            work()
