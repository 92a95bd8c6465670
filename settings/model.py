"""What a stack file can say, key by key."""

import ipaddress
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from catalogue import images, kubernetes
from settings.pools import GpuPool, Pool, SystemPool
from settings.section import GpuStack, Section, context_of


def _address_range(text: str) -> str:
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        raise ValueError(f"{error}: write a range as 10.0.0.0/16") from None
    return text


def _name(name: str, default: str, info: ValidationInfo, kind: str) -> str:
    if name or not info.data.get("existing"):
        return name or default
    raise ValueError(f"is required: which existing {kind} is meant?")


AddressRange = Annotated[str, AfterValidator(_address_range)]


class ResourceGroup(Section):
    """The resource group: made, or there already."""

    existing: bool = False
    name: str = Field(default="", max_length=90, validate_default=True)

    @field_validator("name")
    @classmethod
    def _names_what_exists(cls, name: str, info: ValidationInfo) -> str:
        return _name(name, "myResourceGroup", info, "resource group")


class Cluster(Section):
    """The cluster: made, or there already, and then pools are added and it is left as it is."""

    existing: bool = False
    name: str = Field(default="", max_length=63, validate_default=True)
    # Empty: whatever AKS takes by itself for a new cluster.
    kubernetes_version: str = ""
    sku_tier: Literal["Free", "Standard", "Premium"] = "Free"
    private: bool = False
    authorized_ip_ranges: list[AddressRange] = []
    oidc_issuer: bool = True
    workload_identity: bool = Field(default=False, validate_default=True)
    upgrade_channel: Literal["none", "patch", "stable", "rapid", "node-image"] = "none"
    node_os_upgrade_channel: Literal["None", "Unmanaged", "SecurityPatch", "NodeImage"] = (
        "NodeImage"
    )

    def arguments(self) -> dict[str, Any]:
        """What a component takes for this cluster."""
        return self.model_dump(exclude={"existing", "name"})

    @field_validator("name")
    @classmethod
    def _names_what_exists(cls, name: str, info: ValidationInfo) -> str:
        return _name(name, "myAKSCluster", info, "cluster")

    @field_validator("kubernetes_version")
    @classmethod
    def _can_schedule_gpus(cls, version: str, info: ValidationInfo) -> str:
        if not version:
            return version
        minor = kubernetes.minor_version(version)
        if minor is None:
            raise ValueError(f"{version!r} is no version: write one as 1.35 or 1.35.2")
        if minor < kubernetes.LOWEST:
            lowest = kubernetes.written(kubernetes.LOWEST)
            raise ValueError(f"{version} is too old for GPUs: take {lowest} or newer")
        if kubernetes.written(minor) not in kubernetes.ON_AKS:
            known = ", ".join(kubernetes.ON_AKS)
            context_of(info).warnings.append(
                f"Kubernetes {version} is not known to be on AKS today; {known} are."
            )
        return version

    @field_validator("authorized_ip_ranges")
    @classmethod
    def _is_reached_one_way(cls, ranges: list[str], info: ValidationInfo) -> list[str]:
        if ranges and info.data.get("private"):
            raise ValueError("a private cluster has no public address: leave one of both out")
        return ranges

    @field_validator("workload_identity")
    @classmethod
    def _has_an_issuer(cls, wanted: bool, info: ValidationInfo) -> bool:
        if wanted and not info.data.get("oidc_issuer", True):
            raise ValueError("needs the cluster's OIDC issuer: say oidcIssuer: true as well")
        return wanted


