"""A cluster's certificates: the same as long as they hold."""

import datetime
from pathlib import Path

import pytest

from rehearsal.certificates import AUTHORITY_DAYS, CLOCK_DAYS
from rehearsal.control_planes.authority import RENEW_WITHIN_DAYS, prepare


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("days", "hold"),
    [
        (-CLOCK_DAYS - 1, False),
        (-CLOCK_DAYS + 1, True),
        (AUTHORITY_DAYS - RENEW_WITHIN_DAYS - 1, True),
        (AUTHORITY_DAYS - RENEW_WITHIN_DAYS + 1, False),
    ],
)
def test_certificates_that_are_not_valid_today_are_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int, *, hold: bool
) -> None:
    """A clock that was put back found them not valid yet, for good."""
    prepare(tmp_path)
    before = contents(tmp_path)
    moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)

    class Another(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> "Another":
            return cls.fromtimestamp(moment.timestamp(), tz)

    monkeypatch.setattr(datetime, "datetime", Another)
    prepare(tmp_path)
    after = contents(tmp_path)
    same = {name for name in before if before[name] == after[name]}
    # What signs the tokens of service accounts knows no time.
    signing = {name for name in before if name.startswith("service-accounts")}
    assert same == (set(before) if hold else signing)
    prepare(tmp_path)
    assert contents(tmp_path) == after


def test_damaged_certificates_are_renewed(tmp_path: Path) -> None:
    authority = prepare(tmp_path).authority
    authority.write_bytes(b"")
    prepare(tmp_path)
    assert authority.read_bytes()
