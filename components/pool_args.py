"""The arguments that several kinds of node pools have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import pulumi

from aks_catalogue import valid_pools as rules
from aks_catalogue.tags import check as check_tags
from aks_catalogue.valid import Each, between, one_of
from components.declared import (
    Sent,
    in_order,
    made,
    map_or_empty,
    owns,
    sent,
    true_or_nothing,
)


@dataclass(frozen=True, kw_only=True)
class PoolArgs:
    """The arguments of every node pool."""

    os_sku: Annotated[
        pulumi.Input[str] | None, Sent("osSKU"), rules.OS_SKU, rules.check_os_of_amd
    ] = None
    """The Linux distribution of the nodes: `Ubuntu`, `Ubuntu2204`, `Ubuntu2404`, `AzureLinux` or
    `AzureLinux3`; only Ubuntu on sizes with AMD GPUs. Default: AKS chooses."""
    host_encryption: Annotated[
        pulumi.Input[bool], Sent("enableEncryptionAtHost", true_or_nothing)
    ] = False
    """Whether to encrypt the temporary disks and disk caches of the nodes. The subscription needs
    the feature `Microsoft.Compute/EncryptionAtHost`. Only a new pool can turn it on, and AKS keeps
    it on."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Properties of the pool beside these, as a map by the names of Azure's API
    (docs/any-property.md). A property that you take out again stays as it is in AKS."""
    resource: ClassVar[str] = "pool"

    @property
    def by_aks_preview(self) -> bool:
        """Whether aks-preview manages the pool, which sends a newer version of the API."""
        return getattr(self, "custom_headers", None) is not None


@dataclass(frozen=True, kw_only=True)
class ModeSystemArgs(PoolArgs):
    """The arguments of pools in mode System."""

    count: Annotated[pulumi.Input[int], Sent("count"), between(1, 1000)] = 1
    """The number of nodes, 1 to 1000. If AKS scales the pool, the initial number."""
    min_count: Annotated[pulumi.Input[int] | None, Sent("minCount"), between(1, 1000)] = None
    """The lowest number of nodes, at least 1. Set it together with `max_count` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    max_count: Annotated[
        pulumi.Input[int] | None,
        Sent("maxCount"),
        between(1, 1000),
        rules.check_bounds,
        rules.check_initial_count,
    ] = None
    """The highest number of nodes, up to 1000. Set it together with `min_count` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    taints: Annotated[
        pulumi.Input[Sequence[pulumi.Input[str]]] | None,
        Sent("nodeTaints"),
        Each(rules.VALID_TAINT),
        Each(rules.OF_SYSTEM_POOLS),
    ] = None
    """Taints of the nodes, each as `key=value:effect`: `CriticalAddonsOnly=true:NoSchedule`, which
    keeps applications away, or some of the effect `PreferNoSchedule`. Default: none, or what the
    pool has; `[]` removes them."""


@dataclass(frozen=True, kw_only=True)
class SeparatePoolArgs(PoolArgs):
    """The arguments of pools that are resources separate from their cluster."""

    resource_group_name: Annotated[pulumi.Input[str], Sent("resourceGroupName")]
    """The name of the cluster's resource group."""
    cluster_name: Annotated[pulumi.Input[str], Sent("resourceName")]
    """The name of the cluster in Azure."""
    zones: Annotated[
        pulumi.Input[Sequence[pulumi.Input[str]]],
        Sent("availabilityZones", in_order),
        Each(one_of("1", "2", "3")),
    ] = ()
    """The availability zones of the nodes, such as `["1", "2"]`. Other zones replace the
    pool."""
    subnet_id: Annotated[pulumi.Input[str] | None, Sent("vnetSubnetID")] = None
    """The resource ID of the subnet for the nodes. Default: the virtual network that AKS created.
    Another subnet replaces the pool."""
    tags: Annotated[
        pulumi.Input[Mapping[str, pulumi.Input[str]]] | None,
        Sent("tags", map_or_empty),
        check_tags,
    ] = None
    """The Azure tags of the pool. Default: none."""


@dataclass(frozen=True, kw_only=True)
class UserPoolArgs(SeparatePoolArgs):
    """The arguments of pools in mode User."""

    kubernetes_version: Annotated[
        pulumi.Input[str] | None, Sent("orchestratorVersion"), rules.check_kubernetes_version
    ] = None
    """The Kubernetes version of the nodes: the cluster's version, or up to three minor versions
    older. Default: the cluster's version at creation, and the pool stays at it. Take `cluster_name`
    from the cluster's outputs, so that Pulumi upgrades the cluster first."""
    spot: Annotated[pulumi.Input[bool], owns("scaleSetPriority", "scaleSetEvictionPolicy")] = False
    """Whether the nodes are Azure Spot VMs, which are cheaper and which Azure can evict. A change
    replaces the pool."""
    spot_max_price: Annotated[
        pulumi.Input[float], owns("spotMaxPrice"), rules.ONLY_OF_SPOT, rules.SPOT_PRICE
    ] = -1
    """The maximum price of a spot node in US dollars per hour, with up to 5 decimals. `-1` means
    up to the on-demand price. Another price replaces the pool."""
    labels: Annotated[
        pulumi.Input[Mapping[str, pulumi.Input[str]]], owns("nodeLabels"), rules.check_labels
    ] = field(default_factory=dict)
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
