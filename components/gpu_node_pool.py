"""A GPU node pool: a resource of its own beside the cluster, never inline in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi_azure_native import containerservice as aks

from aks_preview.resources import AgentPool
from catalogue import fixed, kept
from catalogue.nodes import DRIVERS, GPU_TAINT, SPOT_LABEL, SPOT_TAINT
from catalogue.valid_pools import DOUBTS, GPU_POOL
from components.arguments import as_azure_spells_it, check, true_or_nothing, warn
from components.azure_child import azure_child
from components.live_pools import LivePool
from components.one_owner import one_owner
from components.placement import Toleration, node_selector, tolerations
from components.taken_out import taken_out_hooks


@dataclass(frozen=True, kw_only=True)
class GpuNodePoolArgs:
    """A pool of GPU nodes to create in a cluster."""

    resource_group_name: pulumi.Input[str]
    """The name of the cluster's resource group."""
    cluster_name: pulumi.Input[str]
    """The cluster's name in Azure."""
    pool_name: pulumi.Input[str]
    """The pool's name in AKS: 1 to 12 lower-case letters and digits, a letter first."""
    vm_size: pulumi.Input[str]
    """The size of the nodes, one with NVIDIA GPUs unless `gpu_stack` is `none`."""
    count: pulumi.Input[int] = 1
    """How many nodes there are, or are at first if AKS scales the pool."""
    min_count: pulumi.Input[int] | None = None
    """With `max_count`: AKS scales the pool between the two."""
    max_count: pulumi.Input[int] | None = None
    """With `min_count`: AKS scales the pool between the two."""
    zones: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """The availability zones of the nodes."""
    kubernetes_version: pulumi.Input[str] | None = None
    """The version of the nodes: the one that is given to the cluster, or up to three minor versions
    older. Take the cluster's name from the cluster's outputs, so that the cluster is upgraded
    first. Default: the version of the cluster when the pool is made, and it stays."""
    os_sku: pulumi.Input[str] | None = None
    """The nodes' Linux, such as `Ubuntu` or `AzureLinux`. Default: AKS's own."""
    os_disk_size_gb: pulumi.Input[int] | None = None
    """The size of the nodes' disks. Default: AKS's own."""
    os_disk_type: pulumi.Input[str] | None = None
    """`Managed` or `Ephemeral`. Default: AKS's own."""
    spot: pulumi.Input[bool] = False
    """Whether the nodes are spot machines, which Azure may take back."""
    spot_max_price: pulumi.Input[float] = -1
    """The most to pay for an hour of a spot node, in US dollars; -1: as much as on demand."""
    max_surge: pulumi.Input[str] | None = None
    """How many more nodes there may be during an upgrade. Default: AKS's own."""
    mig_profile: pulumi.Input[str] | None = None
    """How each GPU is partitioned, such as `MIG1g`. Default: not at all. It decides by being given,
    now or later, that the device plugin has a DaemonSet for partitions."""
    gpu_stack: str = "device-plugin"
    """Who brings driver and device plugin: `device-plugin`, `specialized-image` or `none`. Plain:
    it decides whether the device plugin's DaemonSets exist."""
    taints: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """Taints, as `key=value:effect`, on top of the conventional ones."""
    tainted: pulumi.Input[bool] = True
    """Whether the nodes have the conventional taint, which keeps other pods away."""
    labels: pulumi.Input[Mapping[str, pulumi.Input[str]]] = field(default_factory=dict)
    """Labels on top of those that AKS sets."""
    subnet_id: pulumi.Input[str] | None = None
    """The id of the nodes' subnet. Default: AKS's own network."""
    encryption_at_host: pulumi.Input[bool] = False
    """Whether the nodes' temporary disks and caches are encrypted too. Fixed at creation."""
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None
    """The pool's tags in Azure."""
    custom_headers: Mapping[str, pulumi.Input[str]] | None = None
    """HTTP headers of the requests for the pool. Plain: where they are given, if only as an empty
    mapping, aks-preview makes the pool, and azure-native if not."""
    replace_on_header_change: bool = False
    """Whether a change of the headers replaces the pool, the first and the last header too. By
    default the next request has them and the nodes stay. Plain."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpu_stack", as_azure_spells_it(self.gpu_stack))


class GpuNodePool(pulumi.ComponentResource):
    """A Linux pool of GPU nodes, tainted so that only GPU workloads land on it."""

    id: pulumi.Output[str]
    """The pool's id in Azure."""
    pool_name: pulumi.Output[str]
    """The pool's name in AKS."""
    gpu_stack: str
    """Who brings driver and device plugin."""
    has_mig: bool
    """Whether its GPUs are partitioned by a MIG profile."""
    node_taints: pulumi.Output[list[str]]
    """All taints of the nodes."""
    tolerations: pulumi.Output[list[Toleration]]
    """What a workload has to tolerate to land on the pool."""
    node_selector: pulumi.Output[dict[str, str]]
    """What binds a workload to the pool."""

    def __init__(
        self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args, GPU_POOL)
        super().__init__("aks-gpu:components:GpuNodePool", name, None, opts)
        warn(self, args, DOUBTS)
        self.pool_name = pulumi.Output.from_input(args.pool_name)
        self.gpu_stack = args.gpu_stack
        self.has_mig = args.mig_profile is not None
        self.node_taints = _taints(args)
        self.tolerations = self.node_taints.apply(tolerations)
        self.node_selector = self.pool_name.apply(node_selector)
        self.agent_pool = self._agent_pool(name, args)
        self.id = self.agent_pool.id
        self.register_outputs({"poolName": self.pool_name, **self.placement()})

    def placement(self) -> dict[str, pulumi.Output[Any]]:
        """The pool, and what a workload needs to land on it, ready to paste."""
        return {
            "id": self.id,
            "nodeTaints": self.node_taints,
            "tolerations": self.tolerations,
            "nodeSelector": self.node_selector,
        }

    def _agent_pool(self, name: str, args: GpuNodePoolArgs) -> aks.AgentPool | AgentPool:
        pool = _pool_args(args, self.node_taints)
        own = pulumi.ResourceOptions(
            parent=self,
            # AKS moves the number of nodes of an autoscaled pool by itself.
            ignore_changes=[] if args.max_count is None else ["count"],
            replace_on_changes=fixed.replacing(fixed.POOL, _given(args)),
        )
        opts = one_owner(
            own,
            "containerservice:AgentPool",
            has_headers=args.custom_headers is not None,
            replace_on_header_change=args.replace_on_header_change,
        )
        hooks = taken_out_hooks(kept.LASTING_POOL, {})
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=hooks))
        if args.custom_headers is not None:
            return AgentPool(
                name,
                pool,
                opts,
                custom_headers=args.custom_headers,
                replace_on_header_change=args.replace_on_header_change or None,
            )
        return azure_child(
            aks.AgentPool, name, pool, LivePool(self, pool, kept.EMPTY_POOL).options(opts)
        )


