"""A home and a project in folders with letters that mean something in URLs and to a shell."""

from pathlib import Path

import pytest

from machine_setup import Engine
from rehearsal import cloud
from tests.bench import Bench
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PROGRAM = """
import pulumi_azure_native as azure
group = azure.resources.ResourceGroup("group", resource_group_name={name!r}, location="eastus")
"""


def test_a_stack_is_created_and_destroyed_in_folders_with_odd_names(
    engine: Engine, tmp_path: Path
) -> None:
    """The state was in another folder than the one that was named: at a # its address ended."""
    odd = "a home's ü #1 50%20 $HOME ~&?"
    home = tmp_path / f"cloud {odd}"
    home.mkdir()
    try:
        running = cloud.start(home, time_scale=0.005)
        bench = Bench(engine, running, tmp_path / f"bench {odd}").begin()
        name = unique("odd")

        bench.up(PROGRAM.format(name=name))

        assert bench.resources()["group"]["outputs"]["name"] == name
        assert bench.changes() == {}
        assert list((bench.folder / "state").rglob("test.json*"))
        bench.pulumi("destroy", "--yes", "--skip-preview")
    finally:
        cloud.stop(home)
    assert {path.name for path in tmp_path.iterdir()} == {home.name, bench.folder.name}
