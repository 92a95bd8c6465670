"""The arguments that several kinds of node pools have."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import pulumi

from aks_catalogue import valid_pools as rules
from aks_catalogue.valid import between, one_of
from components.declared import (
    arguments,
    at,
    in_order,
    made,
    makes,
    map_or_empty,
    sent,
    true_or_nothing,
)


@arguments
class PoolArgs:
    """The arguments of every node pool."""

    os_sku: pulumi.Input[str] | None = at(
        "osSKU", rules.OS_SKU, rules.check_os_of_amd, default=None
    )
    """The Linux distribution of the nodes: `Ubuntu`, `Ubuntu2204`, `Ubuntu2404`, `AzureLinux` or
    `AzureLinux3`; only Ubuntu on sizes with AMD GPUs. Default: AKS chooses."""
    host_encryption: pulumi.Input[bool] = at(
        "enableEncryptionAtHost", made=true_or_nothing, default=False
    )
    """Whether to encrypt the temporary disks and disk caches of the nodes. The subscription needs
    the feature `Microsoft.Compute/EncryptionAtHost`. Only a new pool can turn it on, and AKS keeps
    it on."""
    count: pulumi.Input[int] = at("count", between(0, 1000), rules.check_racks, default=1)
    """The number of nodes, 0 to 1000; of GB200 and GB300 sizes, a multiple of 18. If AKS scales the
    pool, the initial number."""
    min_count: pulumi.Input[int] | None = at(
        "minCount", between(0, 1000), rules.check_racks, default=None
    )
    """The lowest number of nodes; a pool in mode User can have 0. Set it together with `max_count`
    to turn on the cluster autoscaler for the pool. Default: no autoscaling."""
    max_count: pulumi.Input[int] | None = at(
        "maxCount",
        between(1, 1000),
        rules.check_racks,
        rules.check_bounds,
        rules.check_initial_count,
        default=None,
    )
    """The highest number of nodes, up to 1000. Set it together with `min_count` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Properties of the pool beside these, as a map by the names of Azure's API
    (docs/any-property.md). A property that you take out again stays as it is in AKS."""
    resource = "pool"

    @property
    def by_aks_preview(self) -> bool:
        """Whether aks-preview manages the pool, which sends a newer version of the API."""
        return getattr(self, "custom_headers", None) is not None


@arguments
class ModeSystemArgs(PoolArgs):
    """The arguments of pools in mode System."""

    count: pulumi.Input[int] = at("count", between(1, 1000), default=1)
    """The number of nodes, 1 to 1000. If AKS scales the pool, the initial number."""
    min_count: pulumi.Input[int] | None = at("minCount", between(1, 1000), default=None)
    """The lowest number of nodes, at least 1. Set it together with `max_count` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    taints: pulumi.Input[Sequence[pulumi.Input[str]]] | None = at(
        "nodeTaints", each=[rules.VALID_TAINT, rules.OF_SYSTEM_POOLS], default=None
    )
    """Taints of the nodes, each as `key=value:effect`: `CriticalAddonsOnly=true:NoSchedule`, which
    keeps applications away, or some of the effect `PreferNoSchedule`. Default: none, or what the
    pool has; `[]` removes them."""


@arguments
class SeparatePoolArgs(PoolArgs):
    """The arguments of pools that are resources separate from their cluster."""

    resource_group_name: pulumi.Input[str] = at("resourceGroupName")
    """The name of the cluster's resource group."""
    cluster_name: pulumi.Input[str] = at("resourceName")
    """The name of the cluster in Azure."""
    pool_name: pulumi.Input[str] = at(
        "agentPoolName", rules.POOL_NAME, rules.check_length_with_rotation
    )
    """The name of the node pool in AKS: 1 to 12 lowercase letters and digits, starting with a
    letter. Another name replaces the pool."""
    kubernetes_version: pulumi.Input[str] | None = at(
        "orchestratorVersion", rules.check_kubernetes_version, default=None
    )
    """The Kubernetes version of the nodes: the cluster's version, or up to three minor versions
    older. Default: the cluster's version at creation, and the pool stays at it. Take `cluster_name`
    from the cluster's outputs, so that Pulumi upgrades the cluster first."""
    zones: pulumi.Input[Sequence[pulumi.Input[str]]] = at(
        "availabilityZones", made=in_order, each=[one_of("1", "2", "3")], default=()
    )
    """The availability zones of the nodes, such as `["1", "2"]`. Other zones replace the
    pool."""
    subnet_id: pulumi.Input[str] | None = at("vnetSubnetID", default=None)
    """The resource ID of the subnet for the nodes. Default: the virtual network that AKS created.
    Another subnet replaces the pool."""
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = at(
        "tags", made=map_or_empty, default=None
    )
    """The Azure tags of the pool. Default: none."""


@arguments
class UserPoolArgs(SeparatePoolArgs):
    """The arguments of pools in mode User."""

    spot: pulumi.Input[bool] = makes("scaleSetPriority", "scaleSetEvictionPolicy", default=False)
    """Whether the nodes are Azure Spot VMs, which are cheaper and which Azure can evict. A change
    replaces the pool."""
    spot_max_price: pulumi.Input[float] = makes(
        "spotMaxPrice", rules=[rules.ONLY_OF_SPOT, rules.SPOT_PRICE], default=-1
    )
    """The maximum price of a spot node in US dollars per hour, with up to 5 decimals. `-1` means
    up to the on-demand price. Another price replaces the pool."""
    taints: pulumi.Input[Sequence[pulumi.Input[str]]] = makes(
        "nodeTaints", each=[rules.VALID_TAINT], default=()
    )
    """Taints of the nodes, each as `key=value:effect`, in addition to the one that AKS adds on spot
    nodes, and that of `gpu_taint`. Default: none."""
    labels: pulumi.Input[Mapping[str, pulumi.Input[str]]] = makes(
        "nodeLabels", rules=[rules.check_labels], default={}
    )
    """Labels of the nodes, in addition to those that AKS sets. Default: none."""


def sent_of_user_pool(args: UserPoolArgs) -> dict[str, Any]:
    """Returns what requests have of a pool in mode User."""
    return {
        **sent_of_pool(args, "User"),
        "scaleSetPriority": made(lambda on: "Spot" if on else None, args.spot),
        "scaleSetEvictionPolicy": made(lambda on: "Delete" if on else None, args.spot),
        "spotMaxPrice": made(
            lambda on, price: price if on else None, args.spot, args.spot_max_price
        ),
    }


def sent_of_pool(args: Any, mode: str) -> dict[str, Any]:
    """Returns what requests have of a pool: its arguments, and what all pools have alike."""
    return {
        **sent(args),
        "mode": mode,
        "osType": "Linux",
        "type": "VirtualMachineScaleSets",
        # Always sent: AKS keeps what a request leaves out.
        "enableAutoScaling": args.max_count is not None,
    }
