"""The program with each stack file, against mocks: the whole graph that it registers."""

import ast
import json
import runpy
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
import yaml

from tests.bench import ROOT, STACKS
from tests.conftest import KUBECONFIG, Deploy, Graph

Run = Callable[..., Graph]
# What a stack file says of a cluster that it makes.
OF_CLUSTERS = {"aks-gpu:network", "aks-gpu:systemPool"}


def stack_file(name: str) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load((STACKS[name] / f"Pulumi.{name}.yaml").read_text())[
        "config"
    ]
    return config


@pytest.fixture
def run(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> Run:
    def with_configuration(config: dict[str, Any], *, preview: bool = False) -> Graph:
        texts = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in config.items()
        }
        monkeypatch.setenv("PULUMI_CONFIG", json.dumps(texts))
        return deploy(lambda: runpy.run_path(str(ROOT), run_name="__main__"), preview=preview)

    return with_configuration


def tree(graph: Graph) -> set[tuple[str, str, str]]:
    return {
        (resource.parent, resource.name, resource.type.rpartition(":")[2])
        for resource in graph.registered
    }


def pools_of_plugin(daemon_set: dict[str, Any]) -> list[str]:
    """The pools that a DaemonSet of the device plugin is bound to."""
    affinity = daemon_set["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    (expression,) = term["matchExpressions"]
    assert expression["operator"] == "In"
    pools: list[str] = expression["values"]
    return pools


AZURE = {
    ("aks-gpu-test", "group", "ResourceGroup"),
    ("group", "group", "ResourceGroup"),
    ("aks-gpu-test", "cluster", "AksCluster"),
    ("cluster", "cluster", "ManagedCluster"),
}
WORKLOADS = {
    ("aks-gpu-test", "kubernetes", "kubernetes"),
    ("aks-gpu-test", "device-plugin", "NvidiaDevicePlugin"),
    ("device-plugin", "device-plugin", "Namespace"),
    ("device-plugin", "device-plugin", "DaemonSet"),
}
MIG = {("device-plugin", "device-plugin-mig", "DaemonSet")}
JOB = {("aks-gpu-test", "sample-job", "SampleJob"), ("sample-job", "sample-job", "Job")}
WINDOWS = {
    ("cluster", f"cluster-aksManaged{upgrades}UpgradeSchedule", "MaintenanceConfiguration")
    for upgrades in ("Auto", "NodeOS")
}
IMAGE = {
    ("aks-gpu-test", "specialized-image", "SpecializedGpuImage"),
    ("specialized-image", "specialized-image", "FeatureRegistration"),
}


def waits_for(graph: Graph, name: str) -> set[str]:
    """The components that wait, and with them what they are made of."""
    return {
        resource.name
        for resource in graph.registered
        if any(urn.endswith(f"::{name}") for urn in resource.options.dependencies)
    }


def pool(name: str) -> set[tuple[str, str, str]]:
    return {("aks-gpu-test", name, "GpuNodePool"), (name, name, "AgentPool")}


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dev", AZURE | WORKLOADS | pool("gpu")),
        ("prod", AZURE | WINDOWS | WORKLOADS | MIG | pool("t4") | pool("mig") | pool("spot")),
        ("article", AZURE | WORKLOADS | JOB | IMAGE | pool("gpu") | pool("gpugen2")),
    ],
)
def test_each_stack_registers_the_resources_of_its_file(
    run: Run, name: str, expected: set[tuple[str, str, str]], preview: bool
) -> None:
    """The first update of dev waited half an hour for its sample job, if there was no GPU quota."""
    assert tree(run(stack_file(name), preview=preview)) == expected


def test_the_articles_stack_has_the_articles_values(run: Run) -> None:
    graph = run(stack_file("article"))

    (system,) = graph.only("ManagedCluster").inputs["agentPoolProfiles"]
    assert (system["vmSize"], system["count"]) == ("Standard_NC6", 1)
    assert graph.only("ManagedCluster").type.startswith("azure-native:")
    pools = {resource.name: resource for resource in graph.all("AgentPool")}
    assert pools["gpu"].inputs["customHeaders"] == {"UseGPUDedicatedVHD": "true"}
    assert pools["gpugen2"].inputs["customHeaders"] == {
        "UseGPUDedicatedVHD": "true",
        "usegen2vm": "true",
    }
    assert not any(resource.inputs["nodeTaints"] for resource in pools.values())
    # Pools with the image wait for its feature; the cluster, on the regular image, does not.
    assert waits_for(graph, "specialized-image") == {"gpu", "gpugen2"}
    # Its pool with GPUs on the regular image; the others bring a plugin of their own.
    assert pools_of_plugin(graph.only("DaemonSet").inputs) == ["nodepool1"]


