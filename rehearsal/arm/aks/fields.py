"""The fields that AKS knows, as of API version 2026-08-01."""

from collections.abc import Mapping
from enum import Enum, auto

from catalogue import mig


class Change(Enum):
    """What a PUT of an existing resource does to a property."""

    # The property gets the value of the PUT, or the default.
    FREE = auto()
    # It stays as it was if the PUT leaves it out: a silent change would move running nodes.
    KEPT = auto()
    # It stays as well, and another value is refused: it is fixed at creation.
    FIXED = auto()
    # The server sets its value, and ignores what a client sends back.
    SERVERS = auto()


FREE, KEPT, FIXED, SERVERS = Change

CLUSTER_FIELDS = frozenset(
    [
        "eTag",
        "extendedLocation",
        "id",
        "identity",
        "kind",
        "location",
        "name",
        "properties",
        "sku",
        "systemData",
        "tags",
        "type",
    ]
)
CLUSTER = {
    "aadProfile": FREE,
    "addonProfiles": FREE,
    "agentPoolProfiles": SERVERS,
    "aiToolchainOperatorProfile": FREE,
    "apiServerAccessProfile": FREE,
    "autoScalerProfile": FREE,
    "autoUpgradeProfile": FREE,
    "azureMonitorProfile": FREE,
    "azurePortalFQDN": SERVERS,
    "bootstrapProfile": FREE,
    "currentKubernetesVersion": SERVERS,
    "disableLocalAccounts": FREE,
    "diskEncryptionSetID": FREE,
    "dnsPrefix": FIXED,
    "enableFIPS": FREE,
    "enableRBAC": FIXED,
    "fqdn": SERVERS,
    "fqdnSubdomain": FIXED,
    "hostedSystemProfile": FREE,
    "httpProxyConfig": FREE,
    "identityProfile": KEPT,
    "ingressProfile": FREE,
    "kubernetesVersion": KEPT,
    "linuxProfile": KEPT,
    "maxAgentPools": SERVERS,
    "metricsProfile": FREE,
    "networkProfile": KEPT,
    "networkProfile.dnsServiceIP": FIXED,
    "networkProfile.serviceCidr": FIXED,
    "nodeProvisioningProfile": FREE,
    "nodeResourceGroup": FIXED,
    "nodeResourceGroupProfile": FREE,
    "oidcIssuerProfile": FREE,
    "podIdentityProfile": FREE,
    "powerState": SERVERS,
    "privateFQDN": SERVERS,
    "privateLinkResources": FREE,
    "provisioningState": SERVERS,
    "publicNetworkAccess": FREE,
    "resourceUID": SERVERS,
    "schedulerProfile": FREE,
    "securityProfile": FREE,
    "serviceMeshProfile": FREE,
    "servicePrincipalProfile": KEPT,
    "servicePrincipalProfile.clientId": FIXED,
    "status": SERVERS,
    "storageProfile": FREE,
    "supportPlan": FREE,
    "upgradeSettings": FREE,
    "windowsProfile": FREE,
    "workloadAutoScalerProfile": FREE,
}
POOL_FIELDS = frozenset(["id", "name", "properties", "systemData", "type"])
POOL = {
    "artifactStreamingProfile": FREE,
    "availabilityZones": FIXED,
    "capacityReservationGroupID": KEPT,
    "count": KEPT,
    "creationData": FIXED,
    "currentOrchestratorVersion": SERVERS,
    "eTag": SERVERS,
    "enableAutoScaling": FREE,
    "enableEncryptionAtHost": FIXED,
    "enableFIPS": KEPT,
    "enableNodePublicIP": FIXED,
    "enableUltraSSD": FIXED,
    "gatewayProfile": FREE,
    "gpuInstanceProfile": FIXED,
    "gpuProfile": KEPT,
    "gpuProfile.driver": FIXED,
    "gpuProfile.nvidia": FIXED,
    "hostGroupID": FIXED,
    "kubeletConfig": FIXED,
    "kubeletDiskType": FIXED,
    "linuxOSConfig": FIXED,
    "localDNSProfile": FREE,
    "maxCount": FREE,
    "maxPods": FIXED,
    "messageOfTheDay": FREE,
    "minCount": FREE,
    "mode": KEPT,
    "networkProfile": FREE,
    "nodeImageVersion": SERVERS,
    "nodeLabels": FREE,
    "nodePublicIPPrefixID": FIXED,
    "nodeTaints": FREE,
    "orchestratorVersion": KEPT,
    "osDiskSizeGB": FIXED,
    "osDiskType": FIXED,
    "osSKU": KEPT,
    "osType": FIXED,
    "podIPAllocationMode": FREE,
    "podSubnetID": FIXED,
    "powerState": KEPT,
    "provisioningState": SERVERS,
    "proximityPlacementGroupID": FIXED,
    "scaleDownMode": FREE,
    "scaleSetEvictionPolicy": FIXED,
    "scaleSetPriority": FIXED,
    "securityProfile": FREE,
    "spotMaxPrice": FIXED,
    "status": SERVERS,
    "tags": FREE,
    "type": FIXED,
    "upgradeSettings": FREE,
    "virtualMachineNodesStatus": FREE,
    "virtualMachinesProfile": FREE,
    "vmSize": FIXED,
    "vnetSubnetID": FIXED,
    "windowsProfile": FREE,
    "workloadRuntime": KEPT,
}
INLINE_POOL = POOL | {"name": SERVERS}

# What kind of value a field holds, at any level.
KINDS = {
    "agentPoolProfiles": list,
    "availabilityZones": list,
    "dnsPrefix": str,
    "enableAutoScaling": bool,
    "gpuProfile": dict,
    "identity": dict,
    "kubernetesVersion": str,
    "networkProfile": dict,
    "nodeLabels": dict,
    "nodeTaints": list,
    "orchestratorVersion": str,
    "osSKU": str,
    "properties": dict,
    "servicePrincipalProfile": dict,
    "sku": dict,
    "tags": dict,
    "upgradeSettings": dict,
    "vmSize": str,
    "windowsProfile": dict,
}

# The values that a pool's property may have.
POOL_CHOICES = {
    "gpuInstanceProfile": mig.PROFILES,
    "kubeletDiskType": ("OS", "Temporary"),
    "mode": ("System", "User", "Gateway"),
    "osDiskType": ("Managed", "Ephemeral"),
    "osType": ("Linux", "Windows"),
    "scaleDownMode": ("Delete", "Deallocate"),
    "scaleSetEvictionPolicy": ("Delete", "Deallocate"),
    "scaleSetPriority": ("Regular", "Spot"),
    "type": ("VirtualMachineScaleSets", "VirtualMachines", "AvailabilitySet"),
    "gpuProfile.driver": ("Install", "None"),
}

# What an absent property without a default means: setting it to this is no change.
IMPLIED = {"scaleSetPriority": "Regular"}

# Older stable versions ignore unknown fields; a preview version may know fields that are not in
# the tables above.
STRICT_SINCE = "2024-01-01"


def is_strict(api_version: str) -> bool:
    return api_version >= STRICT_SINCE and not api_version.endswith("-preview")


def names(properties: Mapping[str, Change], *changes: Change) -> list[str]:
    """Returns the properties that change in one of these ways."""
    return [name for name, change in properties.items() if change in changes]
