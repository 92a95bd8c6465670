"""A GPU node pool, as a resource separate from the cluster."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pulumi
from pulumi_azure_native import containerservice as aks

from aks_catalogue import gpu_operator, rotation
from aks_catalogue import valid_pools as rules
from aks_catalogue.aks_properties import POOL
from aks_catalogue.gpu_resources import gpu_resource
from aks_catalogue.nodes import (
    DRAIN_MINUTES,
    DRIVERS,
    GPU_TAINTS,
    MOST_DRAIN_MINUTES,
    SPOT_LABEL,
    SPOT_TAINT,
    max_surge_beside,
)
from aks_catalogue.sample_pod import sample_pod
from aks_catalogue.scheduling import Toleration, tolerations
from aks_catalogue.valid import between, one_of, resource_id
from aks_preview.resources import AgentPool
from components.arguments import check, chosen, warn
from components.declared import arguments, as_output, at, checked, made, makes, sent
from components.extra_properties import with_extra
from components.kept_properties import removals
from components.live_pools import keep_live_count
from components.one_owner import one_owner
from components.placement import node_selector
from components.pool_args import UserPoolArgs, sent_of_user_pool
from components.rotation import rotating_name
from components.sharing import SharingArgs
from components.unaliased_resource import unaliased_resource

# What every pool says of itself. Without `nvidia`, AKS does not manage the GPUs.
_ALWAYS_GIVEN = ("gpuProfile.driver", "gpuProfile.nvidia", "scaleSetPriority")


@arguments
class GpuNodePoolArgs(UserPoolArgs):
    """The inputs of a GPU node pool."""

    vm_size: pulumi.Input[str] = at("vmSize", rules.check_gpu_size, doubtful=[rules.check_driver])
    """The VM size of the nodes, such as `Standard_NC8as_T4_v3`. It must have NVIDIA GPUs unless
    `gpu_stack` is `none`. Another size replaces the pool."""
    capacity_reservation_group_id: pulumi.Input[str] | None = at(
        "capacityReservationGroupID",
        resource_id("capacityReservationGroups", "a capacity reservation group"),
        rules.NOT_RESERVED_FOR_SPOT,
        default=None,
    )
    """The resource ID of a capacity reservation group that holds machines for the pool. Requires a
    cluster with a user-assigned identity, which has the role Contributor on the group's resource
    group. Default: none. Another group replaces the pool."""
    proximity_placement_group_id: pulumi.Input[str] | None = at(
        "proximityPlacementGroupID",
        resource_id("proximityPlacementGroups", "a proximity placement group"),
        rules.PLACED_IN_ONE_ZONE,
        default=None,
    )
    """The resource ID of a proximity placement group, which keeps nodes close to each other, in one
    zone. Default: none. Another group replaces the pool."""
    os_disk_size_gb: pulumi.Input[int] | None = at("osDiskSizeGB", between(30, 2048), default=None)
    """The size of each node's OS disk in GB, 30 to 2048. Default: AKS chooses by VM size. A new
    value replaces the pool, even if it is the size that AKS has chosen: Pulumi's state does not
    know that."""
    os_disk_type: pulumi.Input[str] | None = at(
        "osDiskType", one_of("Managed", "Ephemeral"), rules.check_os_disk, default=None
    )
    """The type of the OS disks: `Managed` or `Ephemeral`. Default: AKS chooses by VM size. A new
    value replaces the pool, even if it is the type that AKS has chosen: Pulumi's state does not
    know that."""
    max_unavailable: pulumi.Input[str] | None = makes(
        "upgradeSettings.maxUnavailable",
        rules=[rules.NOT_UNAVAILABLE_OF_SPOT, rules.NODES_OR_PERCENT],
        default=None,
    )
    """How many nodes AKS upgrades at once without extra nodes, and so without spare quota, as a
    number (`1`) or percentage (`33%`). Pods must fit on the other nodes meanwhile. Default: `0`. It
    takes the place of `max_surge`. Not for spot pools."""
    max_surge: pulumi.Input[str] | None = makes(
        "upgradeSettings.maxSurge",
        rules=[
            rules.NO_SURGE_OF_SPOT,
            rules.NODES_OR_PERCENT,
            rules.check_surge,
            rules.check_surge_of_racks,
        ],
        default=None,
    )
    """How many extra nodes AKS adds during an upgrade, as a number (`1`) or percentage (`33%`).
    Default: `10%`, or `0` with `max_unavailable`. Not for spot pools."""
    drain_timeout_minutes: pulumi.Input[int] | None = at(
        "upgradeSettings.drainTimeoutInMinutes",
        between(DRAIN_MINUTES, MOST_DRAIN_MINUTES),
        default=None,
    )
    """How many minutes an upgrade waits for the pods of a node to leave, 5 to 1440. Default: `30`.
    Long jobs and disruption budgets can need more."""
    mig_profile: pulumi.Input[str] | None = at(
        "gpuInstanceProfile", rules.NOT_DIVIDED_IF_MANAGED, rules.check_mig_profile, default=None
    )
    """The MIG profile that partitions each GPU: `MIG1g`, `MIG2g`, `MIG3g`, `MIG4g` or `MIG7g`, on
    A100, H100 and H200 GPUs. Default: no partitions. If set, even to an output, the device plugin
    gets a DaemonSet for MIG. Another profile replaces the pool."""
    mig_strategy: str | None = checked(
        rules.MIG_STRATEGY,
        rules.OF_PARTITIONS,
        rules.check_plugin_is_ours,
        doubtful=[rules.check_autoscaler_knows_the_name],
        default=None,
    )
    """By which name pods ask for a partition: `single` (`nvidia.com/gpu`) or `mixed` (a name like
    `nvidia.com/mig-1g.10gb`). Only with the GPU stack `device-plugin`. Default: `single` if
    `mig_profile` is set."""
    sharing: SharingArgs | None = checked(
        rules.check_plugin_is_ours,
        rules.NOT_BESIDE_MIXED,
        doubtful=[rules.check_autoscaler_knows_the_name, rules.check_shares_without_nodes],
        default=None,
    )
    """How several pods share a GPU (docs/sharing.md). Only with the GPU stack `device-plugin`.
    Default: each GPU is for one pod."""
    gpu_stack: str = makes(
        "gpuProfile.driver",
        "gpuProfile.nvidia",
        rules=[rules.GPU_STACK, rules.NOT_SCALED_IF_MANAGED],
        default="device-plugin",
    )
    """What installs the GPU driver and the device plugin. `device-plugin`: AKS installs the driver
    and NvidiaDevicePlugin the plugin. `managed` (preview): AKS installs both, and the DCGM metrics
    exporter; the aks-preview provider manages the pool. `operator`: NvidiaGpuOperator installs what
    `gpu_operator_driver` leaves to it. `specialized-image`: both are in the (retired) node image.
    `none`: you install both. To or from `managed` replaces the pool."""
    gpu_operator_driver: str = checked(
        one_of(*gpu_operator.PROFILES), rules.operator_conflict, default="aks"
    )
    """What installs the GPU driver if `gpu_stack` is `operator`: `aks` or `operator`, the same as
    `driver` of NvidiaGpuOperator."""
    tainted: pulumi.Input[bool] = True
    """Whether the nodes have the taint for GPU pools (`gpu_taint`), which keeps away pods that do
    not need a GPU."""
    gpu_taint: pulumi.Input[str] = checked(rules.GPU_TAINT, default="sku=gpu")
    """The taint for GPU pools: `sku=gpu` (`sku=gpu:NoSchedule`, as in the AKS documentation) or
    `nvidia.com/gpu` (`nvidia.com/gpu=present:NoSchedule`, which NVIDIA's charts tolerate)."""
    custom_headers: Mapping[str, pulumi.Input[str]] | None = checked(
        rules.check_headers,
        rules.check_image_owner,
        rules.check_generation,
        doubtful=[rules.check_retired_headers],
        default=None,
    )
    """HTTP headers to send with each request for the pool. With headers, even an empty mapping, the
    aks-preview provider manages the pool, and without (the default) azure-native does."""
    replace_on_header_change: bool = False
    """Whether any change of `custom_headers` replaces the pool. By default the next request sends
    the new headers and the nodes stay. Required to give an existing pool the specialized image, or
    to take it away."""
    replacement: str = checked(one_of(rotation.ROTATE, rotation.IN_PLACE), default="in-place")
    """What a change does that needs a new pool. `in-place`: Pulumi deletes the pool and creates it
    again. `rotate`: Pulumi creates the new pool first and then deletes the old one, which AKS
    drains by the pods' disruption budgets. Then the name has at most 9 characters, the pool in
    Azure 3 more, and pods find it by the label `aks-gpu/pool` (docs/rotate.md)."""

    @property
    def by_aks_preview(self) -> bool:
        """Whether aks-preview manages the pool, which sends a newer version of the API."""
        return self.custom_headers is not None or self.gpu_stack == "managed"


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
    """The value of the label by which pods find the pool: `pool_name`."""
    has_mig: bool
    """Whether a MIG profile partitions the GPUs."""
    resource_name: pulumi.Output[str | None]
    """The resource that a pod asks for to get a GPU, such as `nvidia.com/gpu`. None if the VM size
    is not in the table of GPU sizes."""
    gpus_per_node: pulumi.Output[int | None]
    """How many of that resource a node has: GPUs, partitions or shares. None if the VM size is not
    in the table of GPU sizes."""
    pod: pulumi.Output[dict[str, Any]]
    """A pod that runs on the pool and asks for one GPU: NVIDIA's vector addition, or AMD's
    `amd-smi`."""
    node_taints: pulumi.Output[list[str]]
    """All taints of the nodes."""
    tolerations: pulumi.Output[list[Toleration]]
    """The tolerations that a pod needs to run on the pool."""
    node_selector: pulumi.Output[dict[str, str]]
    """The node selector that binds a pod to the pool."""

    def __init__(
        self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args)
        super().__init__("aks-gpu:components:GpuNodePool", name, None, opts)
        warn(self, args)
        self.pool_label = pulumi.Output.from_input(args.pool_name)
        self.gpu_stack = args.gpu_stack
        self.replacement = args.replacement
        self.has_mig = args.mig_profile is not None
        # Plain values for PluginPoolArgs.
        self.mig_strategy, self.sharing = args.mig_strategy, args.sharing
        # A preview knows this name. It knows `pool_name` of a pool that rotates only if nothing
        # replaces the pool.
        self.planned_name = self.pool_label
        self.plain_name = args.pool_name if isinstance(args.pool_name, str) else name
        rotates = args.replacement == rotation.ROTATE
        node_taints = _taints(name, args)
        placement = _placement(args, node_taints, rotates=rotates)
        self.agent_pool = self._agent_pool(name, args, node_taints, rotates=rotates)
        self.id = self.agent_pool.id
        self.pool_name = self.id.apply(_last_part) if rotates else self.pool_label
        pool_name = self.pool_name if rotates else args.pool_name
        self.register_outputs({"poolName": pool_name, "id": self.id, **placement})
        self._placement = {name: as_output(value) for name, value in placement.items()}
        self.node_taints = self._placement["nodeTaints"]
        self.tolerations = self._placement["tolerations"]
        self.node_selector = self._placement["nodeSelector"]
        self.resource_name = self._placement["resourceName"]
        self.gpus_per_node = self._placement["gpusPerNode"]
        self.pod = self._placement["pod"]

    def placement(self) -> dict[str, pulumi.Output[Any]]:
        """Returns what workloads need to know of the pool, and a pod that runs on it."""
        return {"id": self.id, **self._placement}

    def _agent_pool(
        self,
        name: str,
        args: GpuNodePoolArgs,
        node_taints: pulumi.Input[list[str]],
        *,
        rotates: bool,
    ) -> "aks.AgentPool | AgentPool":
        is_preview = args.by_aks_preview
        pool = with_extra(gpu_pool_properties(args, node_taints), args.extra)
        sent_or_extra = with_extra(sent(args), args.extra)
        if rotates:
            headers = args.custom_headers if args.replace_on_header_change else None
            self.planned_name = rotating_name(args.pool_name, pool, headers)
            pool["agentPoolName"] = self.planned_name
        options = pulumi.ResourceOptions(
            parent=self,
            ignore_changes=[
                # The cluster autoscaler changes the node count.
                *([] if args.max_count is None else ["count"]),
                # Another name replaces nothing: a new pool gets it.
                *(["agentPoolName"] if rotates else []),
            ],
            replace_on_changes=POOL.replacing([*POOL.given_in(sent_or_extra), *_ALWAYS_GIVEN]),
        )
        opts = one_owner(
            options,
            "containerservice:AgentPool",
            by_aks_preview=is_preview,
            replace_on_header_change=args.replace_on_header_change,
            rotates=rotates,
        )
        hooks = removals(GpuNodePoolArgs)
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=hooks))
        if is_preview:
            return AgentPool(
                name,
                pool,
                opts,
                custom_headers=args.custom_headers or {},
                replace_on_header_change=args.replace_on_header_change or None,
            )
        opts = keep_live_count(self, pool, opts)
        return unaliased_resource(aks.AgentPool, aks.AgentPoolArgs, name, pool, opts)


