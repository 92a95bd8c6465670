"""Which stacks are production."""

from fnmatch import fnmatchcase

from policies.rule import strings

PRODUCTION_STACKS = strings(
    "The stacks that are production, by name; * stands for any letters.",
    default=["prod", "production"],
)


def is_production(urn: str, names: list[str]) -> bool:
    """Whether a resource is a production stack's: the stack's name stands in its URN."""
    stack = urn.removeprefix("urn:pulumi:").partition("::")[0]
    return any(fnmatchcase(stack.lower(), name.lower()) for name in names)
