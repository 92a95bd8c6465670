"""The pauses between attempts grow, and begin anew after a success."""

import pytest

from kube_client.backoff import Backoff


def test_pauses_double_up_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    pauses = Backoff(1.0, 5.0, at_once=1)
    assert [pauses.fail() for _ in range(5)] == [0.0, 1.0, 2.0, 4.0, 5.0]
    assert (pauses.failures, pauses.again, pauses.is_due) == (5, 105.0, False)
    monkeypatch.setattr("time.monotonic", lambda: 105.0)
    assert pauses.is_due
    pauses.reset()
    assert (pauses.fail(), pauses.is_due) == (0.0, True)


def test_a_long_failure_has_the_longest_pause() -> None:
    """The power of two was no number any more, after a day without an API server."""
    assert Backoff(0.1, 3.2, failures=100_000).fail() == 3.2
