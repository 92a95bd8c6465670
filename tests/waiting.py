"""Waiting for what a test needs to see. Its limit ends what hangs; it decides nothing else."""

import time
from collections.abc import Callable
from typing import TypeVar

# What takes a second takes a minute on a machine that does much else as well.
PATIENCE = 300.0
# The same for kubectl.
TIMEOUT = f"--timeout={PATIENCE:.0f}s"
Found = TypeVar("Found")


def until(condition: Callable[[], Found | None], description: str) -> Found:
    """The condition's first true result; fails with `description` when there is none."""
    deadline = time.monotonic() + PATIENCE
    while not (result := condition()):
        assert time.monotonic() < deadline, f"waited in vain until {description}"
        time.sleep(0.02)
    return result
