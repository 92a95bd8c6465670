"""The pauses between attempts at what fails."""

import time
from dataclasses import dataclass


@dataclass
class Backoff:
    """Pauses that begin with the first, and double up to the longest."""

    first: float
    longest: float
    # How many failures are followed by no pause.
    at_once: int = 0
    # How many attempts have failed in a row.
    failures: int = 0
    # When the next attempt is due, by the monotonic clock.
    again: float = 0.0

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self.again

    def fail(self) -> float:
        """Counts a failure; returns the pause before the next attempt."""
        self.failures += 1
        doublings = self.failures - self.at_once - 1
        # More doublings than these are no number any more.
        pause = self.first * 2.0 ** min(doublings, 64) if doublings >= 0 else 0.0
        pause = min(pause, self.longest)
        self.again = time.monotonic() + pause
        return pause

    def reset(self) -> None:
        self.failures = 0
