"""A GPU node pool, as a resource separate from the cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pulumi
from pulumi_azure_native import containerservice as aks

from aks_preview.resources import AgentPool, on_the_wire
from catalogue import fixed, gpu_operator, kept, rotation
from catalogue.gpu_resources import GpuResource, gpu_resource
from catalogue.nodes import DRIVERS, GPU_TAINTS, SPOT_LABEL, SPOT_TAINT, max_surge_beside
from catalogue.sample_pod import sample_pod
from catalogue.scheduling import Toleration, tolerations
from catalogue.valid_pools import GPU_POOL, OPERATOR, WARNINGS
from components.arguments import check, chosen, true_or_nothing, warn
from components.live_pools import keep_live_count
from components.one_owner import one_owner
from components.placement import node_selector
from components.removed_properties import OF_POOLS
from components.rotation import rotating_name, rotation_hooks
from components.sharing import RULES_OF_PARTS, SharingArgs
from components.unaliased_resource import unaliased_resource


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
    """The lowest number of nodes; a GPU pool can have 0. Set it together with `max_count` to turn
    on the cluster autoscaler for the pool. Default: no autoscaling."""
    max_count: pulumi.Input[int] | None = None
    """The highest number of nodes, up to 1000. Set it together with `min_count` to turn on the
    cluster autoscaler for the pool. Default: no autoscaling."""
    zones: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """The availability zones of the nodes, such as `["1", "2"]`. Other zones replace the
    pool."""
    kubernetes_version: pulumi.Input[str] | None = None
    """The Kubernetes version of the nodes: the cluster's version, or up to three minor versions
    older. Default: the cluster's version at creation, and the pool stays at it. Take `cluster_name`
    from the cluster's outputs, so that Pulumi upgrades the cluster first."""
    os_sku: pulumi.Input[str] | None = None
    """The Linux distribution of the nodes: `Ubuntu`, `Ubuntu2204`, `Ubuntu2404`, `AzureLinux` or
    `AzureLinux3`. Default: AKS chooses."""
    capacity_reservation_group_id: pulumi.Input[str] | None = None
    """The resource ID of a capacity reservation group that holds machines for the pool. Requires a
    cluster with a user-assigned identity, which has the role Contributor on the group's resource
    group. Default: none. Another group replaces the pool."""
    max_pods: pulumi.Input[int] | None = None
    """The highest number of pods on a node, 10 to 250. Default: 250, or 30 in the network mode
    `subnet`, where each node takes an address of the subnet for each of them. Another number
    replaces the pool. So does the number that AKS has chosen: the state does not have it."""
    os_disk_size_gb: pulumi.Input[int] | None = None
    """The size of each node's OS disk in GB, 30 to 2048. Default: AKS chooses by VM size. Another
    size replaces the pool. So does the size that AKS has chosen: the state does not have it."""
    os_disk_type: pulumi.Input[str] | None = None
    """The type of the OS disks: `Managed` or `Ephemeral`. Default: AKS chooses by VM size. Another
    type replaces the pool. So does the type that AKS has chosen: the state does not have it."""
    spot: pulumi.Input[bool] = False
    """Whether the nodes are Azure Spot VMs, which are cheaper and which Azure can evict. A change
    replaces the pool."""
    spot_max_price: pulumi.Input[float] = -1
    """The maximum price of a spot node in US dollars per hour, with up to 5 decimals. `-1` means
    up to the on-demand price. Another price replaces the pool."""
    max_unavailable: pulumi.Input[str] | None = None
    """How many nodes AKS upgrades at once without extra nodes, and so without spare quota, as a
    number (`1`) or percentage (`33%`). Pods must fit on the other nodes meanwhile. Default: `0`. It
    takes the place of `max_surge`. Not for spot pools."""
    max_surge: pulumi.Input[str] | None = None
    """How many extra nodes AKS adds during an upgrade, as a number (`1`) or percentage (`33%`).
    Default: `10%`, or `0` with `max_unavailable`. Not for spot pools."""
    drain_timeout_minutes: pulumi.Input[int] | None = None
    """How many minutes an upgrade waits for the pods of a node to leave, 5 to 1440. Default: `30`.
    Long jobs and disruption budgets can need more."""
    node_soak_minutes: pulumi.Input[int] | None = None
    """How many minutes an upgrade waits after it has drained a node, 0 to 30. Default: `0`."""
    undrainable_node_behavior: pulumi.Input[str] | None = None
    """What an upgrade does with a node that it cannot drain: `Schedule` (the node can be deleted)
    or `Cordon` (the node stays, cordoned). Default: `Schedule`."""
    mig_profile: pulumi.Input[str] | None = None
    """The MIG profile that partitions each GPU: `MIG1g`, `MIG2g`, `MIG3g`, `MIG4g` or `MIG7g`, on
    A100, H100 and H200 GPUs. Default: no partitions. If set, even to an output, the device plugin
    gets a DaemonSet for MIG. Another profile replaces the pool."""
    mig_strategy: str | None = None
    """By which name pods ask for a partition: `single` (`nvidia.com/gpu`) or `mixed` (a name like
    `nvidia.com/mig-1g.10gb`). Only with the GPU stack `device-plugin`. Default: `single` if
    `mig_profile` is set."""
    sharing: SharingArgs | None = None
    """How several pods share a GPU. Only with the GPU stack `device-plugin`. Default: each GPU is
    for one pod."""
    gpu_stack: str = "device-plugin"
    """What installs the GPU driver and the device plugin. `device-plugin`: AKS installs the driver
    and NvidiaDevicePlugin the plugin. `managed` (preview): AKS installs both, and the DCGM metrics
    exporter; the aks-preview provider manages the pool. `operator`: NvidiaGpuOperator installs what
    `gpu_operator_driver` leaves to it. `specialized-image`: both are in the (retired) node image.
    `none`: you install both. To or from `managed` replaces the pool."""
    gpu_operator_driver: str = "aks"
    """What installs the GPU driver if `gpu_stack` is `operator`: `aks` or `operator`, the same as
    `driver` of NvidiaGpuOperator."""
    taints: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """Taints of the nodes, each as `key=value:effect`, in addition to that of `gpu_taint` and, on
    spot nodes, the taint that AKS adds."""
    tainted: pulumi.Input[bool] = True
    """Whether the nodes have the taint for GPU pools (`gpu_taint`), which keeps away pods that do
    not need a GPU."""
    gpu_taint: pulumi.Input[str] = "sku=gpu"
    """The taint for GPU pools: `sku=gpu` (`sku=gpu:NoSchedule`, as in the AKS documentation) or
    `nvidia.com/gpu` (`nvidia.com/gpu=present:NoSchedule`, which NVIDIA's charts tolerate)."""
    labels: pulumi.Input[Mapping[str, pulumi.Input[str]]] = field(default_factory=dict)
    """Labels of the nodes, in addition to those that AKS sets. Default: none."""
    subnet_id: pulumi.Input[str] | None = None
    """The resource ID of the subnet for the nodes. Default: the virtual network that AKS created.
    Another subnet replaces the pool."""
    host_encryption: pulumi.Input[bool] = False
    """Whether to encrypt the temporary disks and disk caches of the nodes. The subscription needs
    the feature `Microsoft.Compute/EncryptionAtHost`. To turn it on replaces the pool; AKS keeps it
    on until you delete the pool."""
    tags: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None
    """The Azure tags of the pool. Default: none."""
    artifact_streaming: bool | None = None
    """Whether nodes start containers before their whole image is there, for images that Azure
    Container Registry has prepared. If set, even to false, the aks-preview provider manages the
    pool. For an existing pool of azure-native, use `az aks nodepool update
    --enable-artifact-streaming` instead."""
    custom_headers: Mapping[str, pulumi.Input[str]] | None = None
    """HTTP headers to send with each request for the pool. With headers, even an empty mapping, the
    aks-preview provider manages the pool, and without (the default) azure-native does."""
    replace_on_header_change: bool = False
    """Whether any change of `custom_headers` replaces the pool. By default the next request sends
    the new headers and the nodes stay. Required to give an existing pool the specialized image, or
    to take it away."""
    replacement: str = "in-place"
    """What a change does that needs a new pool. `in-place`: Pulumi deletes the pool and creates it
    again. `rotate`: Pulumi creates the new pool first and then deletes the old one, which AKS
    drains by the pods' disruption budgets. Then the name in Azure is `pool_name`, of at most 9
    characters, and 3 characters made from what replaces the pool; pods find the pool by the label
    `aks-gpu/pool`, which `node_selector` has. An existing pool keeps its name until something
    replaces it."""


