"""NVIDIA's device plugin on the nodes of GPU pools: it makes their GPUs schedulable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pulumi
from pulumi_kubernetes import apps, core, meta

from catalogue.device_plugin import GPU
from catalogue.images import ARTICLE_DEVICE_PLUGIN, DEVICE_PLUGIN
from catalogue.nodes import POOL_LABEL
from components.gpu_node_pool import GpuNodePool
from components.placement import tolerations

_NAME = "nvidia-device-plugin-daemonset"
_LABEL = "nvidia-device-plugin-ds"
_SOCKETS = "/var/lib/kubelet/device-plugins"


@dataclass(frozen=True)
class Edition:
    """What differs between the DaemonSet of the article and that of today."""

    image: str
    annotations: Mapping[str, str]
    supports_mig: bool
    priority_class: str | None = None
    resources: Mapping[str, Mapping[str, str]] | None = None


EDITIONS: Mapping[str, Edition] = MappingProxyType(
    {
        "article": Edition(
            image=ARTICLE_DEVICE_PLUGIN,
            # What the priority class was before there were priority classes.
            annotations={"scheduler.alpha.kubernetes.io/critical-pod": ""},
            supports_mig=False,
        ),
        "today": Edition(
            image=DEVICE_PLUGIN,
            annotations={},
            supports_mig=True,
            priority_class="system-node-critical",
            resources={
                "requests": {"cpu": "50m", "memory": "64Mi"},
                "limits": {"memory": "256Mi"},
            },
        ),
    }
)


@dataclass(frozen=True)
class Need:
    """What some pools need of the plugin, so that they get a DaemonSet of their own."""

    suffix: str
    environment: Mapping[str, str]
    capabilities: Mapping[str, Sequence[str]]
    allow_privilege_escalation: bool | None


# By whether the pool has a MIG profile.
NEEDS: Mapping[bool, Need] = MappingProxyType(
    {
        False: Need(
            suffix="",
            environment={},
            capabilities={"drop": ["ALL"]},
            allow_privilege_escalation=False,
        ),
        # Without a strategy the plugin offers a partitioned GPU as one whole GPU; without the
        # capability, and the variable on Azure Linux, it cannot see the partitions. All of a
        # pool's partitions are alike, so `single` offers them as nvidia.com/gpu.
        True: Need(
            suffix="-mig",
            environment={"MIG_STRATEGY": "single", "NVIDIA_MIG_MONITOR_DEVICES": "all"},
            capabilities={"add": ["SYS_ADMIN"]},
            # Kubernetes refuses to deny it to a container that has SYS_ADMIN.
            allow_privilege_escalation=None,
        ),
    }
)


@dataclass(frozen=True, kw_only=True)
class PluginPoolArgs:
    """A pool that is no GpuNodePool of this program, and whose nodes need the plugin."""

    pool_name: str
    """The pool's name in AKS."""
    node_taints: Sequence[str] = ()
    """The pool's taints, as AKS writes them: the plugin tolerates them."""
    has_mig: bool = False
    """Whether the pool has a MIG profile."""


@dataclass(frozen=True, kw_only=True)
class NvidiaDevicePluginArgs:
    """Where NVIDIA's device plugin runs, and which one."""

    edition: str = "today"
    """`today`, or `article` for the DaemonSet of the article."""
    image: pulumi.Input[str] | None = None
    """The plugin's image. Default: that of the edition."""
    namespace: pulumi.Input[str] = "gpu-resources"
    """The namespace of the DaemonSets."""
    create_namespace: bool = True
    """Whether to create the namespace, and to delete it again with this component. With False it
    has to exist."""
    pools: Sequence[GpuNodePool] = ()
    """The pools of this program. The plugin runs on those whose GPU stack is `device-plugin`."""
    other_pools: Sequence[PluginPoolArgs] = ()
    """Further pools that the plugin runs on, such as a system pool with GPUs."""


