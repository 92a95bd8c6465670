"""What a stack file can say, key by key; the README says what it means."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import BeforeValidator, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel

from catalogue import images, valid_clusters
from catalogue.mistakes import Mistake, property_path
from settings.pools import GpuPool, Pool, SystemNodePool, SystemPool
from settings.section import RefusedError, Section, as_azure_spells_it, context_of

# What can be said of a cluster that exists, by the part of a stack file.
_OF_EXISTING_CLUSTERS: Mapping[str, Collection[str]] = MappingProxyType(
    {"cluster": ("existing", "name"), "network": ("subnet_id",), "system_pool": ()}
)
_IS_IGNORED = "would be ignored: cluster.existing leaves the cluster as it is; remove this key"


class ResourceGroup(Section):
    """The resource group: made, or there already."""

    _rules = valid_clusters.RESOURCE_GROUP

    existing: bool = False
    name: str = ""

    @field_validator("name")
    @classmethod
    def _or_the_articles(cls, name: str) -> str:
        return name or "myResourceGroup"


class Entra(Section):
    """Sign-in with Microsoft Entra."""

    _rules = valid_clusters.ENTRA

    azure_rbac: bool = False
    admin_group_object_ids: list[str] = []


class Cluster(Section):
    """The cluster: made, or there already, and then pools are added and it is left as it is."""

    _rules = valid_clusters.CLUSTER
    _doubts = valid_clusters.DOUBTS

    existing: bool = False
    name: str = ""
    dns_prefix: str | None = None
    kubernetes_version: str = ""
    sku_tier: str = "Free"
    private: bool = False
    authorized_ip_ranges: list[str] = []
    oidc_issuer: bool = True
    workload_identity: bool = False
    user_assigned_identity_id: str = ""
    entra: Entra | None = None
    disable_local_accounts: bool = False
    upgrade_channel: str = "none"
    node_os_upgrade_channel: str = "NodeImage"
    protect: bool = True

    @field_validator("name")
    @classmethod
    def _or_the_articles(cls, name: str) -> str:
        return name or "myAKSCluster"


class Network(Section):
    """The cluster's network: Azure's CNI, with pods on an overlay by default."""

    _rules = valid_clusters.NETWORK
    _doubts = valid_clusters.NETWORK_DOUBTS

    mode: str = "overlay"
    subnet_id: str = ""
    pod_cidr: str | None = None
    service_cidr: str | None = None
    dns_service_ip: str | None = None


class DevicePlugin(Section):
    """NVIDIA's device plugin, where the stack brings it."""

    _rules = valid_clusters.DEVICE_PLUGIN

    edition: str = "today"
    image: str = ""
    namespace: str = "gpu-resources"
    create_namespace: bool = True


class SampleJob(Section):
    """The job that shows that a GPU can be used."""

    _rules = valid_clusters.SAMPLE_JOB

    enabled: bool = False
    image: str = images.SAMPLE_JOB


class Settings(Section):
    """A stack's configuration."""

    _rules = valid_clusters.STACK

    location: str = "eastus"
    allow_retired: bool = False
    gpu_stack: Annotated[str, BeforeValidator(as_azure_spells_it)] = "device-plugin"
    tags: dict[str, str] = {}
    resource_group: ResourceGroup = ResourceGroup()
    cluster: Cluster = Cluster()
    network: Network = Network()
    system_pool: SystemPool = SystemPool()
    system_pools: list[SystemNodePool] = []
    gpu_pools: list[GpuPool] = []
    device_plugin: DevicePlugin = DevicePlugin()
    sample_job: SampleJob = SampleJob()

    @field_validator("gpu_stack")
    @classmethod
    def _is_known_to_the_pools(cls, gpu_stack: str, info: ValidationInfo) -> str:
        context_of(info).gpu_stack = gpu_stack
        return gpu_stack

    @field_validator("cluster")
    @classmethod
    def _decides_the_version(cls, cluster: Cluster, info: ValidationInfo) -> Cluster:
        if not cluster.existing:
            context = context_of(info)
            context.kubernetes_version = cluster.kubernetes_version
            context.upgrade_channel = cluster.upgrade_channel
        return cluster

    @field_validator("system_pools")
    @classmethod
    def _take_the_first_ones_place(
        cls, pools: list[SystemNodePool], info: ValidationInfo
    ) -> list[SystemNodePool]:
        first: SystemPool | None = info.data.get("system_pool")
        if first and first.removed and not pools:
            reason = "a cluster has at least one: add the pool that takes the place of systemPool"
            raise RefusedError([Mistake("systemPools", reason)])
        return pools

    @field_validator("system_pool")
    @classmethod
    def _leaves_an_existing_cluster_as_it_is(
        cls, system_pool: SystemPool, info: ValidationInfo
    ) -> SystemPool:
        """Refuses what is said of a cluster that is not made here: it would be ignored."""
        sections = {**info.data, "system_pool": system_pool}
        if "cluster" not in sections or not sections["cluster"].existing:
            return system_pool
        ignored = [
            property_path("", to_camel(key), to_camel(name))
            for key, kept in _OF_EXISTING_CLUSTERS.items()
            if key in sections
            for name in type(sections[key]).model_fields
            if name in sections[key].model_fields_set and name not in kept
        ]
        if ignored:
            raise RefusedError([Mistake(path, _IS_IGNORED) for path in ignored])
        return system_pool

    @field_validator("device_plugin")
    @classmethod
    def _knows_mig(cls, plugin: DevicePlugin, info: ValidationInfo) -> DevicePlugin:
        pools: list[GpuPool] = info.data.get("gpu_pools", [])
        partitioned = [
            pool.name for pool in pools if pool.mig_profile and pool.gpu_stack == "device-plugin"
        ]
        reason = valid_clusters.edition_without_mig(plugin.edition, plugin.image, partitioned)
        if reason:
            raise RefusedError([Mistake("devicePlugin", reason)])
        return plugin

    @property
    def uses_kubernetes(self) -> bool:
        """Whether the stack has anything on the cluster."""
        return bool(self.pools_of("device-plugin")) or self.sample_job.enabled

    @property
    def pools_with_gpus(self) -> list[Pool]:
        """All of them, the system pool too where it has GPUs and is this stack's."""
        system: list[Pool] = [pool for pool in self.first_pool if pool.has_gpus]
        return [*system, *self.gpu_pools]

    @property
    def first_pool(self) -> list[SystemPool]:
        """The pool that is made with the cluster, while it is there and this stack's."""
        is_there = not self.cluster.existing and not self.system_pool.removed
        return [self.system_pool] if is_there else []

    def pools_of(self, gpu_stack: str) -> list[Pool]:
        """The pools with GPUs whose driver and device plugin come from there."""
        return [pool for pool in self.pools_with_gpus if pool.gpu_stack == gpu_stack]
