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
    """Whether the group already exists. The stack then uses it and never deletes it."""
    name: str = ""
    """The group's name. Required with `existing`. Default: `myResourceGroup`."""

    @field_validator("name")
    @classmethod
    def _or_the_articles(cls, name: str) -> str:
        return name or "myResourceGroup"


class Entra(Section):
    """Sign-in with Microsoft Entra."""

    _rules = valid_clusters.ENTRA

    azure_rbac: bool = False
    """Whether Azure role assignments decide what users may do in the cluster."""
    admin_group_object_ids: list[str] = []
    """The object ids of the groups whose members administer the cluster."""


class Cluster(Section):
    """The cluster: made, or there already, and then pools are added and it is left as it is."""

    _rules = valid_clusters.CLUSTER
    _doubts = valid_clusters.DOUBTS

    existing: bool = False
    """Whether the cluster already exists. The stack then only adds pools to it."""
    name: str = ""
    """The cluster's name. Required with `existing`. Default: `myAKSCluster`."""
    dns_prefix: str | None = None
    """The prefix of the API server's host name. It can never change. Default: the cluster's
    name."""
    kubernetes_version: str = ""
    """The Kubernetes version of the control plane, and of pools that name none. Default: AKS's
    own."""
    sku_tier: str = "Free"
    """The pricing tier of the control plane: `Free`, `Standard` or `Premium`."""
    private: bool = False
    """Whether the API server has only a private address."""
    authorized_ip_ranges: list[str] = []
    """The address ranges that can reach the API server. Default: all."""
    oidc_issuer: bool = True
    """Whether the cluster issues tokens that others can verify."""
    workload_identity: bool = False
    """Whether pods can use Azure identities. Needs `oidcIssuer`."""
    user_assigned_identity_id: str = ""
    """The id of the cluster's user-assigned identity. Default: AKS creates a system-assigned
    one."""
    entra: Entra | None = None
    """Sign-in with Microsoft Entra. Azure cannot turn it off again."""
    disable_local_accounts: bool = False
    """Whether users can only sign in with Entra. Needs `entra`. Certificates that were handed out
    before stay valid until `az aks rotate-certs`."""
    upgrade_channel: str = "none"
    """Which Kubernetes upgrades AKS does by itself: `none`, `patch`, `stable`, `rapid` or
    `node-image`."""
    node_os_upgrade_channel: str = "NodeImage"
    """Which upgrades of the nodes' operating system AKS does by itself: `None`, `Unmanaged`,
    `SecurityPatch` or `NodeImage`."""
    protect: bool = True
    """Whether Pulumi refuses to delete or replace the cluster, and to delete a resource group that
    the stack created."""

    @field_validator("name")
    @classmethod
    def _or_the_articles(cls, name: str) -> str:
        return name or "myAKSCluster"


class Network(Section):
    """The cluster's network: Azure's CNI, with pods on an overlay by default."""

    _rules = valid_clusters.NETWORK
    _doubts = valid_clusters.NETWORK_DOUBTS

    mode: str = "overlay"
    """`overlay`, or `subnet` for pods with addresses of your subnet."""
    subnet_id: str = ""
    """The id of the nodes' subnet. Required with `mode: subnet`. Default: AKS creates a network."""
    pod_cidr: str | None = None
    """The address range of pods, with `mode: overlay`. Default: AKS's own."""
    service_cidr: str | None = None
    """The address range of services. Default: AKS's own."""
    dns_service_ip: str | None = None
    """The address of the cluster's DNS service, in `serviceCidr`. Set both or neither. Default:
    AKS's own."""


class DevicePlugin(Section):
    """NVIDIA's device plugin, where the stack brings it."""

    _rules = valid_clusters.DEVICE_PLUGIN

    edition: str = "today"
    """`today`, or `article` for the DaemonSet of the article of 2020."""
    image: str = ""
    """The device plugin's image. Default: the edition's."""
    namespace: str = "gpu-resources"
    """The namespace of the DaemonSets."""
    create_namespace: bool = True
    """Whether the stack creates the namespace. To change it to false for a namespace that the stack
    created, first run `pulumi state delete` on the namespace: otherwise Pulumi deletes it."""


class SampleJob(Section):
    """The job that shows that a GPU can be used."""

    _rules = valid_clusters.SAMPLE_JOB

    enabled: bool = False
    """Whether the stack runs the sample job."""
    image: str = images.SAMPLE_JOB
    """The job's image."""


class Settings(Section):
    """A stack's configuration."""

    _rules = valid_clusters.STACK

    location: str = "eastus"
    """The Azure region of all resources of the stack."""
    allow_retired: bool = False
    """Whether `aksgpu review` accepts new pools with retired sizes or the retired image. The stack
    is then rehearsed in the era of the article."""
    gpu_stack: Annotated[str, BeforeValidator(as_azure_spells_it)] = "device-plugin"
    """Who installs driver and device plugin: `device-plugin` (AKS the driver, this stack the
    plugin), `specialized-image` (the retired image) or `none` (you, for example with NVIDIA's GPU
    Operator)."""
    tags: dict[str, str] = {}
    """The tags of all Azure resources of the stack."""
    resource_group: ResourceGroup = ResourceGroup()
    """The resource group."""
    cluster: Cluster = Cluster()
    """The cluster."""
    network: Network = Network()
    """The cluster's network."""
    system_pool: SystemPool = SystemPool()
    """The first system pool, which is created with the cluster."""
    system_pools: list[SystemNodePool] = []
    """More system pools, each a resource of its own ([how to replace the first
    one](../system-pools.md))."""
    gpu_pools: list[GpuPool] = []
    """The GPU pools."""
    device_plugin: DevicePlugin = DevicePlugin()
    """NVIDIA's device plugin. It runs on the pools with `gpuStack: device-plugin`."""
    sample_job: SampleJob = SampleJob()
    """A job that trains a small model on one GPU."""

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
