"""The day by which retirement is judged, everywhere.

AKS_GPU_TODAY sets it, for every program that inherits the environment: the Pulumi program, the
policy pack, the commands and the rehearsal cloud. Without it, it is the day of the clock in UTC.
"""

import os
from datetime import UTC, date, datetime

TODAY_VARIABLE = "AKS_GPU_TODAY"


def today() -> date:
    """Raises ValueError where the variable holds no day."""
    said = os.environ.get(TODAY_VARIABLE)
    if not said:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(said)
    except ValueError:
        raise ValueError(f"{TODAY_VARIABLE} is {said!r}: set a day, such as 2026-11-30") from None
