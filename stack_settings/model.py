"""The keys of a stack file. The docstring below each one is its reference."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ValidationInfo, field_validator
from pydantic.alias_generators import to_camel

from aks_catalogue import capacity, gpu_isolation, gpu_operator, kubernetes
from aks_catalogue import valid_clusters as valid
from aks_catalogue import valid_pools as rules
from aks_catalogue.mistakes import Mistake, property_path
from aks_catalogue.nodes import DRIVERS
from aks_catalogue.valid import one_of, property_mistakes
from components.aks_cluster import (
    AksClusterArgs,
    AutoscalerArgs,
    EntraArgs,
    MaintenanceArgs,
    NetworkArgs,
)
from components.gpu_isolation import GpuIsolationArgs
from components.nvidia_device_plugin import NvidiaDevicePluginArgs
from components.nvidia_gpu_operator import NvidiaGpuOperatorArgs
from components.registry_access import RegistryAccessArgs
from components.resource_group import ResourceGroupArgs
from components.sample_job import SampleJobArgs
from stack_settings.pools import Capacity, GpuPool, NodePool, Pool, SystemNodePool, SystemPool
from stack_settings.section import RefusedError, Section, context_of, keys_of

# The keys that apply to an existing cluster, by section.
_KEYS_OF_EXISTING_CLUSTERS: Mapping[str, Collection[str]] = MappingProxyType(
    {"cluster": ("existing", "name"), "network": ("subnet_id",), "system_pool": ()}
)
_IS_IGNORED = "has no effect on an existing cluster (cluster.existing: true): remove this key"


def _all_gpu_pools(keys: Mapping[str, Any]) -> list[GpuPool]:
    """The GPU pools among the stack's keys, with the rungs of each capacity."""
    ladders: list[Capacity] = keys.get("gpu_capacity", [])
    return [*keys.get("gpu_pools", []), *(rung for ladder in ladders for rung in ladder.rungs)]


class _NamedByTheStack(Section):
    """A section whose default name is made of the stack's name."""

    @field_validator("name", mode="before", check_fields=False)
    @classmethod
    def _set_default_name(cls, name: Any, info: ValidationInfo) -> Any:
        if name != "" or info.data.get("existing"):
            return name
        default = context_of(info).default_name
        for _, reason in property_mistakes(cls.rules(), "name", {"name": default}):
            raise ValueError(f"must be set, because the default cannot be used: {reason}")
        return default


@keys_of(ResourceGroupArgs, named="resource_group_name", without=("location", "tags"))
class ResourceGroup(_NamedByTheStack):
    """The resource group of the cluster."""

    existing: bool = False
    """Whether the resource group already exists. The stack then uses it and never changes it."""
    name: Annotated[str, valid.require_name_of_existing("resource group")] = ""
    """The name of the resource group. Default: `aks-gpu-` and the stack's name. Required if
    `existing` is true. Another name replaces the resource group, and the cluster in it."""


@keys_of(AutoscalerArgs)
class Autoscaler(Section):
    """How the cluster autoscaler works, for all pools that it scales. More of it goes into
    `cluster.extra`, as `autoScalerProfile`."""

    if TYPE_CHECKING:
        balance_similar_pools: bool
        expander: str


@keys_of(MaintenanceArgs)
class Maintenance(Section):
    """A window each week in which AKS installs upgrades by itself, of Kubernetes and of nodes."""


@keys_of(EntraArgs)
class Entra(Section):
    """Sign-in with Microsoft Entra ID. AKS cannot turn it off again."""


@keys_of(
    AksClusterArgs,
    named="cluster_name",
    without=("resource_group_name", "location", "system_pool", "network", "tags"),
)
class Cluster(_NamedByTheStack):
    """The AKS cluster."""

    existing: bool = False
    """Whether the cluster already exists. The stack then only adds node pools to it, and of the
    other keys only `name` applies."""
    name: Annotated[str, valid.require_name_of_existing("cluster")] = ""
    """The name of the cluster: 1 to 63 letters, digits, `_` and `-`. Default: `aks-gpu-` and the
    stack's name. Required if `existing` is true. Another name replaces the cluster: set the name
    before you run `pulumi stack rename`."""
    kubernetes_version: str = ""
    """The Kubernetes version of the cluster and, by default, of its node pools, such as `1.35` or
    `1.35.2`. Default: AKS chooses at creation. With `upgradeChannel: patch`, set a minor version;
    with `stable` or `rapid`, leave it out."""
    protect: bool = True
    """Whether Pulumi refuses to delete or replace the cluster, and the resource group if the stack
    created it."""

    @classmethod
    def by_aks_preview(cls, _: Mapping[str, Any]) -> bool:
        # systemPool decides it, which is read later: the component judges this.
        return True

    if TYPE_CHECKING:
        autoscaler: Autoscaler | None
        entra: Entra | None
        upgrade_channel: str
        user_assigned_identity_id: str | None


