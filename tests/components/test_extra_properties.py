"""The argument `extra`: what AKS's API has and no argument says, sent like everything else."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from aks_catalogue.secrecy import MARKED, SIGNATURE
from components import (
    AksCluster,
    AksClusterArgs,
    GpuNodePool,
    GpuNodePoolArgs,
    NodePool,
    NodePoolArgs,
    SystemNodePool,
    SystemNodePoolArgs,
    SystemPoolArgs,
)
from components.arguments import ArgumentsError
from components.kept_properties import _Removals
from tests.conftest import Deploy

PLACE: dict[str, Any] = {"resource_group_name": "g", "cluster_name": "c"}


def gpu_pool(**args: Any) -> GpuNodePool:
    more = {"pool_name": "gpu", "vm_size": "Standard_NC8as_T4_v3", **args}
    return GpuNodePool("gpu", GpuNodePoolArgs(**PLACE, **more))


def cluster(system_pool: dict[str, Any] | None = None, **args: Any) -> AksCluster:
    pool = SystemPoolArgs(**{"vm_size": "Standard_D4ds_v5", **(system_pool or {})})
    return AksCluster("c", AksClusterArgs(**PLACE, location="eastus", system_pool=pool, **args))


def more_system(**args: Any) -> SystemNodePool:
    more = {"pool_name": "more", "vm_size": "Standard_D4ds_v5", **args}
    return SystemNodePool("more", SystemNodePoolArgs(**PLACE, **more))


def user_pool(**args: Any) -> NodePool:
    more = {"pool_name": "cpu", "vm_size": "Standard_D4ds_v5", **args}
    return NodePool("cpu", NodePoolArgs(**PLACE, **more))


def test_properties_are_merged_at_any_depth(deploy: Deploy) -> None:
    extra = {
        "autoUpgradeProfile": {},
        "networkProfile": {"loadBalancerProfile": {"idleTimeoutInMinutes": 4}},
    }
    made = deploy(lambda: cluster(extra=extra)).only("ManagedCluster").inputs
    assert made["networkProfile"]["loadBalancerProfile"] == {"idleTimeoutInMinutes": 4}
    assert made["networkProfile"]["networkPluginMode"] == "overlay"
    assert made["autoUpgradeProfile"]["upgradeChannel"] == "none"


def test_outputs_are_values_too(deploy: Deploy) -> None:
    public = pulumi.Output.from_input(True)
    extra = {
        "apiServerAccessProfile": {"enablePrivateClusterPublicFQDN": public},
        "networkProfile": {"loadBalancerSku": pulumi.Output.from_input("standard")},
    }
    made = deploy(lambda: cluster(private=True, extra=extra)).only("ManagedCluster").inputs
    access = {"enablePrivateCluster": True, "enablePrivateClusterPublicFQDN": True}
    assert made["apiServerAccessProfile"] == access
    assert made["networkProfile"]["loadBalancerSku"] == "standard"
    assert made["networkProfile"]["networkPlugin"] == "azure"


def test_system_pools_have_it_too(deploy: Deploy) -> None:
    extra = {"kubeletDiskType": "OS"}
    made = deploy(lambda: cluster({"extra": extra})).only("ManagedCluster").inputs
    assert made["agentPoolProfiles"][0]["kubeletDiskType"] == "OS"
    graph = deploy(lambda: more_system(extra=extra))
    assert graph.only("AgentPool").inputs["kubeletDiskType"] == "OS"


def refused(deploy: Deploy, program: Any) -> str:
    with pytest.raises(ArgumentsError) as error:
        deploy(program)
    return str(error.value)


def test_what_an_argument_says_is_refused_with_it(deploy: Deploy) -> None:
    """Also where the value is an output: nobody would know which of both was sent."""
    unknown = pulumi.Output.from_input("10.0.0.0/8")
    extra = {
        "networkProfile": {"podCidr": unknown, "networkPlugin": "kubenet"},
        "agentPoolProfiles": [],
        "identity": {},
        "enableRBAC": False,
        "sku": {"name": "Automatic"},
    }
    told = refused(deploy, lambda: cluster(extra=extra))
    for path, argument in {
        "networkProfile.podCidr": "network.podCidr",
        "networkProfile.networkPlugin": "network.mode",
        "agentPoolProfiles": "systemPool",
        "identity": "userAssignedIdentityId",
    }.items():
        assert f"extra.{path}: is the argument {argument}: set that" in told
    assert "extra.enableRBAC: is fixed" in told
    assert "extra.sku.name: is fixed" in told
    pool = {"nodeTaints": [], "mode": "System", "gpuProfile": {"driver": "None"}}
    told = refused(deploy, lambda: gpu_pool(extra=pool))
    assert "extra.nodeTaints: is the argument taints" in told
    assert "extra.mode: is fixed" in told
    assert "extra.gpuProfile.driver: is the argument gpuStack" in told


def test_outputs_are_merged_at_any_depth(deploy: Deploy) -> None:
    """An output below a section took the place of what arguments send there."""
    known = pulumi.Output.from_input({"enabled": True})
    extra = {"securityProfile": {"imageCleaner": known}, "apiServerAccessProfile": {}}
    sent = deploy(lambda: cluster(extra=extra, workload_identity=True)).only("ManagedCluster")
    assert sent.inputs["securityProfile"] == {
        "imageCleaner": {"enabled": True},
        "workloadIdentity": {"enabled": True},
    }
    told = refused(deploy, lambda: cluster(extra={"networkProfile": known}))
    assert "extra.networkProfile: is an output, and arguments send networkProfile." in told


def test_the_subnet_of_the_system_pool_is_the_clusters(deploy: Deploy) -> None:
    told = refused(deploy, lambda: cluster({"extra": {"vnetSubnetID": "s"}}))
    assert "extra.vnetSubnetID: is the argument network.subnetId" in told
    extra = {"gpuProfile": {"nvidia": {"managementMode": "Managed"}}}
    gpus = {"vm_size": "Standard_NC8as_T4_v3", "gpu_stack": "none", "custom_headers": {}}
    [pool] = (
        deploy(lambda: cluster({**gpus, "extra": extra}))
        .only("ManagedCluster")
        .inputs["agentPoolProfiles"]
    )
    assert pool["gpuProfile"] == {"driver": "None", **extra["gpuProfile"]}


API = "use the names of Azure's API"
NEWER = f"{API}; for newer ones, set systemPool.customHeaders: {{}} of a new resource"


@pytest.mark.parametrize(
    ("extra", "mistake"),
    [
        ({"addonProfile": {}}, "addonProfile: {}write addonProfiles"),
        (
            {"networkProfile": {"outboundtype": "x"}},
            "networkProfile.outboundtype: {}write outboundType",
        ),
        ({"autoScalerProfile": {"scanInterval": ""}}, "autoScalerProfile.scanInterval: {}write sc"),
        ({"properties": {"fqdn": "x"}}, f"properties: {{}}{NEWER}"),
        ({"schedulerProfile": {}}, f"schedulerProfile: {{}}{NEWER}"),
        # A key without a value took all of its section out of the request.
        ({"networkProfile": None}, "networkProfile: has no value: write one, or remove it"),
        ("text", ": must be a map of properties, not 'text'"),
        # A value took the place of a map in which arguments send something.
        ({"sku": "Base"}, "sku: must be a map: arguments send sku.name, sku.tier"),
    ],
)
def test_a_mistake_has_its_place(deploy: Deploy, extra: Any, mistake: str) -> None:
    unknown = "is not a property of Azure's API 2025-09-01: "
    told = refused(deploy, lambda: cluster(extra=extra))
    assert f"extra{'' if mistake[0] == ':' else '.'}{mistake.replace('{}', unknown, 1)}" in told


@pytest.mark.parametrize(
    ("make", "newer"),
    [
        (gpu_pool, "; for newer ones, set customHeaders: {} of a new resource"),
        (
            lambda extra: cluster({"extra": extra}),
            "; for newer ones, set customHeaders: {} of a new resource",
        ),
        (more_system, ""),
        (user_pool, ""),
    ],
)
def test_headers_are_named_only_where_there_is_a_key_for_them(
    deploy: Deploy, make: Any, newer: str
) -> None:
    """System pools and pools without GPUs refused the key that they were told to set."""
    told = refused(deploy, lambda: make(extra={"artifactStreamingProfile": {}}))
    [line] = [each for each in told.splitlines() if "artifactStreamingProfile" in each]
    assert line.endswith(f": {API}{newer}")


@pytest.mark.parametrize("stack", ["device-plugin", "managed"])
def test_a_value_does_not_take_the_place_of_a_map_of_arguments(deploy: Deploy, stack: str) -> None:
    """It replaced the map, with what arguments send there."""
    extra = {"upgradeSettings": "33%", "gpuProfile": 1}
    told = refused(deploy, lambda: gpu_pool(gpu_stack=stack, extra=extra))
    assert "extra.upgradeSettings: must be a map: arguments send upgrade" in told
    assert "extra.gpuProfile: must be a map: arguments send gpuProfile." in told


def test_aks_preview_sends_any_name(deploy: Deploy) -> None:
    """It sends a newer version of the API, which AKS judges."""
    deploy(lambda: cluster({"custom_headers": {}}, extra={"schedulerProfile": {"upstream": {}}}))
    # A pool with managed GPUs is aks-preview's.
    deploy(lambda: gpu_pool(gpu_stack="managed", extra={"networkProfile": {"dranet": {}}}))


def test_a_fixed_property_replaces(deploy: Deploy) -> None:
    extra = {"diskEncryptionSetID": "/subscriptions/s/diskEncryptionSets/d"}
    options = deploy(lambda: cluster(extra=extra)).only("ManagedCluster").options
    assert "diskEncryptionSetID" in options.replaceOnChanges
    assert (
        "diskEncryptionSetID" not in deploy(cluster).only("ManagedCluster").options.replaceOnChanges
    )


# As hooks get a secret inside a map.
SECRET = {SIGNATURE: MARKED, "value": "hidden"}
PROXY = "httpProxyConfig.trustedCa"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            {"addonProfiles": {"azurepolicy": {"enabled": True}}},
            {},
            ["addonProfiles.azurepolicy.enabled"],
        ),
        # Of a section that is sent, what is left out goes, but for some sections.
        (
            {"autoScalerProfile": {"expander": "random", "scan-interval": "10s"}},
            {"autoScalerProfile": {"expander": "random"}},
            [],
        ),
        (
            {"securityProfile": {"imageCleaner": {"enabled": True}, "workloadIdentity": {}}},
            {"securityProfile": {"workloadIdentity": {}}},
            ["securityProfile.imageCleaner.enabled"],
        ),
        (
            {"tags": {"a": "b"}, "networkProfile": {"podCidr": "10.0.0.0/8"}},
            {"tags": {}},
            ["networkProfile.podCidr"],
        ),
        # Inputs of the provider, and what AKS sets: nobody can take them out of Azure.
        (
            {"azureApiVersion": "2025-09-01", "customHeaders": {"a": "b"}, "fqdn": "f"},
            {},
            [],
        ),
        ({"httpProxyConfig": {"noProxy": [], "trustedCa": SECRET}}, {}, [PROXY]),
        ({"httpProxyConfig": {"trustedCa": SECRET}}, {"httpProxyConfig": {"trustedCa": "a"}}, []),
    ],
)
def test_what_is_taken_out_and_stays_is_told(
    monkeypatch: pytest.MonkeyPatch, old: dict[str, Any], new: dict[str, Any], told: list[str]
) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", said.append)
    change = SimpleNamespace(name="c", old_inputs={"a": 1, **old}, new_inputs={"a": 1, **new})
    asyncio.run(_Removals(AksClusterArgs).tell(change))  # type: ignore[arg-type]
    assert [words.partition(",")[0] for words in said if "reimages" not in words] == [
        f"'c': AKS keeps {path}" for path in told
    ]
