"""The fields that AKS knows, as of API version 2026-08-01."""

from collections.abc import Mapping
from enum import Enum, auto
from typing import TypeVar

from catalogue import fixed, mig


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
Value = TypeVar("Value")


def _by_name(table: Mapping[Value, str]) -> dict[str, Value]:
    """Returns the values by the names that stand beside them in a table, in alphabetical order."""
    values = {name: value for value, text in table.items() for name in text.split()}
    return dict(sorted(values.items()))


def _beside_location(table: Mapping[str, str]) -> list[str]:
    """Returns what stands in `properties`; the location is judged with the resource's address."""
    return [path for path in table if path not in ("location", "extendedLocation")]


CLUSTER = _by_name(
    {
        FREE: """
            addonProfiles aiToolchainOperatorProfile apiServerAccessProfile
            autoScalerProfile autoUpgradeProfile azureMonitorProfile bootstrapProfile
            enableFIPS hostedSystemProfile
            httpProxyConfig ingressProfile metricsProfile nodeProvisioningProfile
            nodeResourceGroupProfile podIdentityProfile privateLinkResources
            publicNetworkAccess schedulerProfile securityProfile serviceMeshProfile storageProfile
            supportPlan upgradeSettings workloadAutoScalerProfile
        """,
        KEPT: """
            aadProfile disableLocalAccounts identityProfile kubernetesVersion linuxProfile
            networkProfile oidcIssuerProfile servicePrincipalProfile windowsProfile
        """,
        # A service principal has an action of its own.
        FIXED: " ".join([*_beside_location(fixed.CLUSTER), "servicePrincipalProfile.clientId"]),
        SERVERS: """
            agentPoolProfiles azurePortalFQDN currentKubernetesVersion fqdn maxAgentPools
            powerState privateFQDN provisioningState resourceUID status
        """,
    }
)
POOL = _by_name(
    {
        FREE: """
            artifactStreamingProfile creationData enableAutoScaling gatewayProfile
            localDNSProfile maxCount messageOfTheDay minCount networkProfile nodeLabels nodeTaints
            scaleDownMode securityProfile tags upgradeSettings virtualMachineNodesStatus
            virtualMachinesProfile
        """,
        KEPT: """
            capacityReservationGroupID count enableFIPS gpuProfile mode orchestratorVersion osSKU
            powerState windowsProfile
        """,
        FIXED: " ".join(fixed.POOL),
        SERVERS: """
            currentOrchestratorVersion eTag nodeImageVersion provisioningState status
        """,
    }
)
INLINE_POOL = POOL | {"name": SERVERS}

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

# Changes of what is fixed that AKS makes: by path, from and to what (recorded: 1, preview).
# No set: values of properties may be lists and objects.
LET_CHANGE = [("type", "AvailabilitySet", "VirtualMachines")]

# What an absent property without a default means: setting it to this is no change.
IMPLIED: Mapping[str, object] = {
    "apiServerAccessProfile.enablePrivateCluster": False,
    "podIPAllocationMode": "DynamicIndividual",
    "scaleSetPriority": "Regular",
    "windowsProfile.disableOutboundNat": False,
    "workloadRuntime": "OCIContainer",
}

# Older stable versions ignore unknown fields; a preview version may know fields that are in no
# table here. A version that is strict is so at any depth, as Go's reader of JSON is.
STRICT_SINCE = "2024-01-01"


def is_strict(api_version: str) -> bool:
    return api_version >= STRICT_SINCE and not api_version.endswith("-preview")


def names(properties: Mapping[str, Change], *changes: Change) -> list[str]:
    """Returns the properties that change in one of these ways."""
    return [name for name, change in properties.items() if change in changes]
