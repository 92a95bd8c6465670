"""The examples of the page on properties without a key: each is a stack file that can be read."""

import json
import re
from typing import Any

import pytest
import yaml

from stack_settings.reading import load
from tests.bench import ROOT

TEXT = (ROOT / "docs" / "any-property.md").read_text()
EXAMPLES = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_can_be_used(example: str) -> None:
    values: dict[str, Any] = yaml.safe_load(example)
    settings = load({key: json.dumps(value) for key, value in values.items()}, "dev", pytest.fail)
    sections: list[Any] = [settings.cluster, *settings.gpu_pools]
    assert any(section.extra for section in sections)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5
