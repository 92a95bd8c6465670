"""The NVIDIA device plugin on the nodes of GPU pools, which lets Kubernetes schedule their GPUs."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pulumi
from pulumi_kubernetes import apps, core, meta

from aks_catalogue import rotation
from aks_catalogue import valid_clusters as valid
from aks_catalogue import valid_pools as rules
from aks_catalogue.device_plugin import GPU_TOLERATION
from aks_catalogue.images import ARTICLE_DEVICE_PLUGIN, DEVICE_PLUGIN
from aks_catalogue.mistakes import Mistake
from aks_catalogue.nodes import POOL_LABEL
from aks_catalogue.scheduling import Toleration
from aks_catalogue.valid import one_of
from components.arguments import found_mistakes, known, refuse
from components.declared import arguments, checked
from components.gpu_node_pool import GpuNodePool
from components.placement import FOR_NEW_NODES, toleration_args
from components.sharing import SharingArgs, TimeSlicingArgs, config_file

_NAME = "nvidia-device-plugin-daemonset"
_LABEL = "nvidia-device-plugin-ds"
_PRESENT_NAMES = "aks-gpu/pools"
_SOCKETS = "/var/lib/kubelet/device-plugins"
_CONFIG_FOLDER, _CONFIG_FILE = "/config", "config.yaml"
_CHECKSUM = "checksum/config"
_TOLERATIONS: Sequence[Toleration] = (
    {"key": "CriticalAddonsOnly", "operator": "Exists"},
    {**GPU_TOLERATION},
)


@dataclass(frozen=True, kw_only=True)
class Edition:
    """What differs between the DaemonSet of the AKS article and a current one."""

    image: str
    annotations: Mapping[str, str] | None = None
    priority_class: str | None = None
    requests: Mapping[str, str] | None = None
    limits: Mapping[str, str] | None = None


EDITIONS: Mapping[str, Edition] = MappingProxyType(
    {
        "article": Edition(
            image=ARTICLE_DEVICE_PLUGIN,
            # The predecessor of priority classes.
            annotations={"scheduler.alpha.kubernetes.io/critical-pod": ""},
        ),
        "today": Edition(
            image=DEVICE_PLUGIN,
            priority_class="system-node-critical",
            requests={"cpu": "50m", "memory": "64Mi"},
            limits={"memory": "256Mi"},
        ),
    }
)


@dataclass(frozen=True)
class Profile:
    """The settings of a DaemonSet, which are the same for all of its pools."""

    # None: the GPUs are not partitioned.
    mig_strategy: str | None = None
    time_slicing: TimeSlicingArgs | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the plugin.

        Without a MIG strategy the plugin advertises a partitioned GPU as one whole GPU. Without
        SYS_ADMIN (and on Azure Linux NVIDIA_MIG_MONITOR_DEVICES) it does not see the partitions.
        """
        variables: dict[str, str] = {}
        if self.mig_strategy:
            variables |= {"MIG_STRATEGY": self.mig_strategy, "NVIDIA_MIG_MONITOR_DEVICES": "all"}
        if self.time_slicing:
            variables["CONFIG_FILE"] = f"{_CONFIG_FOLDER}/{_CONFIG_FILE}"
        return variables

    @property
    def config(self) -> str:
        """The plugin's configuration file; empty if it needs none, as its GPUs are not shared."""
        return config_file(self.time_slicing) if self.time_slicing else ""


