"""Which stacks are production."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

PRODUCTION_STACKS: Mapping[str, Any] = MappingProxyType(
    {
        "type": "array",
        "items": {"type": "string"},
        "default": ["prod", "production"],
        "description": "The stacks that are production, by name; * stands for any letters.",
    }
)


def is_production(urn: str, names: list[str]) -> bool:
    """Whether a resource is a production stack's: the stack's name stands in its URN."""
    stack = urn.removeprefix("urn:pulumi:").partition("::")[0]
    return any(fnmatchcase(stack.lower(), name.lower()) for name in names)