@keys_of(
    RegistryAccessArgs,
    named="registry_name",
    without=("kubelet_object_id", "resource_group_name", "location", "tags"),
)
class Registry(Section):
    """The Azure Container Registry from which the nodes may pull images: one that exists
    (`registryId`), or a new one (`name`) in the stack's resource group."""

    name: Annotated[str | None, valid.NOT_BESIDE_ID] = None
    """The name of a new registry: 5 to 50 letters and digits, which nobody else has in Azure.
    Default: none is made."""
    if TYPE_CHECKING:
        registry_id: str | None

    @property
    def is_set(self) -> bool:
        return bool(self.name or self.registry_id)


@keys_of(NetworkArgs)
class Network(Section):
    """The cluster's network. It always uses Azure CNI, by default in overlay mode."""

    if TYPE_CHECKING:
        subnet_id: str | None


@keys_of(NvidiaDevicePluginArgs, without=("pools",))
class DevicePlugin(Section):
    """The NVIDIA device plugin, which the stack installs for pools with the GPU stack
    `device-plugin`."""

    create_namespace: bool = True
    """Whether to create the namespace. Set it to false for a namespace that exists. If the stack
    created it, run `pulumi state delete` on it first: otherwise Pulumi deletes it."""

    if TYPE_CHECKING:
        edition: str
        image: str | None
        namespace: str


@keys_of(NvidiaGpuOperatorArgs, without=("namespace", "pools"))
class GpuOperator(Section):
    """NVIDIA's GPU Operator, which the stack installs with Helm for pools with the GPU stack
    `operator`."""

    driver: str = "aks"
    """What installs the GPU driver and the container runtime on those pools: `aks`, or `operator`.
    Another one replaces the pools."""

    if TYPE_CHECKING:
        values: dict[str, Any]


@keys_of(GpuIsolationArgs)
class GpuIsolation(Section):
    """GPUs that stay with the pods that asked for them ([what pods see](../isolation.md))."""

    enabled: bool = False
    """Whether a pod sees only the GPUs that it asked for. Needs Kubernetes 1.36. It is for all pods
    of the cluster, except those in `exemptNamespaces` and where the stack installs the device
    plugin."""

    if TYPE_CHECKING:
        violations: str
        exempt_namespaces: list[str]


@keys_of(SampleJobArgs, without=("node_taints", "resource_name"))
class SampleJob(Section):
    """The sample job of the AKS article, which shows that pods can use a GPU."""

    enabled: bool = False
    """Whether to run the sample job. `pulumi up` waits for it, up to half an hour: a pool may have
    to scale up. `aksgpu check --job` runs a pod outside the stack instead."""

    if TYPE_CHECKING:
        image: str


