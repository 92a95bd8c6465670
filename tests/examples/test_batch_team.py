"""The components in a program of another team: its own project, on the real engine."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.bench import ROOT, Bench
from tests.names import unique
from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster, wait_until_made

pytestmark = pytest.mark.engine

EXAMPLE = ROOT / "examples" / "batch-team"


@dataclass(frozen=True)
class Platform:
    """What the platform team has: a group and a cluster."""

    azure: Azure
    group: str

    @property
    def cluster(self) -> str:
        return (
            f"/resourceGroups/{self.group}/providers/Microsoft.ContainerService"
            f"/managedClusters/shared?api-version={API_VERSION}"
        )

    def look(self) -> dict[str, Any]:
        """The cluster as Azure has it, without what changes with every write."""
        body: dict[str, Any] = self.azure.call("GET", self.cluster).body
        body.pop("eTag", None)
        body["properties"].pop("eTag", None)
        return body


@pytest.fixture
def platform(bench: Bench) -> Platform:
    made = Platform(Azure(bench.cloud), unique("platform"))
    group = f"/resourceGroups/{made.group}?api-version=2025-04-01"
    made.azure.call("PUT", group, {"location": "eastus"})
    made.azure.call("PUT", made.cluster, new_cluster())
    wait_until_made(made.azure, made.cluster.partition("?")[0])
    return made


def take_over_example(bench: Bench) -> None:
    """Puts the example in the place of the bench's own program."""
    file = bench.folder / "project" / "Pulumi.yaml"
    own = yaml.safe_load(file.read_text())
    example = yaml.safe_load((EXAMPLE / "Pulumi.yaml").read_text())
    # The stack was made under the bench's name.
    file.write_text(yaml.safe_dump(own | {"config": {
        f"{own['name']}:{key}": said for key, said in example["config"].items()
    }}))  # fmt: skip
    program = Path(file.parent / "__main__.py")
    program.write_text((EXAMPLE / "__main__.py").read_text())


def test_adds_pools_and_leaves_the_cluster_as_it_is(bench: Bench, platform: Platform) -> None:
    before = platform.look()
    take_over_example(bench)
    bench.pulumi("config", "set", "platformGroup", platform.group)

    bench.pulumi("up", "--yes", "--skip-preview")

    landing = json.loads(bench.pulumi("stack", "output", "landing"))
    assert landing["debug"]["nodeSelector"] == {"kubernetes.azure.com/agentpool": "debug"}
    assert [wanted["key"] for wanted in landing["batch"]["tolerations"]] == [
        "sku",
        "kubernetes.azure.com/scalesetpriority",
    ]
    assert bench.changes() == {}

    bench.pulumi("destroy", "--yes", "--skip-preview")
    # The pools went through; all that the cluster itself is has stayed.
    assert platform.look() == before