def gpu_pool_properties(
    args: GpuNodePoolArgs, node_taints: pulumi.Input[list[str]]
) -> dict[str, Any]:
    """Returns what requests for the pool have, of either provider."""
    nvidia = {"nvidia": {"managementMode": "Managed"}} if args.gpu_stack == "managed" else {}
    pool = {
        **sent_of_user_pool(args),
        "nodeTaints": node_taints,
        "nodeLabels": _labels(args),
        # Always sent: if it is left out, AKS fills it in, and a refresh shows that as drift.
        "gpuProfile": {"driver": _driver(args), **nvidia},
    }
    if surge := _surge(args):
        pool["upgradeSettings"] = {**surge, **pool.get("upgradeSettings", {})}
    return pool


def _placement(
    args: GpuNodePoolArgs, node_taints: pulumi.Input[list[str]], *, rotates: bool
) -> dict[str, Any]:
    """Returns what workloads need to know of the pool, beside its ID."""
    selector = made(partial(node_selector, rotates=rotates), args.pool_name)
    tolerated = made(tolerations, node_taints)
    resource = made(
        lambda vm_size, mig_profile: gpu_resource(
            vm_size,
            mig_profile=mig_profile,
            mig_strategy=args.mig_strategy,
            time_slicing=args.sharing.time_slicing if args.sharing else None,
        ),
        args.vm_size,
        args.mig_profile,
    )
    name = made(lambda found: found.name, resource)
    return {
        "nodeTaints": node_taints,
        "tolerations": tolerated,
        "nodeSelector": selector,
        "resourceName": name,
        "gpusPerNode": made(lambda found: found.per_node, resource),
        "pod": made(sample_pod, name, selector, tolerated),
    }


