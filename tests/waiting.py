"""Waiting for what a test needs to see: as long as a busy machine may take, and no longer."""

import time
from collections.abc import Callable
from typing import TypeVar

# Generous: what takes a second takes many on a machine that does other things as well.
PATIENCE = 120.0
Found = TypeVar("Found")


def until(condition: Callable[[], Found], what: str, seconds: float = PATIENCE) -> Found:
    """The condition's first true result; fails with `what` when it takes too long."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.05)
    return found