class GpuNodePool(pulumi.ComponentResource):
    """A Linux node pool with GPUs, tainted so that only GPU workloads run on it.

    An update never changes the number of nodes of a pool that AKS scales. Labels, taints and tags
    that you take out of the program are removed in Azure; what others changed of them is reverted
    by the pool's next update.
    """

    id: pulumi.Output[str]
    """The resource ID of the pool in Azure."""
    pool_name: pulumi.Output[str]
    """The name of the pool in AKS, which a pool with `replacement: rotate` changes."""
    gpu_stack: str
    """What installs the GPU driver and the device plugin."""
    replacement: str
    """What a change does that needs a new pool: `rotate` or `in-place`."""
    pool_label: pulumi.Output[str]
    """The value of the label by which pods find the pool: its name, without what rotates."""
    has_mig: bool
    """Whether a MIG profile partitions the GPUs."""
    resource_name: pulumi.Output[str | None]
    """The resource that a pod asks for to get a GPU, such as `nvidia.com/gpu`. None if the VM size
    is not in the table of GPU sizes."""
    gpus_per_node: pulumi.Output[int | None]
    """How many of that resource a node has: GPUs, partitions or shares. None if the VM size is not
    in the table of GPU sizes."""
    pod: pulumi.Output[dict[str, Any]]
    """A pod that runs on the pool and asks for one GPU: NVIDIA's vector addition."""
    node_taints: pulumi.Output[list[str]]
    """All taints of the nodes."""
    tolerations: pulumi.Output[list[Toleration]]
    """The tolerations that a pod needs to run on the pool."""
    node_selector: pulumi.Output[dict[str, str]]
    """The node selector that binds a pod to the pool."""

    def __init__(
        self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args, GPU_POOL, RULES_OF_PARTS)
        super().__init__("aks-gpu:components:GpuNodePool", name, None, opts)
        warn(self, args, WARNINGS)
        self.pool_label = pulumi.Output.from_input(args.pool_name)
        self.gpu_stack = args.gpu_stack
        self.replacement = args.replacement
        self.has_mig = args.mig_profile is not None
        # Plain values for PluginPoolArgs.
        self.mig_strategy, self.sharing = args.mig_strategy, args.sharing
        self.plain_name = args.pool_name if isinstance(args.pool_name, str) else name
        self.node_taints = _taints(name, args)
        self.tolerations = self.node_taints.apply(tolerations)
        rotates = args.replacement == rotation.ROTATE
        self.node_selector = self.pool_label.apply(partial(node_selector, rotates=rotates))
        resource = _resource(args)
        self.resource_name = resource.apply(lambda found: found.name)
        self.gpus_per_node = resource.apply(lambda found: found.per_node)
        self.pod = pulumi.Output.all(
            self.resource_name, self.node_selector, self.tolerations
        ).apply(lambda parts: sample_pod(*parts))
        self.agent_pool = self._agent_pool(name, args, rotates=rotates)
        self.id = self.agent_pool.id
        self.pool_name = self.id.apply(_last_part) if rotates else self.pool_label
        self.register_outputs({"poolName": self.pool_name, **self.placement()})

    def placement(self) -> dict[str, pulumi.Output[Any]]:
        """Returns what workloads need to know of the pool, and a pod that runs on it."""
        return {
            "id": self.id,
            "nodeTaints": self.node_taints,
            "tolerations": self.tolerations,
            "nodeSelector": self.node_selector,
            "resourceName": self.resource_name,
            "gpusPerNode": self.gpus_per_node,
            "pod": self.pod,
        }

    def _agent_pool(
        self, name: str, args: GpuNodePoolArgs, *, rotates: bool
    ) -> "aks.AgentPool | AgentPool":
        pool = _pool_args(args, self.node_taints)
        beyond = _beyond_azure_native(args)
        if rotates:
            headers = args.custom_headers if args.replace_on_header_change else None
            properties = {**on_the_wire(pool), **beyond}
            pool.agent_pool_name = rotating_name(args.pool_name, properties, headers)
        options = pulumi.ResourceOptions(
            parent=self,
            ignore_changes=[
                # The cluster autoscaler changes the node count.
                *([] if args.max_count is None else ["count"]),
                # Another name replaces nothing: a new pool gets it.
                *(["agentPoolName"] if rotates else []),
            ],
            replace_on_changes=fixed.replacing(fixed.POOL, _set_properties(args)),
        )
        is_preview = args.custom_headers is not None or bool(beyond)
        opts = one_owner(
            options,
            "containerservice:AgentPool",
            by_aks_preview=is_preview,
            replace_on_header_change=args.replace_on_header_change,
            rotates=rotates,
        )
        hooks = [OF_POOLS.hooks()]
        hooks += [rotation_hooks(self)] if rotates else []
        for each in hooks:
            opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=each))
        if is_preview:
            return AgentPool(
                name,
                {**on_the_wire(pool), **beyond},
                opts,
                custom_headers=args.custom_headers or {},
                replace_on_header_change=args.replace_on_header_change or None,
            )
        opts = keep_live_count(self, pool, opts, rotates=rotates)
        return unaliased_resource(aks.AgentPool, name, pool, opts)


