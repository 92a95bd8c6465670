"""What a stack file can say, key by key. The README's tables and Pulumi.yaml follow it."""

from pydantic import ValidationInfo, field_validator

from catalogue import images, kubernetes, valid_clusters
from catalogue.mistakes import Mistake
from settings.pools import GpuPool, Pool, SystemPool
from settings.section import RefusedError, Section, context_of


class ResourceGroup(Section):
    """The resource group: made, or there already."""

    _rules = valid_clusters.RESOURCE_GROUP

    existing: bool = False
    """Whether the group is there already."""
    name: str = ""
    """The group's name in Azure."""

    @field_validator("name")
    @classmethod
    def _or_the_articles(cls, name: str) -> str:
        return name or "myResourceGroup"


class Cluster(Section):
    """The cluster: made, or there already, and then pools are added and it is left as it is."""

    _rules = valid_clusters.CLUSTER

    existing: bool = False
    """Whether the cluster is there already."""
    name: str = ""
    """The cluster's name in Azure."""
    kubernetes_version: str = ""
    """The version of Kubernetes. Empty: whatever AKS takes by itself for a new cluster."""
    sku_tier: str = "Free"
    """What AKS guarantees, and costs."""
    private: bool = False
    """Whether the API server has a private address only."""
    authorized_ip_ranges: list[str] = []
    """From where the API server can be reached. Empty: from anywhere."""
    oidc_issuer: bool = True
    """Whether the cluster issues tokens that others can verify."""
    workload_identity: bool = False
    """Whether pods can have identities of Azure's."""
    upgrade_channel: str = "none"
    """Which upgrades of Kubernetes AKS does by itself."""
    node_os_upgrade_channel: str = "NodeImage"
    """Which upgrades of the nodes' Linux AKS does by itself."""

    @field_validator("name")
    @classmethod
    def _or_the_articles(cls, name: str) -> str:
        return name or "myAKSCluster"

    @field_validator("kubernetes_version")
    @classmethod
    def _is_on_aks(cls, version: str, info: ValidationInfo) -> str:
        minor = kubernetes.minor_version(version)
        if minor and kubernetes.written(minor) not in kubernetes.ON_AKS:
            known = ", ".join(kubernetes.ON_AKS)
            context_of(info).warnings.append(
                f"Kubernetes {version} is not known to be on AKS today; {known} are."
            )
        return version


class Network(Section):
    """The cluster's network: Azure's CNI, with pods on an overlay by default."""

    _rules = valid_clusters.NETWORK

    mode: str = "overlay"
    """`overlay`, or `subnet` for pods in a subnet of one's own."""
    subnet_id: str = ""
    """The id of a subnet of one's own. Empty: AKS makes a network."""
    pod_cidr: str | None = None
    """The range of the pods' addresses."""
    service_cidr: str | None = None
    """The range of the services' addresses."""
    dns_service_ip: str | None = None
    """The address of the cluster's DNS, in serviceCidr."""


class DevicePlugin(Section):
    """NVIDIA's device plugin, where the stack brings it."""

    _rules = valid_clusters.DEVICE_PLUGIN

    edition: str = "today"
    """The DaemonSet of `today`, or that of the `article` to the letter."""
    image: str = ""
    """The plugin's image. Empty: the image of the edition."""
    namespace: str = "gpu-resources"
    """The namespace of the plugin."""
    create_namespace: bool = True
    """False: the namespace exists, and outlives the stack."""


class SampleJob(Section):
    """The job that shows that a GPU can be used."""

    _rules = valid_clusters.SAMPLE_JOB

    enabled: bool = False
    """Whether the job runs."""
    image: str = images.SAMPLE_JOB
    """The job's image."""


class Settings(Section):
    """A stack's configuration."""

    _rules = valid_clusters.STACK

    location: str = "eastus"
    """The Azure region of everything in the stack."""
    allow_retired: bool = False
    """Whether retired sizes and the retired specialised image are warnings, not mistakes."""
    gpu_stack: str = "device-plugin"
    """Who brings driver and device plugin to the nodes: one choice for the whole stack."""
    tags: dict[str, str] = {}
    """The tags of everything that is created in Azure."""
    resource_group: ResourceGroup = ResourceGroup()
    """The resource group."""
    cluster: Cluster = Cluster()
    """The cluster."""
    network: Network = Network()
    """The cluster's network."""
    system_pool: SystemPool = SystemPool()
    """The pool of the cluster's own pods."""
    gpu_pools: list[GpuPool] = []
    """The GPU pools."""
    device_plugin: DevicePlugin = DevicePlugin()
    """NVIDIA's device plugin."""
    sample_job: SampleJob = SampleJob()
    """The article's sample job."""

    @field_validator("allow_retired", "gpu_stack")
    @classmethod
    def _is_known_to_the_pools(cls, value: bool | str, info: ValidationInfo) -> bool | str:
        setattr(context_of(info), str(info.field_name), value)
        return value

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
    def pools_with_gpus(self) -> list[Pool]:
        """All of them, the system pool too where it has GPUs and is this stack's."""
        own = self.system_pool.has_gpus and not self.cluster.existing
        system: list[Pool] = [self.system_pool] if own else []
        return [*system, *self.gpu_pools]

    def pools_of(self, gpu_stack: str) -> list[Pool]:
        """The pools with GPUs whose driver and device plugin come from there."""
        return [pool for pool in self.pools_with_gpus if pool.gpu_stack == gpu_stack]