def _surge(args: GpuNodePoolArgs) -> dict[str, Any]:
    surge, unavailable = args.max_surge or None, args.max_unavailable
    # Always both: AKS keeps the other one, and refuses two numbers above 0.
    if surge is None and unavailable is not None:
        surge = made(lambda nodes: None if nodes is None else max_surge_beside(nodes), unavailable)
    elif surge is not None and unavailable is None:
        unavailable = "0"
    both = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {name: value for name, value in both.items() if value is not None}


def _driver(args: GpuNodePoolArgs) -> str:
    if args.gpu_stack == rules.OPERATOR:
        return gpu_operator.PROFILES[args.gpu_operator_driver].pools_driver
    return DRIVERS[args.gpu_stack]


def _labels(args: GpuNodePoolArgs) -> Any:
    def labels(own: Mapping[str, str], spot: bool, pool_name: str) -> dict[str, str]:
        rotating: Mapping[str, str] = {}
        if args.replacement == rotation.ROTATE:
            has_mig = args.mig_profile is not None
            rotating = rotation.labels(pool_name, args.gpu_stack, has_mig=has_mig)
        return {**own, **dict([SPOT_LABEL] * spot), **rotating}

    return made(labels, args.labels, args.spot, args.pool_name)


def _last_part(identifier: str) -> str:
    return identifier.rpartition("/")[2]


def _taints(name: str, args: GpuNodePoolArgs) -> Any:
    def taints(gpu_taint: str, tainted: bool, spot: bool, additional: Sequence[str]) -> list[str]:
        # AKS adds the spot taint. If it is left out here, every update shows a difference.
        standard = [gpu_taint] * tainted + [SPOT_TAINT] * spot
        return standard + [taint for taint in additional if taint not in standard]

    gpu_taint = chosen(name, "gpuTaint", GPU_TAINTS, args.gpu_taint)
    return made(taints, gpu_taint, args.tainted, args.spot, args.taints)
