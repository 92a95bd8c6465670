"""The date of today, for retirements and exceptions from policies.

The variable AKS_GPU_TODAY sets it for all programs that inherit the environment: the Pulumi
program, the policy pack, the commands and the rehearsal cloud. The default is the current date in
UTC.
"""

import os
from datetime import UTC, date, datetime

TODAY_VARIABLE = "AKS_GPU_TODAY"


def today() -> date:
    """Returns the date of today. Raises ValueError if the variable is not a date."""
    text = os.environ.get(TODAY_VARIABLE)
    if not text:
        return datetime.now(UTC).date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{TODAY_VARIABLE} is {text!r}: set a date, such as 2026-11-30") from None
