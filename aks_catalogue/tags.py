"""Azure's limits for the tags of resources and resource groups."""

import re
from collections.abc import Mapping
from datetime import date

# The date of these facts.
AS_OF = date(2026, 11, 22)

MOST, LONGEST_NAME, LONGEST_VALUE = 50, 512, 256
_NOT_IN_NAMES = re.compile(r"[<>%&\\?/\x00-\x1f\x7f]")
Tags = Mapping[str, str | None]


def with_bad_names(tags: Tags) -> list[str]:
    return [name for name in tags if _NOT_IN_NAMES.search(str(name))]


def too_long(tags: Tags) -> list[str]:
    return [
        name
        for name, value in tags.items()
        if len(str(name)) > LONGEST_NAME or len(str(value or "")) > LONGEST_VALUE
    ]