class Settings(Section):
    """The keys of a stack file, each with the prefix `aks-gpu:`."""

    location: Annotated[str, valid.check_region] = "eastus"
    """The Azure region of all resources of the stack."""
    allow_retired: bool = False
    """Whether `aksgpu review` accepts new pools with retired VM sizes or the retired image."""
    gpu_stack: Annotated[str, rules.GPU_STACK] = "device-plugin"
    """What installs the GPU driver and the device plugin on all pools. `device-plugin`: AKS
    installs the driver and this stack the plugin. `managed` (preview): AKS installs both, and the
    DCGM metrics exporter. `operator`: this stack installs NVIDIA's GPU Operator (`gpuOperator`).
    `specialized-image`: both are in the (retired) node image. `none`: you install both."""
    managed_gpu_feature: Annotated[str, one_of("assume", "register")] = "assume"
    """Who registers the preview feature that pools with the GPU stack `managed` need,
    `Microsoft.ContainerService/ManagedGPUExperiencePreview`. `assume`: it is registered already.
    `register`: this stack registers it in the subscription, and leaves it registered."""
    infiniband_feature: Annotated[str, one_of("assume", "register")] = "assume"
    """Who registers the feature with which AKS puts the nodes of a new pool on one InfiniBand
    network, `Microsoft.ContainerService/AKSInfinibandSupport`, if a GPU pool has a size with
    InfiniBand. `assume`: it is registered already. `register`: this stack registers it in the
    subscription, and leaves it registered."""
    gpu_taint: Annotated[str, rules.GPU_TAINT] = "sku=gpu"
    """The taint of GPU pools: `sku=gpu` (`sku=gpu:NoSchedule`, as in the AKS documentation) or
    `nvidia.com/gpu` (`nvidia.com/gpu=present:NoSchedule`, which NVIDIA's charts tolerate)."""
    tags: dict[str, str] = {}
    """The Azure tags of all resources that the stack creates."""
    # These two are made when a stack file is read: their names need the stack's.
    resource_group: ResourceGroup = {}  # type: ignore[assignment]
    """The resource group of the cluster."""
    cluster: Cluster = {}  # type: ignore[assignment]
    """The AKS cluster."""
    network: Network = Network.model_validate({})
    """The cluster's network."""
    system_pool: SystemPool = SystemPool.model_validate({})
    """The first system node pool, which AKS creates with the cluster."""
    system_pools: list[SystemNodePool] = []
    """Additional system node pools ([how to replace the first one](../system-pools.md))."""
    pools: list[NodePool] = []
    """Node pools without GPUs, for what runs beside them."""
    gpu_pools: list[GpuPool] = []
    """The GPU node pools."""
    gpu_capacity: list[Capacity] = []
    """GPUs that can be had: ladders of GPU node pools, of which AKS takes the first rung that Azure
    has machines for."""
    device_plugin: DevicePlugin = DevicePlugin.model_validate({})
    """The NVIDIA device plugin."""
    gpu_operator: GpuOperator = GpuOperator.model_validate({})
    """NVIDIA's GPU Operator."""
    registry: Registry = Registry.model_validate({})
    """The Azure Container Registry from which the nodes may pull images. Whoever runs the stack
    needs the right to assign roles on it."""
    gpu_isolation: GpuIsolation = GpuIsolation.model_validate({})
    """GPUs that stay with the pods that asked for them."""
    sample_job: SampleJob = SampleJob.model_validate({})
    """The sample job of the AKS article, which shows that pods can use a GPU."""

    @field_validator("gpu_stack")
    @classmethod
    def _set_default_of_pools(cls, gpu_stack: str, info: ValidationInfo) -> str:
        if gpu_stack in DRIVERS:
            context_of(info).gpu_stack = gpu_stack
        return gpu_stack

    @field_validator("cluster")
    @classmethod
    def _set_version_of_pools(cls, cluster: Cluster, info: ValidationInfo) -> Cluster:
        if not cluster.existing:
            context = context_of(info)
            context.kubernetes_version = cluster.kubernetes_version
            context.upgrade_channel = cluster.upgrade_channel
            context.has_system_identity = not cluster.user_assigned_identity_id
        return cluster

    @field_validator("system_pools")
    @classmethod
    def _require_a_system_pool(
        cls, pools: list[SystemNodePool], info: ValidationInfo
    ) -> list[SystemNodePool]:
        first: SystemPool | None = info.data.get("system_pool")
        if first and first.removed and not pools:
            reason = "a cluster needs a system pool: add the one that replaces systemPool"
            raise RefusedError([Mistake("systemPools", reason)])
        return pools

    @field_validator("system_pool")
    @classmethod
    def _refuse_settings_of_an_existing_cluster(
        cls, system_pool: SystemPool, info: ValidationInfo
    ) -> SystemPool:
        """Refuses settings of a cluster that the stack does not create: it would ignore them."""
        sections = {**info.data, "system_pool": system_pool}
        if "cluster" not in sections or not sections["cluster"].existing:
            return system_pool
        ignored = [
            property_path("", to_camel(key), to_camel(name))
            for key, allowed in _KEYS_OF_EXISTING_CLUSTERS.items()
            if key in sections
            for name in type(sections[key]).model_fields
            if name in sections[key].model_fields_set and name not in allowed
        ]
        if ignored:
            raise RefusedError([Mistake(path, _IS_IGNORED) for path in ignored])
        return system_pool

    @field_validator("device_plugin")
    @classmethod
    def _require_support_of_pools(cls, plugin: DevicePlugin, info: ValidationInfo) -> DevicePlugin:
        pools = _all_gpu_pools(info.data)
        served = [pool for pool in pools if pool.gpu_stack == "device-plugin"]
        reason = valid.old_plugin_mistake(
            plugin.edition,
            plugin.image,
            [pool.name for pool in served if pool.mig_profile],
            [pool.name for pool in served if pool.sharing],
        )
        if reason:
            raise RefusedError([Mistake("devicePlugin", reason)])
        return plugin

    @field_validator("gpu_operator")
    @classmethod
    def _fit_the_operators_pools(cls, operator: GpuOperator, info: ValidationInfo) -> GpuOperator:
        pools = [pool for pool in _all_gpu_pools(info.data) if pool.gpu_stack == rules.OPERATOR]
        has_mig = any(pool.mig_profile for pool in pools)
        found = [
            *gpu_operator.contradictions(
                operator.driver, operator.values, "gpuOperator.values", has_mig=has_mig
            )
        ]
        for pool in pools:
            values = {
                "gpuStack": rules.OPERATOR,
                "vmSize": pool.vm_size,
                "migProfile": pool.mig_profile,
            }
            if reason := rules.operator_conflict(operator.driver, values):
                found.append(Mistake("gpuOperator.driver", f"pool {pool.name}: {reason}"))
        first: SystemPool | None = info.data.get("system_pool")
        if pools and first and first.has_gpus and not first.removed:
            reason = (
                f"{first.vm_size} has GPUs, and the GPU Operator of this stack serves only "
                "gpuPools: use a size without GPUs"
            )
            found.append(Mistake("systemPool.vmSize", reason))
        if found:
            raise RefusedError(found)
        return operator

    @field_validator("gpu_capacity")
    @classmethod
    def _fit_the_autoscaler(cls, ladders: list[Capacity], info: ValidationInfo) -> list[Capacity]:
        cluster: Cluster | None = info.data.get("cluster")
        own = cluster.autoscaler if cluster and ladders else None
        found = []
        if own and own.model_fields_set >= {"expander"} and own.expander != capacity.EXPANDER:
            reason = f"gpuCapacity needs {capacity.EXPANDER}, not {own.expander!r}: remove this key"
            found.append(Mistake("cluster.autoscaler.expander", reason))
        if own and own.balance_similar_pools:
            reason = "would add nodes to all rungs of one size at once: remove it with gpuCapacity"
            found.append(Mistake("cluster.autoscaler.balanceSimilarPools", reason))
        if found:
            raise RefusedError(found)
        return ladders

    @field_validator("gpu_isolation")
    @classmethod
    def _require_mutating_policies(
        cls, isolation: GpuIsolation, info: ValidationInfo
    ) -> GpuIsolation:
        version = kubernetes.minor_version(context_of(info).kubernetes_version or "")
        if isolation.enabled and version and version < gpu_isolation.SINCE:
            since = kubernetes.written(gpu_isolation.SINCE)
            reason = (
                f"needs Kubernetes {since}, the first version whose API server changes pods by a "
                f"policy of its own: set cluster.kubernetesVersion to {since} or newer"
            )
            raise RefusedError([Mistake("gpuIsolation.enabled", reason)])
        return isolation

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
            return own.as_args(AutoscalerArgs) if own else None
        given = own.as_args(AutoscalerArgs) if own else AutoscalerArgs()
        return replace(given, expander=capacity.EXPANDER)

    @property
    def pools_with_gpus(self) -> list[Pool]:
        """All pools of the stack that have GPUs, including the first system pool if it has some."""
        system: list[Pool] = [pool for pool in self.first_pool if pool.has_gpus]
        return [*system, *self.all_gpu_pools]

    @property
    def all_gpu_pools(self) -> list[GpuPool]:
        """The GPU pools, with the rungs of each capacity."""
        return _all_gpu_pools(dict(self))

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
        return {**dict([gpu_operator.WITHOUT_OPERANDS] * is_anothers), **pool.labels}
