"""The fields AKS knows, at the newest stable API version this server has heard of: 2026-08-01."""

from catalogue import mig

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
CLUSTER_PROPERTIES = frozenset(
    [
        "aadProfile",
        "addonProfiles",
        "agentPoolProfiles",
        "aiToolchainOperatorProfile",
        "apiServerAccessProfile",
        "autoScalerProfile",
        "autoUpgradeProfile",
        "azureMonitorProfile",
        "azurePortalFQDN",
        "bootstrapProfile",
        "currentKubernetesVersion",
        "disableLocalAccounts",
        "diskEncryptionSetID",
        "dnsPrefix",
        "enableFIPS",
        "enableRBAC",
        "fqdn",
        "fqdnSubdomain",
        "hostedSystemProfile",
        "httpProxyConfig",
        "identityProfile",
        "ingressProfile",
        "kubernetesVersion",
        "linuxProfile",
        "maxAgentPools",
        "metricsProfile",
        "networkProfile",
        "nodeProvisioningProfile",
        "nodeResourceGroup",
        "nodeResourceGroupProfile",
        "oidcIssuerProfile",
        "podIdentityProfile",
        "powerState",
        "privateFQDN",
        "privateLinkResources",
        "provisioningState",
        "publicNetworkAccess",
        "resourceUID",
        "schedulerProfile",
        "securityProfile",
        "serviceMeshProfile",
        "servicePrincipalProfile",
        "status",
        "storageProfile",
        "supportPlan",
        "upgradeSettings",
        "windowsProfile",
        "workloadAutoScalerProfile",
    ]
)
POOL_FIELDS = frozenset(["id", "name", "properties", "systemData", "type"])
POOL_PROPERTIES = frozenset(
    [
        "artifactStreamingProfile",
        "availabilityZones",
        "capacityReservationGroupID",
        "count",
        "creationData",
        "currentOrchestratorVersion",
        "eTag",
        "enableAutoScaling",
        "enableEncryptionAtHost",
        "enableFIPS",
        "enableNodePublicIP",
        "enableUltraSSD",
        "gatewayProfile",
        "gpuInstanceProfile",
        "gpuProfile",
        "hostGroupID",
        "kubeletConfig",
        "kubeletDiskType",
        "linuxOSConfig",
        "localDNSProfile",
        "maxCount",
        "maxPods",
        "messageOfTheDay",
        "minCount",
        "mode",
        "networkProfile",
        "nodeImageVersion",
        "nodeLabels",
        "nodePublicIPPrefixID",
        "nodeTaints",
        "orchestratorVersion",
        "osDiskSizeGB",
        "osDiskType",
        "osSKU",
        "osType",
        "podIPAllocationMode",
        "podSubnetID",
        "powerState",
        "provisioningState",
        "proximityPlacementGroupID",
        "scaleDownMode",
        "scaleSetEvictionPolicy",
        "scaleSetPriority",
        "securityProfile",
        "spotMaxPrice",
        "status",
        "tags",
        "type",
        "upgradeSettings",
        "virtualMachineNodesStatus",
        "virtualMachinesProfile",
        "vmSize",
        "vnetSubnetID",
        "windowsProfile",
        "workloadRuntime",
    ]
)
INLINE_POOL_FIELDS = POOL_PROPERTIES | {"name"}

# What kind of value a field holds, wherever it stands.
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

# What a pool's property may be, if it is set.
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

# A client may send back what it was given; what is the server's to say is then left aside.
READ_ONLY_CLUSTER = frozenset(
    [
        "agentPoolProfiles",
        "azurePortalFQDN",
        "currentKubernetesVersion",
        "fqdn",
        "maxAgentPools",
        "powerState",
        "privateFQDN",
        "provisioningState",
        "resourceUID",
        "status",
    ]
)
READ_ONLY_POOL = frozenset(
    [
        "currentOrchestratorVersion",
        "eTag",
        "name",
        "nodeImageVersion",
        "provisioningState",
        "status",
    ]
)

# A PUT replaces: what it leaves out falls back to the default. These stay as they were instead,
# because they cannot change, or because a silent change of them would move running nodes.
KEPT_POOL = [
    "availabilityZones",
    "capacityReservationGroupID",
    "count",
    "creationData",
    "enableEncryptionAtHost",
    "enableFIPS",
    "enableNodePublicIP",
    "enableUltraSSD",
    "gpuInstanceProfile",
    "gpuProfile",
    "hostGroupID",
    "kubeletConfig",
    "kubeletDiskType",
    "linuxOSConfig",
    "maxPods",
    "mode",
    "nodePublicIPPrefixID",
    "orchestratorVersion",
    "osDiskSizeGB",
    "osDiskType",
    "osSKU",
    "osType",
    "podSubnetID",
    "powerState",
    "proximityPlacementGroupID",
    "scaleSetEvictionPolicy",
    "scaleSetPriority",
    "spotMaxPrice",
    "type",
    "vmSize",
    "vnetSubnetID",
    "workloadRuntime",
]
KEPT_CLUSTER = [
    "dnsPrefix",
    "enableRBAC",
    "fqdnSubdomain",
    "identityProfile",
    "kubernetesVersion",
    "linuxProfile",
    "networkProfile",
    "nodeResourceGroup",
    "servicePrincipalProfile",
]
# Fixed at creation.
IMMUTABLE_POOL = [
    "availabilityZones",
    "creationData",
    "enableEncryptionAtHost",
    "enableNodePublicIP",
    "enableUltraSSD",
    "gpuInstanceProfile",
    "gpuProfile.driver",
    "gpuProfile.nvidia",
    "hostGroupID",
    "kubeletConfig",
    "kubeletDiskType",
    "linuxOSConfig",
    "maxPods",
    "nodePublicIPPrefixID",
    "osDiskSizeGB",
    "osDiskType",
    "osType",
    "podSubnetID",
    "proximityPlacementGroupID",
    "scaleSetEvictionPolicy",
    "scaleSetPriority",
    "spotMaxPrice",
    "type",
    "vmSize",
    "vnetSubnetID",
]
IMMUTABLE_CLUSTER = [
    "dnsPrefix",
    "enableRBAC",
    "fqdnSubdomain",
    "networkProfile.dnsServiceIP",
    "networkProfile.serviceCidr",
    "nodeResourceGroup",
    "servicePrincipalProfile.clientId",
]

# What an absent property means, where no default is filled in for it: to say so is no change.
IMPLIED = {"scaleSetPriority": "Regular"}

# Older stable versions let an unknown field pass in silence; a preview version may know fields
# that the list above, of a stable one, does not have.
STRICT_SINCE = "2024-01-01"


def is_strict(api_version: str) -> bool:
    return api_version >= STRICT_SINCE and not api_version.endswith("-preview")