def _pool_args(args: GpuNodePoolArgs, node_taints: pulumi.Output[list[str]]) -> aks.AgentPoolArgs:
    """The pool's properties, of the same names with azure-native and with aks-preview."""
    spot = pulumi.Output.from_input(args.spot)
    return aks.AgentPoolArgs(
        resource_group_name=args.resource_group_name,
        resource_name=args.cluster_name,
        agent_pool_name=args.pool_name,
        mode=aks.AgentPoolMode.USER,
        os_type=aks.OSType.LINUX,
        os_sku=args.os_sku,
        os_disk_size_gb=args.os_disk_size_gb,
        os_disk_type=args.os_disk_type,
        type=aks.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        vm_size=args.vm_size,
        orchestrator_version=args.kubernetes_version,
        count=args.count,
        enable_auto_scaling=None if args.max_count is None else True,
        min_count=args.min_count,
        max_count=args.max_count,
        # In one order: azure-native compares zones by their places.
        availability_zones=pulumi.Output.from_input(args.zones).apply(
            lambda zones: sorted(map(str, zones)) or None
        ),
        node_taints=node_taints.apply(lambda taints: taints or None),
        node_labels=pulumi.Output.all(args.labels, args.spot).apply(
            lambda given: {**given[0], **dict([SPOT_LABEL] * given[1])} or None
        ),
        # Always sent: left out, the server fills it in, and readers take that for drift.
        gpu_profile=aks.GPUProfileArgs(driver=DRIVERS[args.gpu_stack]),
        gpu_instance_profile=args.mig_profile,
        upgrade_settings=(
            aks.AgentPoolUpgradeSettingsArgs(max_surge=args.max_surge) if args.max_surge else None
        ),
        vnet_subnet_id=args.subnet_id,
        enable_encryption_at_host=true_or_nothing(args.encryption_at_host),
        tags=args.tags or None,
        scale_set_priority=spot.apply(lambda on: aks.ScaleSetPriority.SPOT if on else None),
        scale_set_eviction_policy=spot.apply(
            lambda on: aks.ScaleSetEvictionPolicy.DELETE if on else None
        ),
        spot_max_price=pulumi.Output.all(args.spot, args.spot_max_price).apply(
            lambda given: given[1] if given[0] else None
        ),
    )


def _given(args: GpuNodePoolArgs) -> set[str]:
    """What the arguments say of that which AKS would choose by itself."""
    always = {"gpuProfile.driver", "scaleSetPriority"}
    own = {
        "enableEncryptionAtHost": None if args.encryption_at_host is False else True,
        "osDiskSizeGB": args.os_disk_size_gb,
        "osDiskType": args.os_disk_type,
    }
    return always | {name for name, value in own.items() if value is not None}


def _taints(args: GpuNodePoolArgs) -> pulumi.Output[list[str]]:
    def taints(given: list[Any]) -> list[str]:
        tainted, spot, own = given
        # AKS adds the spot taint by itself; unsaid, it would be a difference at every update.
        conventional = [GPU_TAINT] * tainted + [SPOT_TAINT] * spot
        return conventional + [taint for taint in own if taint not in conventional]

    return pulumi.Output.all(args.tainted, args.spot, args.taints).apply(taints)
