"""What a component says of wrong arguments: all mistakes at once, each by its property."""

import re
from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from components import (
    AksCluster,
    AksClusterArgs,
    EntraArgs,
    ExistingAksCluster,
    ExistingAksClusterArgs,
    ExistingResourceGroup,
    ExistingResourceGroupArgs,
    GpuNodePool,
    GpuNodePoolArgs,
    NetworkArgs,
    NvidiaDevicePlugin,
    NvidiaDevicePluginArgs,
    PluginPoolArgs,
    ResourceGroup,
    ResourceGroupArgs,
    SharingArgs,
    SystemNodePool,
    SystemNodePoolArgs,
    SystemPoolArgs,
    TimeSlicingArgs,
)
from components.arguments import check
from tests.conftest import Deploy

T4 = {"vmSize": "Standard_NC8as_T4_v3"}
A100 = {"vmSize": "Standard_NC24ads_A100_v4"}
TWO = {"timeSlicing": {"replicas": 2}}
NAMES = {"resource_group_name": "g", "cluster_name": "c"}
PLACE = {**NAMES, "location": "eastus"}


def cluster(**args: Any) -> AksCluster:
    pool = SystemPoolArgs(vm_size="Standard_D4ds_v5")
    if isinstance(entra := args.get("entra"), dict):
        args["entra"] = EntraArgs(**entra)
    return AksCluster("it", AksClusterArgs(**{**PLACE, "system_pool": pool, **args}))


def gpu_pool(**args: Any) -> GpuNodePool:
    if isinstance(sharing := args.get("sharing"), dict):
        slicing = sharing.get("timeSlicing")
        args["sharing"] = SharingArgs(time_slicing=TimeSlicingArgs(**slicing) if slicing else None)
    named = {**NAMES, "pool_name": "gpu", "vm_size": T4["vmSize"], **args}
    return GpuNodePool("it", GpuNodePoolArgs(**named))


def further_system_pool(**args: Any) -> SystemNodePool:
    named = {**NAMES, "pool_name": "more", "vm_size": "Standard_D4ds_v5", **args}
    return SystemNodePool("it", SystemNodePoolArgs(**named))


def plugin(**args: Any) -> NvidiaDevicePlugin:
    pools = [PluginPoolArgs(pool_name="gpu")]
    return NvidiaDevicePlugin("it", NvidiaDevicePluginArgs(**{"pools": pools, **args}))


def group(**args: Any) -> ResourceGroup:
    return ResourceGroup(
        "it", ResourceGroupArgs(**{"resource_group_name": "g", "location": "eastus", **args})
    )


def test_a_component_warns_of_all_its_arguments(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, _: messages.append(text))
    pool = {"vm_size": "Standard_NCC40ads_H100_v5", "min_count": 0, "max_count": 2}
    deploy(lambda: gpu_pool(**pool, sharing=TWO))
    assert ["driver" in messages[0], "a node of its own" in messages[1]] == [True, True]


def test_all_mistakes_of_a_component_are_reported_at_once(deploy: Deploy) -> None:
    network = NetworkArgs(mode="x")
    pool = SystemPoolArgs(vm_size="Standard_D4ds_v5", gpu_stack="x", zones=["4"])

    def program() -> None:
        with pytest.raises(pulumi.InputPropertiesError) as refused:
            cluster(sku_tier="Gold", network=network, system_pool=pool)
        assert str(refused.value).splitlines() == [
            "it: skuTier: must be 'Free', 'Standard' or 'Premium', not 'Gold'",
            "it: systemPool.zones[0]: must be '1', '2' or '3', not '4'",
            "it: systemPool.gpuStack: must be 'device-plugin', 'managed', "
            "'operator', 'specialized-image' or 'none', not 'x'",
            "it: network.mode: must be 'overlay' or 'subnet', not 'x'",
        ]

    assert not deploy(program).registered


@pytest.mark.parametrize(
    "make",
    [
        lambda: ExistingAksCluster(
            "it", ExistingAksClusterArgs(resource_group_name="g", cluster_name="c" * 64)
        ),
        lambda: ExistingResourceGroup(
            "it", ExistingResourceGroupArgs(resource_group_name="g" * 91)
        ),
    ],
)
def test_names_of_existing_resources_are_validated(
    deploy: Deploy, make: Callable[[], object]
) -> None:
    def program() -> None:
        with pytest.raises(pulumi.InputPropertiesError):
            make()

    assert not deploy(program).registered


def test_a_header_for_the_image_needs_the_image() -> None:
    """A component has no property `image`, so it names another remedy."""
    args = GpuNodePoolArgs(
        resource_group_name="g",
        cluster_name="c",
        pool_name="gpu",
        vm_size=T4["vmSize"],
        custom_headers={"usegpudedicatedvhd": "true"},
    )
    with pytest.raises(pulumi.InputPropertiesError, match="set gpuStack: specialized-image"):
        check("it", args)


@pytest.mark.parametrize(
    "later",
    [
        {"vm_size": "Standard_D4ds_v5"},
        {"count": -1},
        {"zones": ["4"]},
        {"labels": {"accelerator": "x"}},
        {"spot_max_price": 0.5},
    ],
)
def test_an_output_is_not_validated_before_it_is_known(
    deploy: Deploy, later: dict[str, Any]
) -> None:
    deploy(
        lambda: gpu_pool(**{name: pulumi.Output.from_input(value) for name, value in later.items()})
    )


def test_a_list_that_contains_an_output_is_not_validated(deploy: Deploy) -> None:
    deploy(lambda: gpu_pool(zones=["4", pulumi.Output.from_input("1")]))


def test_pools_of_the_device_plugin_are_validated() -> None:
    """A misspelled GPU stack left the pool out in silence: it had no plugin, and so no GPUs."""
    pools = [
        PluginPoolArgs(pool_name="good"),
        PluginPoolArgs(pool_name="gpu", gpu_stack="device_plugin", node_taints=["a=b"]),
    ]
    with pytest.raises(pulumi.InputPropertiesError) as caught:
        plugin(pools=pools)
    assert re.findall(r"pools\[1\]\.\w+(?:\[0\])?", str(caught.value)) == [
        "pools[1].gpuStack",
        "pools[1].nodeTaints[0]",
    ]


def test_a_value_of_the_wrong_type_is_a_mistake() -> None:
    with pytest.raises(pulumi.InputPropertiesError, match="labels: cannot be None"):
        gpu_pool(labels=None)
    with pytest.raises(pulumi.InputPropertiesError, match="customHeaders: cannot be"):
        gpu_pool(custom_headers={"UseGPUDedicatedVHD": True})
