"""The rules of the pack: each file beside this one has one."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from pulumi_policy import EnforcementLevel, Policy

from policies.configuration import LEVELS


def _policies() -> Iterator[Policy]:
    for file in sorted(file.name for file in iter_modules(__path__)):
        module = vars(import_module(f"{__name__}.{file}"))
        yield from (each for each in module.values() if isinstance(each, Policy))


def _rank(rule: Policy) -> int:
    return -LEVELS.index((rule.enforcement_level or EnforcementLevel.MANDATORY).value)


# The highest level first, then by name.
RULES: tuple[Policy, ...] = tuple(sorted(_policies(), key=_rank))
