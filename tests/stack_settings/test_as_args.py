"""What a stack file says reaches the component's argument of the same name."""

from dataclasses import fields
from typing import Any, cast

import pytest

from stack_settings import model, pools
from stack_settings.section import Section, arguments_of, keys

SECTIONS: list[Any] = [
    each
    for module in (model, pools)
    for each in vars(module).values()
    if isinstance(each, type) and issubclass(each, Section) and arguments_of(cast(Any, each))
]


@pytest.mark.parametrize("section", SECTIONS)
def test_each_key_reaches_the_argument_of_its_name(section: Any) -> None:
    """A key that was not copied was valid, and did nothing."""
    kind = arguments_of(section)
    given = {each.name: f"the {each.name}" for each in keys(section).values()}
    reached = given.keys() & {each.name for each in fields(kind)}
    others = dict.fromkeys({each.name for each in fields(kind)} - reached)
    made = section(**{**dict.fromkeys(section.without), **given}).as_args(kind, **others)
    assert reached
    assert all(getattr(made, name) == given[name] for name in reached)
    assert type(made) is kind