@arguments
class PluginPoolArgs:
    """A GPU node pool for the device plugin."""

    pool_name: pulumi.Input[str]
    """The name of the node pool in AKS; of a pool that rotates, without the 3 characters that a
    rotation adds."""
    gpu_stack: str = checked(rules.GPU_STACK, default="device-plugin")
    """What installs the GPU driver and the device plugin on the pool. The plugin runs only on pools
    with `device-plugin`."""
    node_taints: pulumi.Input[Sequence[pulumi.Input[str]]] = checked(
        each=[rules.VALID_TAINT], default=()
    )
    """The taints of the pool, each as `key=value:effect`. The plugin tolerates them. Default:
    none."""
    has_mig: bool = False
    """Whether the pool has a MIG profile."""
    mig_strategy: str | None = checked(
        rules.MIG_STRATEGY,
        rules.OF_PARTITIONS,
        rules.check_plugin_is_ours,
        rules.OF_PLUGIN_WITH_PARTITIONS,
        default=None,
    )
    """By which name pods ask for a partition: `single` (`nvidia.com/gpu`) or `mixed` (a name like
    `nvidia.com/mig-1g.10gb`). Default: `single` if `has_mig` is set."""
    sharing: SharingArgs | None = checked(
        rules.check_plugin_is_ours, rules.NOT_BESIDE_MIXED, default=None
    )
    """How several pods share a GPU. Default: each GPU is for one pod."""
    name: str | None = checked(valid.NAMED_TO_SHARE, valid.OBJECT_NAME, default=None)
    """The pool's part of the name of a DaemonSet with `sharing`. Default: `pool_name`. Required if
    that is an output."""
    rotating_name: pulumi.Input[str] | None = None
    """The present name in AKS of a pool with `replacement: rotate`. The plugin finds its nodes by
    the label `aks-gpu/pool`, and an update waits until it runs on those of a new pool. Default: the
    pool does not rotate."""

    @property
    def profile(self) -> Profile:
        """The settings of the plugin for the pool."""
        return Profile(
            (self.mig_strategy or "single") if self.has_mig else None,
            self.sharing.time_slicing if self.sharing else None,
        )

    @classmethod
    def of(cls, pool: GpuNodePool) -> "PluginPoolArgs":
        """Returns the inputs for a GpuNodePool of the same program."""
        return cls(
            pool_name=pool.pool_label,
            gpu_stack=pool.gpu_stack,
            node_taints=pool.node_taints,
            has_mig=pool.has_mig,
            mig_strategy=pool.mig_strategy,
            sharing=pool.sharing,
            name=pool.plain_name if pool.sharing else None,
            rotating_name=pool.pool_name if pool.replacement == rotation.ROTATE else None,
        )


@arguments
class NvidiaDevicePluginArgs:
    """The inputs of the NVIDIA device plugin."""

    edition: str = checked(one_of("today", "article"), default="today")
    """The DaemonSet to create: `today` for a current one, `article` for that of the AKS article of
    2020."""
    image: pulumi.Input[str] | None = None
    """The container image of the plugin. Default: the image of the edition."""
    namespace: pulumi.Input[str] = checked(valid.NAMESPACE, default="gpu-resources")
    """The Kubernetes namespace of the DaemonSets."""
    create_namespace: bool = checked(valid.check_namespace_is_new, default=True)
    """Whether to create the namespace, and to delete it with this component. Set it to False for a
    namespace that exists."""
    pools: Sequence[PluginPoolArgs] = ()
    """The GPU node pools of the cluster. At least one must have the GPU stack `device-plugin`."""


