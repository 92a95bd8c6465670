"""The picture on the page on capacity is what a review draws of the example.

`python -m tests.test_capacity_page` prints it.
"""

import sys
from typing import Any, cast

import pytest
import yaml

from aksgpu.review.diagram import as_ladder
from aksgpu.review.model import Resource, Rung
from stack_settings.reading import load
from stack_settings.stack_file import as_engine_config
from tests.bench import ROOT

PAGE = ROOT / "docs" / "capacity.md"
EXAMPLE = ROOT / "examples" / "stacks" / "Pulumi.capacity.yaml"


def picture() -> str:
    """The ladder of the example, as the page has it."""
    config = as_engine_config(yaml.safe_load(EXAMPLE.read_text())["config"])
    [ladder] = load(config, "capacity", pytest.fail).gpu_capacity
    rungs = [
        Rung(
            resource=Resource(rung.name),
            pool=rung.name,
            vm_size=rung.vm_size,
            kind="spot" if rung.spot else "regular",
            most=cast(Any, rung.max_count),
            hourly=None,
        )
        for rung in ladder.rungs
    ]
    return as_ladder(ladder.name, rungs, currency="")


def test_the_example_is_drawn_in_order() -> None:
    assert "1. spot<br/>Standard_NC4as_T4_v3<br/>spot, at most 2 nodes" in picture()
    assert picture().index("2. regular") < picture().index("3. larger")


def test_the_page_has_the_picture() -> None:
    assert f"```mermaid\n{picture()}\n```" in PAGE.read_text()


if __name__ == "__main__":
    sys.stdout.write(picture() + "\n")
