"""Azure's limits for the tags of resources and resource groups."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from aks_catalogue.mistakes import Mistake

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


def check(tags: Tags | None, _: Mapping[str, Any]) -> str | list[Mistake]:
    """Returns why Azure refuses the tags; leaves out the values, which may be secrets."""
    tags = tags or {}
    if len(tags) > MOST:
        return f"a resource can have at most {MOST} tags, not {len(tags)}"
    bad = "is not a valid name: leave out < > % & \\ ? / and control characters"
    long = f"is too long: a name has at most {LONGEST_NAME} characters, and a value {LONGEST_VALUE}"
    wrong = dict.fromkeys(too_long(tags), long) | dict.fromkeys(with_bad_names(tags), bad)
    return [Mistake(name, reason) for name, reason in wrong.items()]