def _pool_args(args: GpuNodePoolArgs, node_taints: pulumi.Output[list[str]]) -> "aks.AgentPoolArgs":
    """Returns the pool's inputs, which have the same names in azure-native and aks-preview."""
    spot = pulumi.Output.from_input(args.spot)
    return aks.AgentPoolArgs(
        resource_group_name=args.resource_group_name,
        resource_name=args.cluster_name,
        agent_pool_name=args.pool_name,
        mode=aks.AgentPoolMode.USER,
        os_type=aks.OSType.LINUX,
        os_sku=args.os_sku,
        capacity_reservation_group_id=args.capacity_reservation_group_id,
        max_pods=args.max_pods,
        os_disk_size_gb=args.os_disk_size_gb,
        os_disk_type=args.os_disk_type,
        type=aks.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        vm_size=args.vm_size,
        orchestrator_version=args.kubernetes_version,
        count=args.count,
        # Empty values are always sent: AKS keeps what a request leaves out.
        enable_auto_scaling=args.max_count is not None,
        min_count=args.min_count,
        max_count=args.max_count,
        # Sorted, because azure-native compares zones by index.
        availability_zones=pulumi.Output.from_input(args.zones).apply(
            lambda zones: sorted(map(str, zones)) or None
        ),
        node_taints=node_taints,
        node_labels=_labels(args),
        # Always sent: if it is left out, AKS fills it in, and a refresh shows that as drift.
        gpu_profile=aks.GPUProfileArgs(driver=_driver(args)),
        gpu_instance_profile=args.mig_profile,
        upgrade_settings=_upgrade_settings(args),
        vnet_subnet_id=args.subnet_id,
        enable_encryption_at_host=true_or_nothing(args.host_encryption),
        tags=args.tags or {},
        scale_set_priority=spot.apply(lambda on: aks.ScaleSetPriority.SPOT if on else None),
        scale_set_eviction_policy=spot.apply(
            lambda on: aks.ScaleSetEvictionPolicy.DELETE if on else None
        ),
        spot_max_price=pulumi.Output.all(args.spot, args.spot_max_price).apply(
            lambda values: values[1] if values[0] else None
        ),
    )