class Network(Section):
    """The cluster's network: Azure's CNI, with pods on an overlay by default."""

    mode: Literal["overlay", "subnet"] = "overlay"
    # The id of a subnet of your own; empty: AKS makes a network.
    subnet_id: str = Field(default="", validate_default=True)
    pod_cidr: AddressRange | None = None
    service_cidr: AddressRange | None = None
    dns_service_ip: str | None = Field(default=None, validate_default=True)

    @field_validator("subnet_id")
    @classmethod
    def _is_a_subnet(cls, subnet: str, info: ValidationInfo) -> str:
        if not subnet and info.data.get("mode") == "subnet":
            raise ValueError("mode: subnet puts pods into a subnet of yours: say its id")
        if subnet and "/subnets/" not in subnet:
            raise ValueError(f"{subnet!r} is no subnet's id: /subscriptions/.../subnets/NAME")
        return subnet

    @field_validator("pod_cidr")
    @classmethod
    def _has_pods_of_its_own(cls, cidr: str | None, info: ValidationInfo) -> str | None:
        if cidr and info.data.get("mode") == "subnet":
            raise ValueError("is for mode: overlay; pods in a subnet have the subnet's addresses")
        return cidr

    @field_validator("dns_service_ip")
    @classmethod
    def _lies_among_the_services(cls, address: str | None, info: ValidationInfo) -> str | None:
        services = info.data.get("service_cidr")
        if address is None:
            if services:
                raise ValueError("goes with serviceCidr: say an address out of that range")
            return None
        if not services:
            raise ValueError("goes with serviceCidr: say both, or neither")
        if ipaddress.ip_address(address) not in ipaddress.ip_network(services):
            raise ValueError(f"{address} is not in serviceCidr, {services}")
        return address


class DevicePlugin(Section):
    """NVIDIA's device plugin, where the stack brings it."""

    # The DaemonSet of today, or that of the article to the letter.
    edition: Literal["today", "article"] = "today"
    # Empty: the image of the edition.
    image: str = ""
    namespace: str = Field(default="gpu-resources", pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
    # False: the namespace exists, and outlives the stack.
    create_namespace: bool = Field(default=True, validate_default=True)

    @field_validator("create_namespace")
    @classmethod
    def _leaves_namespaces_of_kubernetes_alone(cls, creates: bool, info: ValidationInfo) -> bool:
        namespace = info.data.get("namespace", "")
        if creates and namespace in kubernetes.OWN_NAMESPACES:
            raise ValueError(
                f"the namespace {namespace} exists in every cluster: set createNamespace to false"
            )
        return creates


class SampleJob(Section):
    """The job that shows that a GPU can be used."""

    enabled: bool = False
    image: str = Field(default=images.SAMPLE_JOB, min_length=1)


class Settings(Section):
    """A stack's configuration."""

    location: str = Field(default="eastus", pattern=r"^[a-z0-9]+$")
    allow_retired: bool = False
    # Who brings driver and device plugin to the nodes: one choice for the whole stack.
    gpu_stack: GpuStack = "device-plugin"
    tags: dict[str, str] = {}
    resource_group: ResourceGroup = ResourceGroup()
    cluster: Cluster = Cluster()
    network: Network = Network()
    system_pool: SystemPool = SystemPool()
    gpu_pools: list[GpuPool] = []
    device_plugin: DevicePlugin = DevicePlugin()
    sample_job: SampleJob = SampleJob()

    @field_validator("device_plugin")
    @classmethod
    def _has_a_plugin_that_knows_mig(
        cls, plugin: DevicePlugin, info: ValidationInfo
    ) -> DevicePlugin:
        pools: list[GpuPool] = info.data.get("gpu_pools", [])
        partitioned = [
            pool.name for pool in pools if pool.mig_profile and pool.gpu_stack == "device-plugin"
        ]
        if partitioned and plugin.edition == "article" and not plugin.image:
            raise ValueError(
                "the plugin of edition: article does not know MIG, which these pools use: "
                f"{', '.join(partitioned)}; use edition: today"
            )
        return plugin

    @property
    def pools_with_gpus(self) -> list[Pool]:
        """All of them, the system pool too where it has GPUs and is this stack's."""
        own = self.system_pool.has_gpus and not self.cluster.existing
        system: list[Pool] = [self.system_pool] if own else []
        return [*system, *self.gpu_pools]

    def pools_of(self, gpu_stack: GpuStack) -> list[Pool]:
        """The pools with GPUs whose driver and device plugin come from there."""
        return [pool for pool in self.pools_with_gpus if pool.gpu_stack == gpu_stack]
