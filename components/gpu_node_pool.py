"""A GPU node pool, as a resource separate from the cluster."""

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
    """The inputs of a GPU node pool."""

    resource_group_name: pulumi.Input[str]
    """The name of the cluster's resource group."""
    cluster_name: pulumi.Input[str]
    """The name of the cluster in Azure."""
    pool_name: pulumi.Input[str]
    """The name of the node pool in AKS: 1 to 12 lowercase letters and digits, starting with a
    letter. Another name replaces the pool."""
    vm_size: pulumi.Input[str]
    """The VM size of the nodes, such as `Standard_NC8as_T4_v3`. It must have NVIDIA GPUs unless
    `gpu_stack` is `none`. Another size replaces the pool."""
    count: pulumi.Input[int] = 1
    """The number of nodes, 0 to 1000. If AKS scales the pool, the initial number."""
    min_count: pulumi.Input[int] | None = None
    """The lowest number of nodes, which can be 0. Set it together with `max_count` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    max_count: pulumi.Input[int] | None = None
    """The highest number of nodes, up to 1000. Set it together with `min_count` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    zones: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """The availability zones of the nodes, such as `["1", "2"]`. Default: no zones. Other zones
    replace the pool."""
    kubernetes_version: pulumi.Input[str] | None = None
    """The Kubernetes version of the nodes: the cluster's version, or up to three minor versions
    older. Default: the cluster's version at creation, and the pool stays at it. Take `cluster_name`
    from the cluster's outputs, so that Pulumi upgrades the cluster first."""
    os_sku: pulumi.Input[str] | None = None
    """The Linux distribution of the nodes: `Ubuntu`, `Ubuntu2204`, `Ubuntu2404`, `AzureLinux` or
    `AzureLinux3`. Default: AKS chooses."""
    os_disk_size_gb: pulumi.Input[int] | None = None
    """The size of each node's OS disk in GB, 30 to 2048. Default: AKS chooses by VM size. Another
    size replaces the pool."""
    os_disk_type: pulumi.Input[str] | None = None
    """The type of the OS disks: `Managed` or `Ephemeral`. Default: AKS chooses by VM size. Another
    type replaces the pool."""
    spot: pulumi.Input[bool] = False
    """Whether the nodes are Azure Spot VMs, which are cheaper and which Azure can evict. A change
    replaces the pool."""
    spot_max_price: pulumi.Input[float] = -1
    """The maximum price of a spot node in US dollars per hour, with up to 5 decimals. `-1` means
    up to the on-demand price. Another price replaces the pool."""
    max_surge: pulumi.Input[str] | None = None
    """How many extra nodes AKS adds during an upgrade, as a number (`1`) or percentage (`33%`).
    Default: `10%`. Not for spot pools."""
    mig_profile: pulumi.Input[str] | None = None
    """The MIG profile that partitions each GPU: `MIG1g`, `MIG2g`, `MIG3g`, `MIG4g` or `MIG7g`, on
    A100, H100 and H200 GPUs. Default: no partitions. If set, even to an output, the device plugin
    gets a DaemonSet for MIG. Another profile replaces the pool."""
    gpu_stack: str = "device-plugin"
    """What installs the GPU driver and the device plugin. `device-plugin`: AKS installs the driver
    and NvidiaDevicePlugin the plugin. `specialized-image`: both are in the (retired) node image.
    `none`: you install both, for example with the NVIDIA GPU Operator. Plain value: it decides
    which DaemonSets the device plugin has."""
    taints: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """Taints of the nodes, each as `key=value:effect`, in addition to `sku=gpu:NoSchedule` and, on
    spot nodes, the taint that AKS adds."""
    tainted: pulumi.Input[bool] = True
    """Whether the nodes have the taint `sku=gpu:NoSchedule`, which keeps away pods that do not
    need a GPU."""
    labels: pulumi.Input[Mapping[str, pulumi.Input[str]]] = field(default_factory=dict)
    """Labels of the nodes, in addition to those that AKS sets. Default: none."""
    subnet_id: pulumi.Input[str] | None = None
    """The resource ID of the subnet for the nodes. Default: the virtual network that AKS created.
    Another subnet replaces the pool."""
    encryption_at_host: pulumi.Input[bool] = False
    """Whether to encrypt the temporary disks and disk caches of the nodes. The subscription needs
    the feature `Microsoft.Compute/EncryptionAtHost`. To turn it on replaces the pool; AKS keeps it
    on until you delete the pool."""
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None
    """The Azure tags of the pool. Default: none."""
    custom_headers: Mapping[str, pulumi.Input[str]] | None = None
    """HTTP headers to send with each request for the pool. Plain value: with headers, even an empty
    mapping, the aks-preview provider manages the pool, and without (the default) azure-native
    does."""
    replace_on_header_change: bool = False
    """Whether any change of `custom_headers` replaces the pool. By default the next request sends
    the new headers and the nodes stay. Plain value."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpu_stack", as_azure_spells_it(self.gpu_stack))


class GpuNodePool(pulumi.ComponentResource):
    """A Linux node pool with GPUs, tainted so that only GPU workloads run on it."""

    id: pulumi.Output[str]
    """The resource ID of the pool in Azure."""
    pool_name: pulumi.Output[str]
    """The name of the pool in AKS."""
    gpu_stack: str
    """What installs the GPU driver and the device plugin."""
    has_mig: bool
    """Whether a MIG profile partitions the GPUs."""
    node_taints: pulumi.Output[list[str]]
    """All taints of the nodes."""
    tolerations: pulumi.Output[list[Toleration]]
    """The tolerations that a pod needs to run on the pool."""
    node_selector: pulumi.Output[dict[str, str]]
    """The node selector that binds a pod to the pool."""

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
        """Returns the pool's ID and taints, and the pod settings to run on it, ready to paste."""
        return {
            "id": self.id,
            "nodeTaints": self.node_taints,
            "tolerations": self.tolerations,
            "nodeSelector": self.node_selector,
        }

    def _agent_pool(self, name: str, args: GpuNodePoolArgs) -> aks.AgentPool | AgentPool:
        pool = _pool_args(args, self.node_taints)
        options = pulumi.ResourceOptions(
            parent=self,
            # The cluster autoscaler changes the node count.
            ignore_changes=[] if args.max_count is None else ["count"],
            replace_on_changes=fixed.replacing(fixed.POOL, _set_properties(args)),
        )
        opts = one_owner(
            options,
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
    """Returns the pool's inputs, which have the same names in azure-native and aks-preview."""
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
        # Sorted, because azure-native compares zones by index.
        availability_zones=pulumi.Output.from_input(args.zones).apply(
            lambda zones: sorted(map(str, zones)) or None
        ),
        node_taints=node_taints.apply(lambda taints: taints or None),
        node_labels=pulumi.Output.all(args.labels, args.spot).apply(
            lambda values: {**values[0], **dict([SPOT_LABEL] * values[1])} or None
        ),
        # Always sent: if it is left out, AKS fills it in, and a refresh shows that as drift.
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
            lambda values: values[1] if values[0] else None
        ),
    )


def _set_properties(args: GpuNodePoolArgs) -> set[str]:
    """Returns the properties that the arguments set and that AKS would choose otherwise."""
    always = {"gpuProfile.driver", "scaleSetPriority"}
    optional = {
        "enableEncryptionAtHost": None if args.encryption_at_host is False else True,
        "osDiskSizeGB": args.os_disk_size_gb,
        "osDiskType": args.os_disk_type,
    }
    return always | {name for name, value in optional.items() if value is not None}


def _taints(args: GpuNodePoolArgs) -> pulumi.Output[list[str]]:
    def taints(values: list[Any]) -> list[str]:
        tainted, spot, additional = values
        # AKS adds the spot taint. If it is left out here, every update shows a difference.
        standard = [GPU_TAINT] * tainted + [SPOT_TAINT] * spot
        return standard + [taint for taint in additional if taint not in standard]

    return pulumi.Output.all(args.tainted, args.spot, args.taints).apply(taints)
