"""The keys of a stack file. The docstring below each one is its reference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from aks_catalogue import capacity, gpu_operator
from aks_catalogue import valid_clusters as valid
from aks_catalogue import valid_pools as rules
from aks_catalogue.valid import one_of
from components.aks_cluster import AksClusterArgs, AutoscalerArgs, NetworkArgs
from components.declared import checked
from components.gpu_isolation import GpuIsolationArgs
from components.nvidia_device_plugin import NvidiaDevicePluginArgs
from components.nvidia_gpu_operator import NvidiaGpuOperatorArgs
from components.registry_access import RegistryAccessArgs
from components.resource_group import ResourceGroupArgs
from components.sample_job import SampleJobArgs
from stack_settings.pools import Capacity, GpuPool, NodePool, Pool, SystemNodePool, SystemPool
from stack_settings.section import Section


@dataclass(frozen=True, kw_only=True)
class ResourceGroup(Section, ResourceGroupArgs):
    """The resource group of the cluster."""

    named = "resource_group_name"
    without = ("location", "tags")
    existing: bool = False
    """Whether the resource group already exists. The stack then uses it and never changes it."""
    resource_group_name: str = checked(valid.require_name_of_existing("resource group"), default="")
    """The name of the resource group. Default: `aks-gpu-` and the stack's name. Required if
    `existing` is true. Another name replaces the resource group, and the cluster in it."""


@dataclass(frozen=True, kw_only=True)
class Cluster(Section, AksClusterArgs):
    """The AKS cluster."""

    named = "cluster_name"
    without = ("resource_group_name", "location", "system_pool", "network", "tags")
    existing: bool = False
    """Whether the cluster already exists. The stack then only adds node pools to it, and of the
    other keys only `name` applies."""
    cluster_name: str = checked(valid.require_name_of_existing("cluster"), default="")
    """The name of the cluster: 1 to 63 letters, digits, `_` and `-`. Default: `aks-gpu-` and the
    stack's name. Required if `existing` is true. Another name replaces the cluster: set the name
    before you run `pulumi stack rename`."""
    protect: bool = True
    """Whether Pulumi refuses to delete or replace the cluster, and the resource group if the stack
    created it."""

    if TYPE_CHECKING:
        kubernetes_version: str | None
        support_plan: str | None
        upgrade_channel: str

    @property
    def by_aks_preview(self) -> bool:
        # systemPool decides it, which is another section: a rule across sections judges this.
        return True


@dataclass(frozen=True, kw_only=True)
class Registry(Section, RegistryAccessArgs):
    """The Azure Container Registry from which the nodes may pull images: one that exists
    (`registryId`), or a new one (`name`) in the stack's resource group. Whoever runs the stack
    needs the right to assign roles on it."""

    named = "registry_name"
    without = ("kubelet_object_id", "resource_group_name", "location", "tags")
    registry_name: str | None = checked(valid.NOT_BESIDE_ID, default=None)
    """The name of a new registry: 5 to 50 letters and digits, which nobody else has in Azure.
    Default: none is made."""

    @property
    def is_set(self) -> bool:
        return bool(self.registry_name or self.registry_id)


@dataclass(frozen=True, kw_only=True)
class DevicePlugin(Section, NvidiaDevicePluginArgs):
    """The NVIDIA device plugin, which the stack installs for pools with the GPU stack
    `device-plugin`."""

    without = ("pools",)
    create_namespace: bool = True
    """Whether to create the namespace. Set it to false for a namespace that exists. If the stack
    created it, run `pulumi state delete` on it first: otherwise Pulumi deletes it."""


@dataclass(frozen=True, kw_only=True)
class GpuOperator(Section, NvidiaGpuOperatorArgs):
    """NVIDIA's GPU Operator, which the stack installs with Helm for pools with the GPU stack
    `operator`."""

    without = ("namespace", "pools")
    driver: str = "aks"
    """What installs the GPU driver and the container runtime on those pools: `aks`, or `operator`.
    Another one replaces the pools."""


@dataclass(frozen=True, kw_only=True)
class GpuIsolation(Section, GpuIsolationArgs):
    """GPUs that stay with the pods that asked for them ([what pods see](../isolation.md))."""

    enabled: bool = False
    """Whether a pod sees only the GPUs that it asked for. Needs Kubernetes 1.36. It is for all pods
    of the cluster, except those in `exemptNamespaces` and where the stack installs the device
    plugin."""


@dataclass(frozen=True, kw_only=True)
class SampleJob(Section, SampleJobArgs):
    """The sample job of the AKS article, which shows that pods can use a GPU."""

    without = ("node_taints", "resource_name")
    enabled: bool = False
    """Whether to run the sample job. `pulumi up` waits for it, up to half an hour: a pool may have
    to scale up. `aksgpu check --job` runs a pod outside the stack instead."""


@dataclass(frozen=True, kw_only=True)
class Settings(Section):
    """The keys of a stack file, each with the prefix `aks-gpu:`."""

    location: str = checked(valid.check_region, default="eastus")
    """The Azure region of all resources of the stack."""
    allow_retired: bool = False
    """Whether `aksgpu review` accepts new pools with retired VM sizes or the retired image."""
    gpu_stack: str = checked(rules.GPU_STACK, default="device-plugin")
    """What installs the GPU driver and the device plugin on all pools. `device-plugin`: AKS
    installs the driver and this stack the plugin. `managed` (preview): AKS installs both, and the
    DCGM metrics exporter. `operator`: this stack installs NVIDIA's GPU Operator (`gpuOperator`).
    `specialized-image`: both are in the (retired) node image. `none`: you install both."""
    managed_gpu_feature: str = checked(one_of("assume", "register"), default="assume")
    """Who registers the preview feature that pools with the GPU stack `managed` need,
    `Microsoft.ContainerService/ManagedGPUExperiencePreview`. `assume`: it is registered already.
    `register`: this stack registers it in the subscription, and leaves it registered."""
    infiniband_feature: str = checked(one_of("assume", "register"), default="assume")
    """Who registers the feature with which AKS puts the nodes of a new pool on one InfiniBand
    network, `Microsoft.ContainerService/AKSInfinibandSupport`, if a GPU pool has a size with
    InfiniBand. `assume`: it is registered already. `register`: this stack registers it in the
    subscription, and leaves it registered."""
    gpu_taint: str = checked(rules.GPU_TAINT, default="sku=gpu")
    """The taint of GPU pools: `sku=gpu` (`sku=gpu:NoSchedule`, as in the AKS documentation) or
    `nvidia.com/gpu` (`nvidia.com/gpu=present:NoSchedule`, which NVIDIA's charts tolerate)."""
    tags: Mapping[str, str] = checked(default={})
    """The Azure tags of all resources that the stack creates."""
    resource_group: ResourceGroup
    cluster: Cluster
    network: NetworkArgs
    system_pool: SystemPool
    system_pools: Sequence[SystemNodePool] = ()
    """Additional system node pools ([how to replace the first one](../system-pools.md))."""
    pools: Sequence[NodePool] = ()
    """Node pools without GPUs, for what runs beside them."""
    gpu_pools: Sequence[GpuPool] = ()
    """The GPU node pools."""
    gpu_capacity: Sequence[Capacity] = ()
    """GPUs that can be had: ladders of GPU node pools, of which AKS takes the first rung that Azure
    has machines for."""
    device_plugin: DevicePlugin
    gpu_operator: GpuOperator
    registry: Registry
    gpu_isolation: GpuIsolation
    sample_job: SampleJob

    @property
    def uses_kubernetes(self) -> bool:
        """Whether the stack creates Kubernetes objects on the cluster."""
        brought = [*self.pools_of("device-plugin"), *self.pools_of(rules.OPERATOR)]
        others = self.sample_job.enabled or self.gpu_isolation.enabled
        return bool(brought or self.gpu_capacity) or others

    @property
    def autoscaler(self) -> AutoscalerArgs | None:
        """The settings of the cluster autoscaler; capacity needs an expander of its own."""
        own = self.cluster.autoscaler
        if not self.gpu_capacity:
            return own
        return replace(own or AutoscalerArgs(), expander=capacity.EXPANDER)

    @property
    def pools_with_gpus(self) -> list[Pool]:
        """All pools of the stack that have GPUs, including the first system pool if it has some."""
        system: list[Pool] = [pool for pool in self.first_pool if pool.has_gpus]
        return [*system, *self.all_gpu_pools]

    @property
    def all_gpu_pools(self) -> list[GpuPool]:
        """The GPU pools, with the rungs of each capacity."""
        return [*self.gpu_pools, *(rung for each in self.gpu_capacity for rung in each.rungs)]

    @property
    def first_pool(self) -> list[SystemPool]:
        """The first system pool, as a list; empty if it was removed or the cluster exists."""
        has_pool = not self.cluster.existing and not self.system_pool.removed
        return [self.system_pool] if has_pool else []

    @property
    def separate_pools(self) -> list[tuple[str, SystemNodePool | NodePool | GpuPool]]:
        """The pools that are resources of their own, each with its key."""
        return [
            *((f"systemPools[{n}]", pool) for n, pool in enumerate(self.system_pools)),
            *((f"pools[{n}]", pool) for n, pool in enumerate(self.pools)),
            *((f"gpuPools[{n}]", pool) for n, pool in enumerate(self.gpu_pools)),
            *(
                (f"gpuCapacity[{n}].rungs[{rung}]", pool)
                for n, capacity in enumerate(self.gpu_capacity)
                for rung, pool in enumerate(capacity.rungs)
            ),
        ]

    def pools_of(self, gpu_stack: str) -> list[Pool]:
        """The pools with GPUs that have this GPU stack."""
        return [pool for pool in self.pools_with_gpus if pool.gpu_stack == gpu_stack]

    def labels_of(self, pool: GpuPool) -> dict[str, str]:
        """The labels of a pool's nodes: the GPU Operator leaves alone the pools of others."""
        is_anothers = bool(self.pools_of(rules.OPERATOR)) and pool.gpu_stack != rules.OPERATOR
        return {**dict([gpu_operator.WITHOUT_OPERANDS] * is_anothers), **cast(Any, pool.labels)}
