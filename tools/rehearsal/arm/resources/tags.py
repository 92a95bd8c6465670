"""Resource Manager's words about tags that exceed its limits."""

from aks_catalogue.tags import LONGEST_NAME, LONGEST_VALUE, MOST, Tags, too_long, with_bad_names
from rehearsal.arm import errors


def admit(tags: Tags | None) -> None:
    """Refuses tags that exceed the limits."""
    if len(tags or {}) > MOST:
        raise errors.ArmError(errors.TOO_MANY_TAGS, most=MOST)
    if names := with_bad_names(tags or {}):
        raise errors.ArmError(errors.BAD_NAMES_OF_TAGS, names=", ".join(names))
    if names := too_long(tags or {}):
        refusal = errors.TOO_LONG_TAGS
        limits = {"name": str(LONGEST_NAME), "value": str(LONGEST_VALUE)}
        raise errors.ArmError(refusal, names=", ".join(names), **limits)
