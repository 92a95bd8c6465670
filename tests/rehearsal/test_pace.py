"""The time limits of the offline plug-ins, on the rehearsal's scale of time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehearsal.pace import TIME_SCALE_VARIABLE, time_limit

SECONDS = st.floats(min_value=0.1, max_value=86400)
SCALES = st.floats(min_value=0.001, max_value=10)


@pytest.mark.parametrize(
    ("scale", "seconds", "limit"),
    [
        # Without a rehearsal, the real plug-in's own time.
        (None, 600, 600),
        ("1.0", 600, 60),
        ("2.0", 600, 120),
        # However fast the rehearsal, a machine's own work takes some seconds...
        ("0.05", 600, 15),
        # ...but nobody waits longer than on Azure.
        ("1.0", 2, 2),
        ("100", 600, 600),
    ],
)
def test_a_time_limit_follows_the_rehearsals_time_scale(
    monkeypatch: pytest.MonkeyPatch, scale: str | None, seconds: float, limit: float
) -> None:
    monkeypatch.delenv(TIME_SCALE_VARIABLE, raising=False)
    if scale:
        monkeypatch.setenv(TIME_SCALE_VARIABLE, scale)

    assert time_limit(seconds) == pytest.approx(limit)


def test_work_of_kubernetes_own_pace_has_a_longer_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A namespace whose pods were still ending took 16 seconds, and 15 were given."""
    monkeypatch.setenv(TIME_SCALE_VARIABLE, "0.05")
    assert [time_limit(seconds, 60) for seconds in (600, 2)] == [60, 2]


@given(seconds=SECONDS, longer=SECONDS, scale=SCALES)
def test_a_longer_limit_never_becomes_the_shorter_one(
    seconds: float, longer: float, scale: float
) -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(TIME_SCALE_VARIABLE, str(scale))

        assert time_limit(min(seconds, longer)) <= time_limit(max(seconds, longer))
        assert time_limit(seconds) <= seconds
