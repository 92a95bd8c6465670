"""Resource Manager's limits for the tags of resources and resource groups."""

import re
from collections.abc import Mapping

from rehearsal.arm import errors

MOST, LONGEST_NAME, LONGEST_VALUE = 50, 512, 256
_NOT_IN_NAMES = re.compile(r"[<>%&\\?/\x00-\x1f\x7f]")
Tags = Mapping[str, str | None]

TOO_MANY = errors.of_arm(f"400 InvalidTags: A resource can have at most {MOST} tags.")
BAD_NAMES = errors.of_arm(
    "400 InvalidTagNameCharacters: The tag names '{names}' have reserved characters "
    "'<,>,%,&,\\,?,/' or control characters."
)
TOO_LONG = errors.of_arm(
    f"400 InvalidTags: The names of tags have at most {LONGEST_NAME} characters, and "
    f"their values {LONGEST_VALUE}: '{{names}}'."
)


def with_bad_names(tags: Tags) -> list[str]:
    return [name for name in tags if _NOT_IN_NAMES.search(name)]


def too_long(tags: Tags) -> list[str]:
    return [
        name
        for name, value in tags.items()
        if len(name) > LONGEST_NAME or len(value or "") > LONGEST_VALUE
    ]


def admit(tags: Tags | None) -> None:
    """Refuses tags that exceed the limits."""
    if len(tags or {}) > MOST:
        raise errors.ArmError(TOO_MANY)
    for find, refusal in ((with_bad_names, BAD_NAMES), (too_long, TOO_LONG)):
        if names := find(tags or {}):
            raise errors.ArmError(refusal, names=", ".join(names))