class NvidiaDevicePlugin(pulumi.ComponentResource):
    """The NVIDIA device plugin, only on the nodes of the pools that need it.

    Pools whose plugin has the same settings have one DaemonSet: `device-plugin` in Pulumi, and with
    partitions or shared GPUs `device-plugin-mig`, `device-plugin-mig-mixed` or
    `device-plugin-shared-POOL`. Pulumi waits up to 30 minutes for a DaemonSet, because the pods of
    new nodes take that long.
    """

    namespace: pulumi.Output[str]
    """The namespace of the DaemonSets."""
    daemon_set_names: pulumi.Output[list[str]]
    """The names of the DaemonSets."""

    def __init__(
        self, name: str, args: NvidiaDevicePluginArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        pools = [pool for pool in args.pools if pool.gpu_stack == "device-plugin"]
        refuse(
            name,
            [*found_mistakes(args), *_pool_mistakes(args, pools)],
        )
        super().__init__("aks-gpu:components:NvidiaDevicePlugin", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.namespace = _namespace(name, args, child)
        self.daemon_sets: list[apps.v1.DaemonSet] = []
        for group in _groups(pools):
            # A pool whose settings change loses the old plugin before it gets the new one.
            options = pulumi.ResourceOptions.merge(
                child,
                pulumi.ResourceOptions(
                    depends_on=[*self.daemon_sets], custom_timeouts=FOR_NEW_NODES
                ),
            )
            config = _config(name, group, self.namespace, child)
            daemon_set = _daemon_set(name, group, config, args, self.namespace, options)
            self.daemon_sets.append(daemon_set)
        names = [daemon_set.metadata["name"] for daemon_set in self.daemon_sets]
        self.daemon_set_names = pulumi.Output.all(*names).apply(list)
        self.register_outputs(
            {"namespace": self.namespace, "daemonSetNames": self.daemon_set_names}
        )


def _pool_mistakes(
    args: NvidiaDevicePluginArgs, pools: Sequence[PluginPoolArgs]
) -> Iterator[Mistake]:
    if not pools:
        yield Mistake(
            "pools",
            "no pool has the GPU stack 'device-plugin', so no node needs the plugin: pass a pool "
            "that has it, or remove this component",
        )
    names = [
        (pool, str(known(pool).get("poolName", f"pools[{index}]")))
        for index, pool in enumerate(args.pools)
        if pool in pools
    ]
    if reason := valid.old_plugin_mistake(
        args.edition,
        args.image,
        [name for pool, name in names if pool.has_mig],
        [name for pool, name in names if pool.sharing],
    ):
        yield Mistake("edition", reason)


@dataclass(frozen=True)
class _Group:
    """The pools of one DaemonSet, and the end of its names."""

    suffix: str
    profile: Profile
    pools: Sequence[PluginPoolArgs]


def _groups(pools: Sequence[PluginPoolArgs]) -> list[_Group]:
    by_profile: dict[Profile, list[PluginPoolArgs]] = {}
    for pool in pools:
        by_profile.setdefault(pool.profile, []).append(pool)
    groups = (_Group(_suffix(profile, its), profile, its) for profile, its in by_profile.items())
    return sorted(groups, key=lambda group: group.suffix)


def _suffix(profile: Profile, pools: Sequence[PluginPoolArgs]) -> str:
    """Returns the end of the names of a DaemonSet.

    Where its pools share GPUs, it has no setting in it: a new setting restarts the pods of the
    DaemonSet, and does not start those of another one beside them.
    """
    if profile.time_slicing:
        return f"-shared-{min(pool.name or str(pool.pool_name) for pool in pools)}"
    return {None: "", "single": "-mig"}.get(profile.mig_strategy, f"-mig-{profile.mig_strategy}")


def _config(
    name: str, group: _Group, namespace: pulumi.Output[str], opts: pulumi.ResourceOptions
) -> "core.v1.ConfigMap | None":
    """Returns the plugin's configuration file, which only shared GPUs need."""
    if not group.profile.config:
        return None
    return core.v1.ConfigMap(
        f"{name}{group.suffix}",
        metadata=meta.v1.ObjectMetaArgs(name=f"{_NAME}{group.suffix}", namespace=namespace),
        data={_CONFIG_FILE: group.profile.config},
        opts=opts,
    )


def _namespace(
    name: str, args: NvidiaDevicePluginArgs, opts: pulumi.ResourceOptions
) -> pulumi.Output[str]:
    if not args.create_namespace:
        return pulumi.Output.from_input(args.namespace)
    namespace = core.v1.Namespace(
        name, metadata=meta.v1.ObjectMetaArgs(name=args.namespace), opts=opts
    )
    return namespace.metadata["name"]


def _daemon_set(
    name: str,
    group: _Group,
    config: "core.v1.ConfigMap | None",
    args: NvidiaDevicePluginArgs,
    namespace: pulumi.Output[str],
    opts: pulumi.ResourceOptions,
) -> "apps.v1.DaemonSet":
    edition = EDITIONS[args.edition]
    labels = {"name": f"{_LABEL}{group.suffix}"}
    annotations = {**(edition.annotations or {})}
    volumes = [
        core.v1.VolumeArgs(
            name="device-plugin", host_path=core.v1.HostPathVolumeSourceArgs(path=_SOCKETS)
        )
    ]
    if config:
        # The plugin reads its file only when it starts: a new file has to restart it.
        annotations[_CHECKSUM] = hashlib.sha256(group.profile.config.encode()).hexdigest()
        volumes.append(
            core.v1.VolumeArgs(
                name="config",
                config_map=core.v1.ConfigMapVolumeSourceArgs(name=config.metadata["name"]),
            )
        )
    return apps.v1.DaemonSet(
        f"{name}{group.suffix}",
        metadata=meta.v1.ObjectMetaArgs(
            name=f"{_NAME}{group.suffix}",
            namespace=namespace,
            annotations=_present_names(group.pools),
        ),
        spec=apps.v1.DaemonSetSpecArgs(
            selector=meta.v1.LabelSelectorArgs(match_labels=labels),
            update_strategy=apps.v1.DaemonSetUpdateStrategyArgs(type="RollingUpdate"),
            template=core.v1.PodTemplateSpecArgs(
                metadata=meta.v1.ObjectMetaArgs(labels=labels, annotations=annotations or None),
                spec=core.v1.PodSpecArgs(
                    priority_class_name=edition.priority_class,
                    tolerations=toleration_args(_taints(group.pools), _TOLERATIONS),
                    affinity=_affinity(group.pools),
                    containers=[_container(edition, group.profile, args.image)],
                    volumes=volumes,
                ),
            ),
        ),
        opts=opts,
    )


def _container(
    edition: Edition, profile: Profile, image: pulumi.Input[str] | None
) -> "core.v1.ContainerArgs":
    resources = None
    if edition.limits:
        resources = core.v1.ResourceRequirementsArgs(
            requests=edition.requests, limits=edition.limits
        )
    mounts = [core.v1.VolumeMountArgs(name="device-plugin", mount_path=_SOCKETS)]
    if profile.time_slicing:
        mounts.append(
            core.v1.VolumeMountArgs(name="config", mount_path=_CONFIG_FOLDER, read_only=True)
        )
    return core.v1.ContainerArgs(
        name="nvidia-device-plugin-ctr",
        image=image or edition.image,
        env=[
            core.v1.EnvVarArgs(name=variable, value=value)
            for variable, value in profile.environment.items()
        ]
        or None,
        security_context=_security_context(sees_partitions=bool(profile.mig_strategy)),
        resources=resources,
        volume_mounts=mounts,
    )


def _security_context(*, sees_partitions: bool) -> "core.v1.SecurityContextArgs":
    if sees_partitions:
        # Kubernetes does not allow allowPrivilegeEscalation: false with it.
        return core.v1.SecurityContextArgs(capabilities=core.v1.CapabilitiesArgs(add=["SYS_ADMIN"]))
    return core.v1.SecurityContextArgs(
        allow_privilege_escalation=False, capabilities=core.v1.CapabilitiesArgs(drop=["ALL"])
    )


def _taints(
    pools: Sequence[PluginPoolArgs],
) -> pulumi.Output[Sequence[pulumi.Input[Sequence[pulumi.Input[str]]]]]:
    """Returns the taints of each pool, by the pools' names: see `_by_name`."""
    both = [pulumi.Output.all(pool.pool_name, pool.node_taints) for pool in pools]
    return pulumi.Output.all(*both).apply(lambda pairs: [taints for _, taints in sorted(pairs)])


def _by_name(names: Sequence[pulumi.Input[str]]) -> pulumi.Output[list[str]]:
    """Returns names in an order of their own: another order of pools restarts no plugin."""
    return pulumi.Output.all(*names).apply(sorted)


def _affinity(pools: Sequence[PluginPoolArgs]) -> "core.v1.AffinityArgs":
    """Binds the pods to the pools.

    On a node without an NVIDIA GPU the plugin crashes repeatedly; on other teams' GPU pools it
    would be a second plugin.
    """
    terms = []
    if staying := [pool.pool_name for pool in pools if pool.rotating_name is None]:
        terms.append(_term({POOL_LABEL: staying}))
    if rotating := [pool for pool in pools if pool.rotating_name is not None]:
        # The pool that is to go can have another need; it has the other label then.
        [stack] = {rotation.stack_of(pool.gpu_stack, has_mig=pool.has_mig) for pool in rotating}
        names = [pool.pool_name for pool in rotating]
        terms.append(_term({rotation.LABEL: names, rotation.STACK_LABEL: [stack]}))
    return core.v1.AffinityArgs(
        node_affinity=core.v1.NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=core.v1.NodeSelectorArgs(
                node_selector_terms=terms
            )
        )
    )


def _term(labels: Mapping[str, Sequence[pulumi.Input[str]]]) -> "core.v1.NodeSelectorTermArgs":
    return core.v1.NodeSelectorTermArgs(
        match_expressions=[
            core.v1.NodeSelectorRequirementArgs(key=key, operator="In", values=_by_name(values))
            for key, values in labels.items()
        ]
    )


def _present_names(pools: Sequence[PluginPoolArgs]) -> dict[str, pulumi.Output[str]] | None:
    """Returns an annotation that changes with a new pool, so that Pulumi waits for its nodes."""
    names = [pool.rotating_name for pool in pools if pool.rotating_name is not None]
    if not names:
        return None
    return {_PRESENT_NAMES: _by_name(names).apply(",".join)}
