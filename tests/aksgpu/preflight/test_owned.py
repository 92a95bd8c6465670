"""What a stack's own state says that it has, read by the real engine."""

from pathlib import Path

import pytest

from aksgpu.preflight.owned import by_state, by_state_here
from aksgpu.running import Program
from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.bench import Bench
from tests.names import unique
from tests.rehearsal.conftest import Azure

PROGRAM = """
import pulumi
from pulumi_azure_native import resources

resources.ResourceGroup("g", resource_group_name={own!r}, location="eastus")
resources.ResourceGroup.get("only-read", "{subscription}/resourceGroups/{theirs}")
"""


@pytest.mark.engine
@pytest.mark.long
def test_resources_in_the_state_belong_to_the_stack(
    engine: Engine, engine_cloud: Cloud, tmp_path: Path
) -> None:
    bench = Bench(engine, engine_cloud, tmp_path)
    azure = Azure(engine_cloud)
    own, theirs = unique("Own"), unique("Theirs")
    its_id = f"{azure.subscription}/resourceGroups/{own}"
    azure.call("PUT", f"/resourceGroups/{theirs}?api-version=2025-04-01", {"location": "eastus"})
    bench.write(PROGRAM.format(own=own, subscription=azure.subscription, theirs=theirs))
    pulumi = Program((engine.pulumi,), tmp_path / "project", bench.environment)
    assert by_state(pulumi, "test") == frozenset()
    bench.pulumi("stack", "init")
    assert by_state(pulumi, "test") == frozenset()
    bench.pulumi("up", "--yes")
    assert by_state(pulumi, "test") == frozenset([its_id.lower()])
    bench.pulumi("destroy", "--yes", "--ignore-protect")


def test_an_unreadable_state_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Program(("/bin/false",), tmp_path)
    assert by_state(broken, "test") is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert by_state_here(tmp_path, "test") is None


@pytest.mark.parametrize(
    "printed",
    ["", "warning: odd", "[1]", "null", '{"deployment": 1}', '{"deployment": {"resources": [1]}}'],
)
def test_unexpected_output_of_the_engine_is_reported(tmp_path: Path, printed: str) -> None:
    assert by_state(Program(("printf", "%s", printed), tmp_path), "test") is None


def test_an_empty_state_owns_no_resources(tmp_path: Path) -> None:
    nothing = Program(("sh", "-c", """echo '{"deployment": null}'"""), tmp_path)
    assert by_state(nothing, "test") == frozenset()
