"""NVIDIA's device plugin on the nodes of a cluster: what makes their GPUs schedulable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pulumi
from pulumi_kubernetes import apps, core, meta

from catalogue.images import ARTICLE_DEVICE_PLUGIN, DEVICE_PLUGIN
from catalogue.nodes import POOL_LABEL
from components.gpu_node_pool import GpuNodePool
from components.placement import tolerations

_NAME = "nvidia-device-plugin-daemonset"
_LABELS = {"name": "nvidia-device-plugin-ds"}
_SOCKETS = "/var/lib/kubelet/device-plugins"


@dataclass(frozen=True)
class Edition:
    """What differs between the DaemonSet of the article and that of today."""

    image: str
    annotations: Mapping[str, str]
    priority_class: str | None = None
    resources: Mapping[str, Mapping[str, str]] | None = None


EDITIONS: Mapping[str, Edition] = MappingProxyType(
    {
        "article": Edition(
            image=ARTICLE_DEVICE_PLUGIN,
            # What the priority class was before there were priority classes.
            annotations={"scheduler.alpha.kubernetes.io/critical-pod": ""},
        ),
        "today": Edition(
            image=DEVICE_PLUGIN,
            annotations={},
            priority_class="system-node-critical",
            resources={
                "requests": {"cpu": "50m", "memory": "64Mi"},
                "limits": {"memory": "256Mi"},
            },
        ),
    }
)


@dataclass(frozen=True, kw_only=True)
class NvidiaDevicePluginArgs:
    edition: str = "article"
    # Left out, that of the edition.
    image: pulumi.Input[str] | None = None
    namespace: pulumi.Input[str] = "gpu-resources"
    # The plugin tolerates what these are tainted with, and keeps away from those of them whose
    # GPU stack is not its own.
    pools: Sequence[GpuNodePool] = ()
    # Further pools to keep away from, by name.
    pools_left_out: Sequence[str] = ()


class NvidiaDevicePlugin(pulumi.ComponentResource):
    """A namespace, and in it the DaemonSet that brings the plugin to every node that needs it."""

    namespace: pulumi.Output[str]
    daemon_set_name: pulumi.Output[str]

    def __init__(
        self, name: str, args: NvidiaDevicePluginArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("aks-gpu:components:NvidiaDevicePlugin", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        namespace = core.v1.Namespace(
            name, metadata=meta.v1.ObjectMetaArgs(name=args.namespace), opts=child
        )
        daemon_set = apps.v1.DaemonSet(
            name,
            metadata=meta.v1.ObjectMetaArgs(name=_NAME, namespace=namespace.metadata["name"]),
            spec=_spec(args),
            opts=child,
        )
        self.namespace = namespace.metadata["name"]
        self.daemon_set_name = daemon_set.metadata["name"]
        self.register_outputs({"namespace": self.namespace, "daemonSetName": self.daemon_set_name})


def _spec(args: NvidiaDevicePluginArgs) -> apps.v1.DaemonSetSpecArgs:
    edition = EDITIONS[args.edition]
    return apps.v1.DaemonSetSpecArgs(
        selector=meta.v1.LabelSelectorArgs(match_labels=_LABELS),
        update_strategy=apps.v1.DaemonSetUpdateStrategyArgs(type="RollingUpdate"),
        template=core.v1.PodTemplateSpecArgs(
            metadata=meta.v1.ObjectMetaArgs(
                labels=_LABELS, annotations=dict(edition.annotations) or None
            ),
            spec=core.v1.PodSpecArgs(
                priority_class_name=edition.priority_class,
                tolerations=_tolerations(args),
                affinity=_affinity(args),
                containers=[_container(edition, args)],
                volumes=[
                    core.v1.VolumeArgs(
                        name="device-plugin",
                        host_path=core.v1.HostPathVolumeSourceArgs(path=_SOCKETS),
                    )
                ],
            ),
        ),
    )


def _container(edition: Edition, args: NvidiaDevicePluginArgs) -> core.v1.ContainerArgs:
    resources: Any = edition.resources
    return core.v1.ContainerArgs(
        name="nvidia-device-plugin-ctr",
        image=args.image or edition.image,
        security_context=core.v1.SecurityContextArgs(
            allow_privilege_escalation=False,
            capabilities=core.v1.CapabilitiesArgs(drop=["ALL"]),
        ),
        resources=core.v1.ResourceRequirementsArgs(**resources) if resources else None,
        volume_mounts=[core.v1.VolumeMountArgs(name="device-plugin", mount_path=_SOCKETS)],
    )


def _tolerations(args: NvidiaDevicePluginArgs) -> list[core.v1.TolerationArgs]:
    conventional = [
        {"key": "CriticalAddonsOnly", "operator": "Exists"},
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    ]
    taints = [taint for pool in args.pools if _is_served(pool) for taint in pool.node_taints]
    derived = [wanted for wanted in tolerations(taints) if wanted not in conventional]
    return [core.v1.TolerationArgs(**wanted) for wanted in [*conventional, *derived]]


def _affinity(args: NvidiaDevicePluginArgs) -> core.v1.AffinityArgs | None:
    others = [pool.pool_name for pool in args.pools if not _is_served(pool)]
    left_out = [*args.pools_left_out, *others]
    if not left_out:
        return None
    elsewhere = core.v1.NodeSelectorRequirementArgs(
        key=POOL_LABEL, operator="NotIn", values=left_out
    )
    return core.v1.AffinityArgs(
        node_affinity=core.v1.NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=core.v1.NodeSelectorArgs(
                node_selector_terms=[core.v1.NodeSelectorTermArgs(match_expressions=[elsewhere])]
            )
        )
    )


def _is_served(pool: GpuNodePool) -> bool:
    """Whether this plugin is the one that the pool's nodes wait for."""
    return pool.gpu_stack == "device-plugin"
