"""The components in a program of another team: its own project, on the real engine."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.bench import Bench
from tests.examples.typed import Typed
from tests.readme_commands import commands
from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster, wait_until_made

pytestmark = [pytest.mark.engine, pytest.mark.nightly]


@dataclass(frozen=True)
class Platform:
    """What the platform team has: a group and a cluster."""

    azure: Azure
    # Of the same name as its group.
    name: str

    @property
    def cluster(self) -> str:
        return (
            f"/resourceGroups/{self.name}/providers/Microsoft.ContainerService"
            f"/managedClusters/{self.name}?api-version={API_VERSION}"
        )

    def look(self) -> dict[str, Any]:
        """The cluster as Azure has it, without what changes with every write."""
        body: dict[str, Any] = self.azure.call("GET", self.cluster).body
        body.pop("eTag", None)
        body["properties"].pop("eTag", None)
        return body


@pytest.fixture
def platform(bench: Bench) -> Platform:
    """What `make rehearse` would make, as far as it matters here."""
    made = Platform(Azure(bench.cloud), "aks-gpu-dev")
    group = f"/resourceGroups/{made.name}?api-version=2025-04-01"
    made.azure.call("PUT", group, {"location": "eastus"})
    made.azure.call("PUT", made.cluster, new_cluster())
    wait_until_made(made.azure, made.cluster.partition("?")[0])
    return made


def test_the_commands_add_pools_without_changing_the_cluster(
    bench: Bench, platform: Platform, tmp_path: Path
) -> None:
    typed = Typed(bench, "examples/batch-team", tmp_path / "clone").prepare()
    [*lines, destroy] = commands(typed.readme, "environment of the program's own):")
    assert lines[:2] == ["make rehearse", 'eval "$(.venv/bin/aksgpu env)"']
    before = platform.look()

    output = typed.run(*lines, "pulumi preview --expect-no-changes")

    assert output.endswith("exit code 0\n"), output
    [line_with_landing] = (line for line in output.splitlines() if line.startswith("{"))
    landing = json.loads(line_with_landing)
    assert landing["debug"]["nodeSelector"] == {"kubernetes.azure.com/agentpool": "debug"}
    assert [toleration["key"] for toleration in landing["batch"]["tolerations"]] == [
        "sku",
        "kubernetes.azure.com/scalesetpriority",
    ]

    output = typed.run(lines[2], destroy)
    assert output.endswith("exit code 0\n"), output
    # The pools went through; all that the cluster itself is has stayed.
    assert platform.look() == before
