"""Resource Manager's words about tags that exceed its limits."""

from catalogue.tags import LONGEST_NAME, LONGEST_VALUE, MOST, Tags, too_long, with_bad_names
from rehearsal.arm import errors

TOO_MANY = errors.of_arm(f"400 InvalidTags: A resource can have at most {MOST} tags.")
BAD_NAMES = errors.of_arm(
    "400 InvalidTagNameCharacters: The tag names '{names}' have reserved characters "
    "'<,>,%,&,\\,?,/' or control characters."
)
TOO_LONG = errors.of_arm(
    f"400 InvalidTags: The names of tags have at most {LONGEST_NAME} characters, and "
    f"their values {LONGEST_VALUE}: '{{names}}'."
)


def admit(tags: Tags | None) -> None:
    """Refuses tags that exceed the limits."""
    if len(tags or {}) > MOST:
        raise errors.ArmError(TOO_MANY)
    for find, refusal in ((with_bad_names, BAD_NAMES), (too_long, TOO_LONG)):
        if names := find(tags or {}):
            raise errors.ArmError(refusal, names=", ".join(names))