class NvidiaDevicePlugin(pulumi.ComponentResource):
    """The plugin on the nodes of the pools that need it, and on no others.

    Pools whose needs differ get a DaemonSet each, named after the need.
    """

    namespace: pulumi.Output[str]
    """The namespace of the DaemonSets."""
    daemon_set_names: pulumi.Output[list[str]]
    """The names of the DaemonSets."""

    def __init__(
        self, name: str, args: NvidiaDevicePluginArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("aks-gpu:components:NvidiaDevicePlugin", name, None, opts)
        pools = _pools(args)
        if mistakes := _mistakes(args, pools):
            raise ValueError("\n".join(f"{name}: {mistake}" for mistake in mistakes))
        child = pulumi.ResourceOptions(parent=self)
        self.namespace = _namespace(name, args, child)
        daemon_sets: list[apps.v1.DaemonSet] = []
        for has_mig, need in NEEDS.items():
            if alike := [pool for pool in pools if pool.has_mig == has_mig]:
                # A pool whose need changes loses the one plugin before it gets the other.
                after = pulumi.ResourceOptions.merge(
                    child, pulumi.ResourceOptions(depends_on=daemon_sets)
                )
                daemon_sets.append(_daemon_set(name, need, args, alike, self.namespace, after))
        names = [daemon_set.metadata["name"] for daemon_set in daemon_sets]
        self.daemon_set_names = pulumi.Output.all(*names).apply(list)
        self.register_outputs(
            {"namespace": self.namespace, "daemonSetNames": self.daemon_set_names}
        )


def _pools(args: NvidiaDevicePluginArgs) -> list[PluginPoolArgs]:
    """All pools that the plugin runs on."""
    own = [
        PluginPoolArgs(pool_name=pool.pool_name, node_taints=pool.node_taints, has_mig=pool.has_mig)
        for pool in args.pools
        if pool.gpu_stack == "device-plugin"
    ]
    return [*own, *args.other_pools]


def _mistakes(args: NvidiaDevicePluginArgs, pools: Sequence[PluginPoolArgs]) -> list[str]:
    mistakes = []
    edition = EDITIONS.get(args.edition)
    if edition is None:
        known = " or ".join(map(repr, EDITIONS))
        mistakes.append(f"edition: {args.edition!r} is not an edition; use {known}")
    if not pools:
        mistakes.append(
            "pools: none of them has the GPU stack 'device-plugin', and other_pools is empty, so "
            "no node needs the plugin; pass the pools that do, or leave the component out"
        )
    partitioned = [pool.pool_name for pool in pools if pool.has_mig]
    if edition and partitioned and not (edition.supports_mig or args.image):
        mistakes.append(
            f"edition: the plugin of {args.edition!r} does not know MIG, which these pools use: "
            f"{', '.join(partitioned)}; use 'today'"
        )
    return mistakes


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
                metadata=meta.v1.ObjectMetaArgs(
                    labels=labels, annotations=dict(edition.annotations) or None
                ),
                spec=core.v1.PodSpecArgs(
                    priority_class_name=edition.priority_class,
                    tolerations=_tolerations(pools),
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
    resources: Any = edition.resources
    capabilities: Any = need.capabilities
    return core.v1.ContainerArgs(
        name="nvidia-device-plugin-ctr",
        image=image or edition.image,
        env=[
            core.v1.EnvVarArgs(name=variable, value=value)
            for variable, value in need.environment.items()
        ]
        or None,
        security_context=core.v1.SecurityContextArgs(
            allow_privilege_escalation=need.allow_privilege_escalation,
            capabilities=core.v1.CapabilitiesArgs(**capabilities),
        ),
        resources=core.v1.ResourceRequirementsArgs(**resources) if resources else None,
        volume_mounts=[core.v1.VolumeMountArgs(name="device-plugin", mount_path=_SOCKETS)],
    )


def _tolerations(pools: Sequence[PluginPoolArgs]) -> list[core.v1.TolerationArgs]:
    conventional = [
        {"key": "CriticalAddonsOnly", "operator": "Exists"},
        {"key": GPU, "operator": "Exists", "effect": "NoSchedule"},
    ]
    taints = [taint for pool in pools for taint in pool.node_taints]
    derived = [wanted for wanted in tolerations(taints) if wanted not in conventional]
    return [core.v1.TolerationArgs(**wanted) for wanted in [*conventional, *derived]]


def _affinity(pools: Sequence[PluginPoolArgs]) -> core.v1.AffinityArgs:
    """Binds the pods to the pools.

    On a node without an NVIDIA GPU and its driver the plugin exits, again and again; on a pool of
    somebody else's it would be the second one.
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
