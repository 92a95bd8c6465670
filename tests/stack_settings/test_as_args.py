"""What a stack file says reaches the component's argument of the same name."""

from dataclasses import fields
from typing import Any

import pytest

import components as c
from stack_settings import model
from stack_settings.section import SECTIONS, Section


@pytest.mark.parametrize(("kind", "section"), SECTIONS.items())
def test_each_key_reaches_the_argument_of_its_name(section: type[Section], kind: type[Any]) -> None:
    """A key that was not copied was valid, and did nothing."""
    given: dict[str, Any] = {name: f"the {name}" for name in section.model_fields}
    arguments = {field.name for field in fields(kind)}
    named = {section.named if name == "name" else name: value for name, value in given.items()}
    reached = named.keys() & arguments
    made = section.model_construct(**given).as_args(kind, **dict.fromkeys(arguments - reached))
    assert reached
    assert {name: getattr(made, name) for name in reached} == {n: named[n] for n in reached}


def test_an_empty_text_is_the_components_default() -> None:
    assert model.Network.model_validate({"subnetId": ""}).as_args(c.NetworkArgs).subnet_id is None
    assert model.Network.model_validate({}).as_args(c.NetworkArgs, mode="subnet").mode == "subnet"