def _beyond_azure_native(args: GpuNodePoolArgs) -> dict[str, Any]:
    """Returns the properties that azure-native does not have, by their names in AKS's API."""
    beyond: dict[str, Any] = {}
    if args.gpu_stack == "managed":
        nvidia = {"managementMode": "Managed"}
        beyond["gpuProfile"] = {"driver": DRIVERS[args.gpu_stack], "nvidia": nvidia}
    if args.artifact_streaming is not None:
        beyond["artifactStreamingProfile"] = {"enabled": args.artifact_streaming}
    return beyond


def _resource(args: GpuNodePoolArgs) -> pulumi.Output[GpuResource]:
    return pulumi.Output.all(args.vm_size, args.mig_profile).apply(
        lambda values: gpu_resource(
            values[0],
            mig_profile=values[1],
            mig_strategy=args.mig_strategy,
            time_slicing=args.sharing.time_slicing if args.sharing else None,
        )
    )


def _upgrade_settings(args: GpuNodePoolArgs) -> "aks.AgentPoolUpgradeSettingsArgs | None":
    surge, unavailable = args.max_surge or None, args.max_unavailable
    # Always both: AKS keeps the other one, and refuses two numbers above 0.
    if surge is None and unavailable is not None:
        surge = pulumi.Output.from_input(unavailable).apply(
            lambda nodes: None if nodes is None else max_surge_beside(nodes)
        )
    elif surge is not None and unavailable is None:
        unavailable = kept.DEFAULT_POOL["upgradeSettings"]["maxUnavailable"]
    settings: dict[str, Any] = {
        "max_surge": surge,
        "max_unavailable": unavailable,
        "drain_timeout_in_minutes": args.drain_timeout_minutes,
        "node_soak_duration_in_minutes": args.node_soak_minutes,
        "undrainable_node_behavior": args.undrainable_node_behavior,
    }
    if all(value is None for value in settings.values()):
        return None
    return aks.AgentPoolUpgradeSettingsArgs(**settings)


