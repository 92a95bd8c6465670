"""The NVIDIA device plugin on the nodes of GPU pools, which lets Kubernetes schedule their GPUs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import pulumi
from pulumi_kubernetes import apps, core, meta

from catalogue import valid_clusters
from catalogue.device_plugin import GPU
from catalogue.images import ARTICLE_DEVICE_PLUGIN, DEVICE_PLUGIN
from catalogue.mistakes import Mistake, property_path
from catalogue.nodes import POOL_LABEL
from catalogue.valid import mistakes
from components.arguments import as_azure_spells_it, known, refuse
from components.gpu_node_pool import GpuNodePool
from components.placement import FOR_NEW_NODES, Toleration, toleration_args

_NAME = "nvidia-device-plugin-daemonset"
_LABEL = "nvidia-device-plugin-ds"
_SOCKETS = "/var/lib/kubelet/device-plugins"
_TOLERATIONS: Sequence[Toleration] = (
    {"key": "CriticalAddonsOnly", "operator": "Exists"},
    {"key": GPU, "operator": "Exists", "effect": "NoSchedule"},
)


@dataclass(frozen=True, kw_only=True)
class Edition:
    """What differs between the DaemonSet of the AKS article and a current one."""

    image: str
    annotations: Mapping[str, str] | None = None
    priority_class: str | None = None
    resources: core.v1.ResourceRequirementsArgs | None = None


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
            resources=core.v1.ResourceRequirementsArgs(
                requests={"cpu": "50m", "memory": "64Mi"}, limits={"memory": "256Mi"}
            ),
        ),
    }
)


@dataclass(frozen=True, kw_only=True)
class Need:
    """The settings of a DaemonSet for pools with, or without, a MIG profile."""

    suffix: str
    security: core.v1.SecurityContextArgs
    environment: Mapping[str, str] = field(default_factory=dict)


# By whether the pools have a MIG profile.
NEEDS: Mapping[bool, Need] = MappingProxyType(
    {
        False: Need(
            suffix="",
            security=core.v1.SecurityContextArgs(
                allow_privilege_escalation=False,
                capabilities=core.v1.CapabilitiesArgs(drop=["ALL"]),
            ),
        ),
        # Without a MIG strategy the plugin advertises a partitioned GPU as one whole GPU. Without
        # SYS_ADMIN (and on Azure Linux the variable) it does not see the partitions. A pool has
        # partitions of one kind, so the strategy `single` advertises them as nvidia.com/gpu.
        True: Need(
            suffix="-mig",
            # Kubernetes does not allow allowPrivilegeEscalation: false with SYS_ADMIN.
            security=core.v1.SecurityContextArgs(
                capabilities=core.v1.CapabilitiesArgs(add=["SYS_ADMIN"])
            ),
            environment={"MIG_STRATEGY": "single", "NVIDIA_MIG_MONITOR_DEVICES": "all"},
        ),
    }
)


@dataclass(frozen=True, kw_only=True)
class PluginPoolArgs:
    """A GPU node pool for the device plugin."""

    pool_name: pulumi.Input[str]
    """The name of the node pool in AKS."""
    gpu_stack: str = "device-plugin"
    """What installs the GPU driver and the device plugin on the pool. The plugin runs only on pools
    with `device-plugin`. Plain value: it decides which DaemonSets exist."""
    node_taints: pulumi.Input[Sequence[pulumi.Input[str]]] = ()
    """The taints of the pool, each as `key=value:effect`. The plugin tolerates them. Default:
    none."""
    has_mig: bool = False
    """Whether the pool has a MIG profile. Plain value: it decides which DaemonSets exist."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpu_stack", as_azure_spells_it(self.gpu_stack))

    @classmethod
    def of(cls, pool: GpuNodePool) -> "PluginPoolArgs":
        """Returns the inputs for a GpuNodePool of the same program."""
        return cls(
            pool_name=pool.pool_name,
            gpu_stack=pool.gpu_stack,
            node_taints=pool.node_taints,
            has_mig=pool.has_mig,
        )


@dataclass(frozen=True, kw_only=True)
class NvidiaDevicePluginArgs:
    """The inputs of the NVIDIA device plugin."""

    edition: str = "today"
    """The DaemonSet to create: `today` for a current one, `article` for that of the AKS article of
    2020. Plain value: it decides the contents of the DaemonSets."""
    image: pulumi.Input[str] | None = None
    """The container image of the plugin. Default: the image of the edition."""
    namespace: pulumi.Input[str] = "gpu-resources"
    """The Kubernetes namespace of the DaemonSets."""
    create_namespace: bool = True
    """Whether to create the namespace, and to delete it with this component. Set it to False for a
    namespace that exists. Plain value: it decides which resources the component has."""
    pools: Sequence[PluginPoolArgs] = ()
    """The GPU node pools of the cluster. At least one must have the GPU stack `device-plugin`.
    Plain value: they decide which DaemonSets exist."""


