"""What a stack's own state says that it has, read by the real engine."""

import os
from pathlib import Path

import pytest

from aksgpu.preflight.owned import by_state, by_state_here
from aksgpu.pulumi_cli import PulumiCli
from engine import Engine
from rehearsal.cloud import Cloud
from tests.bench import Bench
from tests.rehearsal.conftest import Azure

PROGRAM = """
import pulumi
from pulumi_azure_native import resources

resources.ResourceGroup("g", resource_group_name="Owned", location="eastus")
resources.ResourceGroup.get("only-read", "ID")
"""


@pytest.mark.engine
def test_what_the_state_has(engine: Engine, engine_cloud: Cloud, tmp_path: Path) -> None:
    bench = Bench(engine, engine_cloud, tmp_path)
    azure = Azure(engine_cloud)
    azure.call("PUT", "/resourceGroups/Theirs?api-version=2025-04-01", {"location": "eastus"})
    bench.write(PROGRAM.replace("ID", f"{azure.subscription}/resourceGroups/Theirs"))
    pulumi = PulumiCli(engine.pulumi, tmp_path / "project", bench.environment)
    assert by_state(pulumi, "test") == frozenset()
    bench.pulumi("stack", "init")
    assert by_state(pulumi, "test") == frozenset()
    bench.pulumi("up", "--yes")
    assert by_state(pulumi, "test") == frozenset([f"{azure.subscription}/resourcegroups/owned"])
    bench.pulumi("destroy", "--yes")


def test_a_state_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = PulumiCli(Path("/bin/false"), tmp_path, os.environ)
    assert by_state(broken, "test") is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert by_state_here(tmp_path, "test") is None
