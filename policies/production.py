"""Which stacks are production stacks."""

from fnmatch import fnmatchcase

from policies.rule import strings


def _forms(word: str) -> tuple[str, ...]:
    """Returns a word alone and among others, as in gpu-prd-weu."""
    return word, f"{word}-*", f"*-{word}", f"*-{word}-*"


PRODUCTION_STACKS = strings(
    "The names of production stacks; * matches any characters.",
    default=[form for word in ("prod", "prd", "production") for form in _forms(word)],
)


def is_production(urn: str, names: list[str]) -> bool:
    """Whether a resource belongs to a production stack, by the stack's name in its URN."""
    stack = urn.removeprefix("urn:pulumi:").partition("::")[0]
    return any(fnmatchcase(stack.lower(), name.lower()) for name in names)