def _driver(args: GpuNodePoolArgs) -> str:
    if args.gpu_stack == OPERATOR:
        return gpu_operator.PROFILES[args.gpu_operator_driver].pools_driver
    return DRIVERS[args.gpu_stack]


def _labels(args: GpuNodePoolArgs) -> pulumi.Output[dict[str, str]]:
    def labels(values: list[Any]) -> dict[str, str]:
        own, spot, pool_name = values
        rotating: Mapping[str, str] = {}
        if args.replacement == rotation.ROTATE:
            has_mig = args.mig_profile is not None
            rotating = rotation.labels(pool_name, args.gpu_stack, has_mig=has_mig)
        return {**own, **dict([SPOT_LABEL] * spot), **rotating}

    return pulumi.Output.all(args.labels, args.spot, args.pool_name).apply(labels)


def _last_part(identifier: str) -> str:
    return identifier.rpartition("/")[2]


def _set_properties(args: GpuNodePoolArgs) -> set[str]:
    """Returns the properties that the arguments set and that AKS would choose otherwise."""
    # Without `nvidia`, AKS does not manage the GPUs.
    always = {"gpuProfile.driver", "gpuProfile.nvidia", "scaleSetPriority"}
    optional = {
        "enableEncryptionAtHost": None if args.host_encryption is False else True,
        "capacityReservationGroupID": args.capacity_reservation_group_id,
        "maxPods": args.max_pods,
        "osDiskSizeGB": args.os_disk_size_gb,
        "osDiskType": args.os_disk_type,
    }
    return always | {name for name, value in optional.items() if value is not None}


def _taints(name: str, args: GpuNodePoolArgs) -> pulumi.Output[list[str]]:
    def taints(values: list[Any]) -> list[str]:
        gpu_taint, tainted, spot, additional = values
        # AKS adds the spot taint. If it is left out here, every update shows a difference.
        standard = [gpu_taint] * tainted + [SPOT_TAINT] * spot
        return standard + [taint for taint in additional if taint not in standard]

    gpu_taint = chosen(name, "gpuTaint", GPU_TAINTS, args.gpu_taint)
    return pulumi.Output.all(gpu_taint, args.tainted, args.spot, args.taints).apply(taints)