@pytest.mark.parametrize("registers", [True, False])
def test_pools_with_managed_gpus_get_no_plugin(run: Run, registers: bool) -> None:
    size = {"vmSize": "Standard_NC8as_T4_v3"}
    pools = [{"name": "own", **size}, {"name": "theirs", **size, "gpuStack": "managed"}]
    more = {"aks-gpu:managedGpuFeature": "register"} if registers else {}
    graph = run({"aks-gpu:gpuPools": pools, **more})

    assert pools_of_plugin(graph.only("DaemonSet").inputs) == ["own"]
    providers = {pool.name: pool.type.partition(":")[0] for pool in graph.all("AgentPool")}
    assert providers == {"own": "azure-native", "theirs": "aks-preview"}
    assert waits_for(graph, "managed-gpu") == ({"theirs"} if registers else set())
    assert len(graph.all("FeatureRegistration")) == registers


@pytest.mark.parametrize("registers", [True, False])
def test_pools_with_infiniband_wait_for_its_feature(run: Run, registers: bool) -> None:
    """The nodes of a pool that was made before the feature are on several networks for good."""
    fabric, plain = {"vmSize": "Standard_ND96isr_H100_v5"}, {"vmSize": "Standard_NC8as_T4_v3"}
    config = {
        "aks-gpu:gpuPools": [{"name": "training", **fabric}, {"name": "plain", **plain}],
        "aks-gpu:gpuCapacity": [
            {"name": "more", "maxCount": 2, "rungs": [{"name": "one", **fabric}]}
        ],
    }
    graph = run({**config, "aks-gpu:infinibandFeature": "register" if registers else "assume"})

    assert waits_for(graph, "infiniband") == ({"training", "one"} if registers else set())
    assert len(graph.all("FeatureRegistration")) == registers


