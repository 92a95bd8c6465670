"""The package in Go: what a program with the SDK of its schema makes is what the classes make."""

import json
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from machine_setup import Engine
from machine_setup.versions import PULUMI
from rehearsal.cloud import Cloud
from tests.cluster_bench import ClusterBench
from tests.components.package.go_program import SOURCE, ensure_go_program
from tests.components.package.test_package_on_engine import with_package
from tests.names import unique
from tests.waiting import PATIENCE

STACK = "::pulumi:pulumi:Stack::"
# What each run or each language has of its own: an SDK names a component or its resources.
OF_A_PROGRAM = {
    "created",
    "modified",
    "dependencies",
    "propertyDependencies",
    "sourcePosition",
    "stackTrace",
}
PROVIDERS_OF_A_PROGRAM = ("pulumi:providers:aks-gpu", "pulumi:providers:pulumi")
# The same as `go/program`, with the classes.
PROGRAM = """
import pulumi
import pulumi_kubernetes as kubernetes
from components import *

group = ResourceGroup("group", ResourceGroupArgs(resource_group_name={name!r}, location="eastus"))
cluster = AksCluster("cluster", AksClusterArgs(
    resource_group_name=group.resource_group_name,
    location="eastus",
    cluster_name={name!r},
    sku_tier="Standard",
    system_pool=SystemPoolArgs(vm_size="Standard_D4ds_v5"),
    tags={{"team": pulumi.Output.secret("secret-team-1")}},
))
pool = GpuNodePool("train", GpuNodePoolArgs(
    resource_group_name=group.resource_group_name,
    cluster_name=cluster.cluster_name,
    pool_name="train",
    vm_size="Standard_NC8as_T4_v3",
    zones=["1", "2"],
    labels={{"nodes": cluster.node_resource_group}},
    taints=[pulumi.Output.format("cluster={{}}:NoSchedule", cluster.cluster_name)],
))
provider = kubernetes.Provider(
    "kubernetes", kubeconfig=cluster.kubeconfig, cluster_identifier=cluster.identifier
)
plugin = NvidiaDevicePlugin(
    "device-plugin",
    NvidiaDevicePluginArgs(pools=[PluginPoolArgs.of(pool)]),
    pulumi.ResourceOptions(provider=provider, depends_on=[pool]),
)
job = SampleJob(
    "sample-job",
    SampleJobArgs(node_taints=[pool.node_taints], resource_name=pool.resource_name),
    pulumi.ResourceOptions(provider=provider, depends_on=[pool, plugin]),
)
pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("taints", pool.node_taints)
pulumi.export("daemonSets", plugin.daemon_set_names)
pulumi.export("job", job.job_name)
"""


@pytest.fixture
def clusters(engine: Engine, todays_cloud: Cloud, tmp_path: Path) -> ClusterBench:
    return ClusterBench(engine, todays_cloud, tmp_path).begin()


def run(bench: ClusterBench, name: str) -> dict[str, dict[str, int]]:
    """Runs the Go program; how many resources its preview and its update had, by operation."""
    project, provider = bench.folder / "project", version("pulumi-kubernetes")
    own = ["-folder", str(project), "-stack", "test", "-name", name, "-kubernetes", provider]
    ended = subprocess.run(
        [ensure_go_program(), *own],
        env=bench.environment,
        capture_output=True,
        text=True,
        # A preview and an update.
        timeout=2 * PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    counts: dict[str, dict[str, int]] = json.loads(ended.stdout)
    return counts


def resources(bench: ClusterBench) -> dict[str, dict[str, Any]]:
    """The resources in the state by URN; the package's own provider is in one program only."""
    state = json.loads(bench.pulumi("stack", "export", "--show-secrets"))["deployment"]
    return {
        found["urn"]: {key: found[key] for key in found if key not in OF_A_PROGRAM}
        | {"after": earlier(found["urn"], state["resources"])}
        for found in state["resources"]
        if not found["type"].startswith(PROVIDERS_OF_A_PROGRAM)
    }


def earlier(urn: str, resources: list[dict[str, Any]]) -> set[str]:
    """What a component, or what is in none, comes after: whole components, also indirectly."""
    by_urn = {found["urn"]: found for found in resources}

    def whole(urn: str) -> str:
        parent = by_urn[urn].get("parent", STACK)
        return urn if STACK in parent else whole(parent)

    found, left = set(), {whole(urn)}
    while left:
        found |= left
        members = [each for each in resources if whole(each["urn"]) in left]
        needed = {whole(other) for each in members for other in each.get("dependencies", ())}
        left = needed - found
    return found - {whole(urn)}


@pytest.mark.engine
@pytest.mark.nightly
def test_a_program_in_go_makes_what_the_classes_make(clusters: ClusterBench) -> None:
    """The SDK did not compile: types were missing, and a required object could not have defaults.

    It is an inline program of the Automation API, in the same stack as the program in Python.
    """
    name = unique("go")
    with_package(clusters)
    counts = run(clusters, name)
    assert counts["preview"] == counts["update"]
    assert run(clusters, name)["update"].keys() == {"same"}
    in_go = resources(clusters)

    clusters.write(PROGRAM.format(name=name))
    assert clusters.changes() == {}
    clusters.pulumi("up", "--yes", "--skip-preview")

    assert resources(clusters) == in_go
    kinds = {found["type"] for found in in_go.values()}
    assert {"kubernetes:apps/v1:DaemonSet", "kubernetes:batch/v1:Job"} < kinds
    (outputs,) = (found["outputs"] for urn, found in in_go.items() if STACK in urn)
    key = max(json.loads(outputs["kubeconfig"]["plaintext"]).split(), key=len)
    encrypted = json.dumps(clusters.deployment())
    assert not [secret for secret in ("secret-team-1", key) if secret in encrypted]


def test_go_mod_names_the_version() -> None:
    text = (SOURCE / "go.mod").read_text()
    for module in ("sdk", "pkg"):
        assert f"github.com/pulumi/pulumi/{module}/v3 v{PULUMI}\n" in text
