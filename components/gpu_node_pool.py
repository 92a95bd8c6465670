"""A GPU node pool: a resource of its own beside the cluster, never inline in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi_azure_native import containerservice as aks

from aks_preview.resources import AgentPool
from catalogue.nodes import DRIVERS, GPU_TAINT, SPOT_LABEL, SPOT_TAINT
from components.azure_child import azure_child
from components.either_provider import either_provider
from components.placement import Toleration, node_selector, tolerations


@dataclass(frozen=True, kw_only=True)
class GpuNodePoolArgs:
    resource_group_name: pulumi.Input[str]
    cluster_name: pulumi.Input[str]
    pool_name: str
    vm_size: pulumi.Input[str]
    count: pulumi.Input[int] = 1
    # Given together: AKS scales the pool between them, from `count` on.
    min_count: int | None = None
    max_count: int | None = None
    zones: Sequence[str] = ()
    os_sku: pulumi.Input[str] | None = None
    os_disk_size_gb: pulumi.Input[int] | None = None
    os_disk_type: pulumi.Input[str] | None = None
    spot: bool = False
    spot_max_price: pulumi.Input[float] = -1
    max_surge: pulumi.Input[str] | None = None
    mig_profile: pulumi.Input[str] | None = None
    gpu_stack: str = "device-plugin"
    # On top of the conventional ones; not tainted, the conventional taint is left out.
    taints: Sequence[str] = ()
    tainted: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)
    subnet_id: pulumi.Input[str] | None = None
    tags: Mapping[str, pulumi.Input[str]] | None = None
    # Sent with every request for the pool, which is then made through aks-preview.
    custom_headers: Mapping[str, str] = field(default_factory=dict)
    updatable_headers: Sequence[str] = ()


class GpuNodePool(pulumi.ComponentResource):
    """A Linux pool of GPU nodes, tainted so that only GPU workloads land on it."""

    id: pulumi.Output[str]
    pool_name: str
    gpu_stack: str
    node_taints: Sequence[str]
    has_mig: bool
    """Whether its GPUs are partitioned by a MIG profile."""
    # What a workload needs to land on this pool.
    tolerations: list[Toleration]
    node_selector: dict[str, str]

    def __init__(
        self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("aks-gpu:components:GpuNodePool", name, None, opts)
        self.pool_name = args.pool_name
        self.gpu_stack = args.gpu_stack
        self.has_mig = args.mig_profile is not None
        self.node_taints = _taints(args)
        self.tolerations = tolerations(self.node_taints)
        self.node_selector = node_selector(args.pool_name)
        self.id = self._pool(name, args).id
        self.register_outputs({"poolName": self.pool_name, **self.placement()})

    def placement(self) -> dict[str, pulumi.Input[Any]]:
        """The pool, and what a workload needs to land on it, ready to paste."""
        return {
            "id": self.id,
            "nodeTaints": self.node_taints,
            "tolerations": self.tolerations,
            "nodeSelector": self.node_selector,
        }

    def _pool(self, name: str, args: GpuNodePoolArgs) -> aks.AgentPool | AgentPool:
        # AKS moves the number of nodes of an autoscaled pool by itself.
        ignored = ["count"] if args.max_count else []
        opts = either_provider(
            self,
            "containerservice:AgentPool",
            has_headers=bool(args.custom_headers),
            ignore_changes=ignored,
        )
        if args.custom_headers:
            return AgentPool(
                name,
                _pool_args(args),
                opts,
                custom_headers=args.custom_headers,
                updatable_headers=list(args.updatable_headers) or None,
            )
        return azure_child(aks.AgentPool, name, _pool_args(args), opts)


def _pool_args(args: GpuNodePoolArgs) -> aks.AgentPoolArgs:
    """The pool's properties, of the same names with azure-native and with aks-preview."""
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
        count=args.count,
        enable_auto_scaling=True if args.max_count else None,
        min_count=args.min_count,
        max_count=args.max_count,
        availability_zones=list(args.zones) or None,
        node_taints=_taints(args) or None,
        node_labels=_labels(args) or None,
        # Always sent: left out, the server fills it in, and readers take that for drift.
        gpu_profile=aks.GPUProfileArgs(driver=DRIVERS[args.gpu_stack]),
        gpu_instance_profile=args.mig_profile,
        upgrade_settings=_upgrade(args),
        vnet_subnet_id=args.subnet_id or None,
        tags=args.tags or None,
        **_spot(args),
    )


def _taints(args: GpuNodePoolArgs) -> list[str]:
    # AKS adds the spot taint by itself; unsaid, it would be a difference at every update.
    conventional = [GPU_TAINT] * args.tainted + [SPOT_TAINT] * args.spot
    return conventional + [taint for taint in args.taints if taint not in conventional]


def _labels(args: GpuNodePoolArgs) -> dict[str, str]:
    return {**args.labels, **dict([SPOT_LABEL] * args.spot)}


def _spot(args: GpuNodePoolArgs) -> dict[str, Any]:
    if not args.spot:
        return {}
    return {
        "scale_set_priority": aks.ScaleSetPriority.SPOT,
        "scale_set_eviction_policy": aks.ScaleSetEvictionPolicy.DELETE,
        "spot_max_price": args.spot_max_price,
    }


def _upgrade(args: GpuNodePoolArgs) -> aks.AgentPoolUpgradeSettingsArgs | None:
    return aks.AgentPoolUpgradeSettingsArgs(max_surge=args.max_surge) if args.max_surge else None