@pytest.mark.parametrize("gpu_stack", ["device-plugin", "managed", "operator", "none"])
def test_isolation_is_for_every_gpu_stack(run: Run, gpu_stack: str) -> None:
    pool = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "gpuStack": gpu_stack}
    isolation = {"enabled": True, "exemptNamespaces": ["monitoring"]}
    graph = run(
        {
            "aks-gpu:gpuPools": [pool],
            "aks-gpu:gpuIsolation": isolation,
            "aks-gpu:devicePlugin": {"namespace": "plugins"},
        }
    )
    policy = graph.only("MutatingAdmissionPolicy")
    by_name, _ = policy.inputs["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    # Without its GPUs, the plugin would offer none.
    assert {"monitoring", "plugins"} < {*by_name["values"]}


def test_a_company_has_pools_a_registry_and_a_window(run: Run) -> None:
    graph = run(
        {
            "aks-gpu:pools": [{"name": "apps", "labels": {"work": "apps"}}],
            "aks-gpu:registry": {"name": "images"},
            "aks-gpu:cluster": {"maintenance": {"day": "Sunday", "start": "02:00"}},
        }
    )
    assert graph.only("AgentPool").inputs["mode"] == "User"
    assert graph.only("RoleAssignment").inputs["principalId"] == "ko"
    assert len(graph.all("MaintenanceConfiguration")) == 2
    # Nothing of it needs anything on the cluster.
    assert graph.all("DaemonSet") == []


def test_a_specialized_system_pool_makes_the_cluster_wait(run: Run) -> None:
    config = stack_file("article")
    config["aks-gpu:systemPool"]["image"] = "specialized"
    graph = run(config | {"aks-gpu:gpuPools": []})

    cluster = graph.only("ManagedCluster")
    assert cluster.inputs["customHeaders"] == {"UseGPUDedicatedVHD": "true"}
    assert waits_for(graph, "specialized-image") == {"cluster"}
    # No pool is left that the DaemonSet would be for.
    assert not graph.all("DaemonSet")


def test_an_existing_cluster_gets_pools_and_is_not_changed(run: Run) -> None:
    config = stack_file("prod") | {
        "aks-gpu:resourceGroup": {"name": "theirs", "existing": True},
        "aks-gpu:cluster": {"name": "prod", "existing": True},
    }
    graph = run({key: value for key, value in config.items() if key not in OF_CLUSTERS})

    azure = {
        resource.type for resource in graph.registered if resource.type.startswith("azure-native:")
    }
    assert azure == {"azure-native:containerservice:AgentPool"}
    (spot,) = [resource for resource in graph.all("AgentPool") if resource.name == "spot"]
    assert spot.inputs["resourceGroupName"] == "theirs"
    assert spot.inputs["resourceName"] == "prod"
    # The platform's pools may have a plugin of their own, and a pool named as ours would be.
    pools = [pools_of_plugin(resource.inputs) for resource in graph.all("DaemonSet")]
    assert pools == [["spot", "t4"], ["mig"]]


def test_the_plugin_runs_on_a_gpu_system_pool_of_the_stacks_own_cluster(run: Run) -> None:
    config = stack_file("dev") | {"aks-gpu:systemPool": {"vmSize": "Standard_NC8as_T4_v3"}}
    assert pools_of_plugin(run(config).only("DaemonSet").inputs) == ["gpu", "system"]

    theirs = {"aks-gpu:cluster": {"name": "theirs", "existing": True}}
    group = {"aks-gpu:resourceGroup": {"name": "theirs", "existing": True}}
    daemon_set = run(stack_file("dev") | theirs | group).only("DaemonSet")
    assert pools_of_plugin(daemon_set.inputs) == ["gpu"]


def test_a_pool_with_gpu_stack_none_gets_no_daemon_set(run: Run) -> None:
    graph = run(stack_file("prod") | {"aks-gpu:gpuStack": "none"})

    assert not graph.all("DaemonSet")
    assert {resource.inputs["gpuProfile"]["driver"] for resource in graph.all("AgentPool")} == {
        "None"
    }


def test_tags_are_on_everything_in_azure(run: Run) -> None:
    graph = run(stack_file("prod"))

    tagged = [
        resource
        for resource in graph.registered
        if resource.type.startswith("azure-native:")
        # A window has no tags in Azure.
        and not resource.type.endswith(":MaintenanceConfiguration")
    ]
    assert len(tagged) == 5
    assert all(resource.inputs["tags"]["environment"] == "prod" for resource in tagged)


def test_the_stack_exports_its_outputs(run: Run) -> None:
    graph = run(stack_file("dev"))

    exports = graph.exports
    assert exports["resourceGroupName"] == "aks-gpu-test"
    assert exports["clusterName"] == "aks-gpu-test"
    assert exports["clusterId"].endswith("ManagedCluster/aks-gpu-test")
    assert exports["kubeconfig"] == KUBECONFIG.decode()
    assert graph.secrets == {"kubeconfig"}
    assert exports["oidcIssuerUrl"] == "https://oidc/aks-gpu-test/"
    assert exports["kubeletIdentity"]["objectId"] == "ko"
    assert (exports["principalId"], exports["nodeResourceGroup"]) == ("p", "MC_aks-gpu-test")
    assert exports["fqdn"] == "aks-gpu-test.hcp.eastus.azmk8s.io"
    assert exports["gpuPools"]["gpu"]["nodeSelector"] == {"kubernetes.azure.com/agentpool": "gpu"}
    # AKS calls the label `accelerator` without its prefix deprecated. No selector: a pool that
    # scales from zero would begin with "No resources found".
    assert exports["nextSteps"] == [
        "mkdir -p ~/.kube && (umask 077; pulumi stack output kubeconfig --stack test "
        "--show-secrets > ~/.kube/aks-gpu-test)",
        "export KUBECONFIG=~/.kube/aks-gpu-test",
        "kubectl get nodes --label-columns "
        "kubernetes.azure.com/agentpool,kubernetes.azure.com/accelerator",
    ]


def test_a_stack_without_kubernetes_objects_has_no_kubeconfig(run: Run) -> None:
    """A team that only adds pools kept an administrator's credentials in its state."""
    config = stack_file("dev") | {"aks-gpu:gpuStack": "none"}
    graph = run(config)

    assert "kubeconfig" not in graph.exports
    assert not graph.secrets
    first = "az aks get-credentials --resource-group aks-gpu-test --name aks-gpu-test"
    assert graph.exports["nextSteps"][0] == first


def test_a_stack_file_with_mistakes_registers_nothing(run: Run) -> None:
    with pytest.raises(pulumi.RunError) as refused:
        run({"aks-gpu:clustr": "x", "aks-gpu:gpuPools": [{"name": "GPU"}]})

    head, *lines = str(refused.value).splitlines()
    assert head == "This stack file cannot be used:"
    assert sorted(line.partition(":")[0] for line in lines) == [
        "clustr",
        "gpuPools[0].name",
        "gpuPools[0].vmSize",
    ]


def test_the_files_of_the_root_import_what_they_may() -> None:
    """They are no package, which the import contracts could name."""
    nodes = [node for file in ROOT.glob("*.py") for node in ast.walk(ast.parse(file.read_text()))]
    found = {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    found |= {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
    found = {name.partition(".")[0] for name in found}
    ours = {folder.name for room in (".", "plugins", "tools") for folder in (ROOT / room).iterdir()}
    assert found & ours == {"aks_catalogue", "components", "stack_settings"}
