"""The components in a program of another team: its own project, on the real engine."""

import json
from pathlib import Path

import pytest
import yaml

from tests.bench import ROOT, Bench
from tests.rehearsal.conftest import Azure

pytestmark = pytest.mark.engine

EXAMPLE = ROOT / "examples" / "batch-team"
PLATFORM = "/resourceGroups/platform"
CLUSTER = f"{PLATFORM}/providers/Microsoft.ContainerService/managedClusters/shared"


@pytest.fixture
def platform(bench: Bench) -> Azure:
    """What the platform team has: a group and a cluster."""
    azure = Azure(bench.cloud)
    azure.call("PUT", f"{PLATFORM}?api-version=2025-04-01", {"location": "eastus"})
    cluster = {
        "location": "eastus",
        "identity": {"type": "SystemAssigned"},
        "properties": {
            "dnsPrefix": "shared",
            "agentPoolProfiles": [
                {"name": "system", "mode": "System", "count": 1, "vmSize": "Standard_D4ds_v5"}
            ],
        },
    }
    azure.call("PUT", f"{CLUSTER}?api-version=2025-09-01", cluster)
    azure.wait(
        f"{CLUSTER}?api-version=2025-09-01",
        lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded",
    )
    return azure


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


def test_adds_pools_and_leaves_the_cluster_as_it_is(bench: Bench, platform: Azure) -> None:
    before = platform.call("GET", f"{CLUSTER}?api-version=2025-09-01").body
    take_over_example(bench)

    bench.pulumi("up", "--yes", "--skip-preview")

    landing = json.loads(bench.pulumi("stack", "output", "landing"))
    assert landing["debug"]["nodeSelector"] == {"kubernetes.azure.com/agentpool": "debug"}
    assert [wanted["key"] for wanted in landing["batch"]["tolerations"]] == [
        "sku",
        "kubernetes.azure.com/scalesetpriority",
    ]
    assert bench.changes() == {}

    bench.pulumi("destroy", "--yes", "--skip-preview")
    after = platform.call("GET", f"{CLUSTER}?api-version=2025-09-01").body
    # The pools went through; all that the cluster itself is has stayed.
    for told in (before, after):
        told.pop("eTag", None)
        told["properties"].pop("eTag", None)
    assert after == before