class NvidiaDevicePlugin(pulumi.ComponentResource):
    """The NVIDIA device plugin, only on the nodes of the pools that need it.

    Pools with a MIG profile get a separate DaemonSet. Pulumi waits up to 30 minutes for a
    DaemonSet, because the pods of new nodes take that long.
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
            [*mistakes(valid_clusters.DEVICE_PLUGIN, known(args)), *_pool_mistakes(args, pools)],
        )
        super().__init__("aks-gpu:components:NvidiaDevicePlugin", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.namespace = _namespace(name, args, child)
        self.daemon_sets: list[apps.v1.DaemonSet] = []
        for has_mig, need in NEEDS.items():
            if served := [pool for pool in pools if pool.has_mig == has_mig]:
                # A pool whose MIG profile changes loses the old plugin before it gets the new one.
                options = pulumi.ResourceOptions.merge(
                    child,
                    pulumi.ResourceOptions(
                        depends_on=[*self.daemon_sets], custom_timeouts=FOR_NEW_NODES
                    ),
                )
                daemon_set = _daemon_set(name, need, args, served, self.namespace, options)
                self.daemon_sets.append(daemon_set)
        names = [daemon_set.metadata["name"] for daemon_set in self.daemon_sets]
        self.daemon_set_names = pulumi.Output.all(*names).apply(list)
        self.register_outputs(
            {"namespace": self.namespace, "daemonSetNames": self.daemon_set_names}
        )


def _pool_mistakes(
    args: NvidiaDevicePluginArgs, pools: Sequence[PluginPoolArgs]
) -> Iterator[Mistake]:
    for index, pool in enumerate(args.pools):
        yield from mistakes(valid_clusters.PLUGIN_POOL, known(pool), property_path("pools", index))
    if not pools:
        yield Mistake(
            "pools",
            "no pool has the GPU stack 'device-plugin', so no node needs the plugin: pass a pool "
            "that has it, or remove this component",
        )
    partitioned = [
        str(known(pool).get("poolName", f"pools[{index}]"))
        for index, pool in enumerate(args.pools)
        if pool.has_mig and pool in pools
    ]
    if reason := valid_clusters.edition_without_mig(args.edition, args.image, partitioned):
        yield Mistake("edition", reason)


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
    need: Need,
    args: NvidiaDevicePluginArgs,
    pools: Sequence[PluginPoolArgs],
    namespace: pulumi.Output[str],
    opts: pulumi.ResourceOptions,
) -> apps.v1.DaemonSet:
    edition = EDITIONS[args.edition]
    labels = {"name": f"{_LABEL}{need.suffix}"}
    return apps.v1.DaemonSet(
        f"{name}{need.suffix}",
        metadata=meta.v1.ObjectMetaArgs(name=f"{_NAME}{need.suffix}", namespace=namespace),
        spec=apps.v1.DaemonSetSpecArgs(
            selector=meta.v1.LabelSelectorArgs(match_labels=labels),
            update_strategy=apps.v1.DaemonSetUpdateStrategyArgs(type="RollingUpdate"),
            template=core.v1.PodTemplateSpecArgs(
                metadata=meta.v1.ObjectMetaArgs(labels=labels, annotations=edition.annotations),
                spec=core.v1.PodSpecArgs(
                    priority_class_name=edition.priority_class,
                    tolerations=toleration_args([pool.node_taints for pool in pools], _TOLERATIONS),
                    affinity=_affinity(pools),
                    containers=[_container(edition, need, args.image)],
                    volumes=[
                        core.v1.VolumeArgs(
                            name="device-plugin",
                            host_path=core.v1.HostPathVolumeSourceArgs(path=_SOCKETS),
                        )
                    ],
                ),
            ),
        ),
        opts=opts,
    )


def _container(
    edition: Edition, need: Need, image: pulumi.Input[str] | None
) -> core.v1.ContainerArgs:
    return core.v1.ContainerArgs(
        name="nvidia-device-plugin-ctr",
        image=image or edition.image,
        env=[
            core.v1.EnvVarArgs(name=variable, value=value)
            for variable, value in need.environment.items()
        ]
        or None,
        security_context=need.security,
        resources=edition.resources,
        volume_mounts=[core.v1.VolumeMountArgs(name="device-plugin", mount_path=_SOCKETS)],
    )


def _affinity(pools: Sequence[PluginPoolArgs]) -> core.v1.AffinityArgs:
    """Binds the pods to the pools.

    On a node without an NVIDIA GPU the plugin crashes repeatedly; on other teams' GPU pools it
    would be a second plugin.
    """
    in_pools = core.v1.NodeSelectorRequirementArgs(
        key=POOL_LABEL, operator="In", values=[pool.pool_name for pool in pools]
    )
    return core.v1.AffinityArgs(
        node_affinity=core.v1.NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=core.v1.NodeSelectorArgs(
                node_selector_terms=[core.v1.NodeSelectorTermArgs(match_expressions=[in_pools])]
            )
        )
    )
