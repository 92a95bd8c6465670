import sys
from pathlib import Path

import pytest

from renew import __main__ as command


def test_without_a_name_every_table_is_renewed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def download(address: str, to: Path, _: object) -> None:
        to.write_text(address)

    monkeypatch.setattr(command, "download", download)
    monkeypatch.setattr(command, "TABLES", {"a": ("A", str.lower), "b": ("B", str.lower)})
    monkeypatch.setattr(sys, "argv", ["renew"])
    assert command.main() == 0
    assert capsys.readouterr().out == "ab"
