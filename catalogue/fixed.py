"""The properties that AKS cannot change on an existing node pool or cluster, as of November 2026.

Each table has the reason by property path. A change needs a new resource. Properties that AKS
updates in place are not listed, even if it does so in one direction only (`networkPluginMode`,
`podCidr`, `networkPolicy`, `outboundType`, a service principal that gives way to an identity) or in
a preview: aks-preview sends the update, and AKS refuses it where it must. azure-native replaces a
cluster for these four all the same, and no option of Pulumi prevents it.
"""

from collections.abc import Collection, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

from catalogue.shapes import at

# The date of these facts.
AS_OF = date(2026, 11, 21)

_NAME = "names the resource"
_AT_CREATION = "AKS sets it only when it creates the resource"
_OF_THE_NODES_NETWORK = "part of the nodes' network"
_OF_THE_MACHINE = "part of the node's virtual machine"
_OF_THE_DRIVER = "AKS installs the driver when it creates the nodes"
_OF_THE_REGION = "a cluster cannot move to another region"
_OF_THE_ADDRESS = "part of the cluster's address"
_OF_THE_CLUSTERS_NETWORK = "part of the cluster's network"

# Parts of the resource's URL.
POOL_NAMES: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("resourceGroupName", "resourceName", "agentPoolName"), _NAME)
)
CLUSTER_NAMES: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("resourceGroupName", "resourceName"), _NAME)
)

POOL: Mapping[str, str] = MappingProxyType(
    {
        "vmSize": _OF_THE_MACHINE,
        "osType": _OF_THE_MACHINE,
        "gpuInstanceProfile": "AKS partitions the GPUs when it creates the nodes",
        "gpuProfile.driver": _OF_THE_DRIVER,
        "gpuProfile.driverType": _OF_THE_DRIVER,
        "gpuProfile.nvidia": _OF_THE_DRIVER,
        "osDiskSizeGB": _OF_THE_MACHINE,
        "osDiskType": _OF_THE_MACHINE,
        "kubeletDiskType": _OF_THE_MACHINE,
        "enableEncryptionAtHost": _OF_THE_MACHINE,
        "enableUltraSSD": _OF_THE_MACHINE,
        "type": _OF_THE_MACHINE,
        "scaleSetPriority": _OF_THE_MACHINE,
        "scaleSetEvictionPolicy": _OF_THE_MACHINE,
        "spotMaxPrice": _OF_THE_MACHINE,
        "availabilityZones": _OF_THE_MACHINE,
        "proximityPlacementGroupID": _OF_THE_MACHINE,
        # Preview versions of the API change it, with a reimage of the nodes.
        "capacityReservationGroupID": _OF_THE_MACHINE,
        "hostGroupID": _OF_THE_MACHINE,
        "vnetSubnetID": _OF_THE_NODES_NETWORK,
        "podSubnetID": _OF_THE_NODES_NETWORK,
        "podIPAllocationMode": _OF_THE_NODES_NETWORK,
        "maxPods": _OF_THE_NODES_NETWORK,
        "enableNodePublicIP": _OF_THE_NODES_NETWORK,
        "nodePublicIPPrefixID": _OF_THE_NODES_NETWORK,
        "networkProfile.nodePublicIPTags": _OF_THE_NODES_NETWORK,
        "kubeletConfig": _AT_CREATION,
        "linuxOSConfig": _AT_CREATION,
        "workloadRuntime": _AT_CREATION,
        "windowsProfile.disableOutboundNat": _AT_CREATION,
    }
)

CLUSTER: Mapping[str, str] = MappingProxyType(
    {
        "location": _OF_THE_REGION,
        "extendedLocation": _OF_THE_REGION,
        "dnsPrefix": _OF_THE_ADDRESS,
        "fqdnSubdomain": _OF_THE_ADDRESS,
        "nodeResourceGroup": "AKS creates this resource group with the cluster",
        "enableRBAC": _AT_CREATION,
        "diskEncryptionSetID": _AT_CREATION,
        "apiServerAccessProfile.enablePrivateCluster": _OF_THE_ADDRESS,
        "networkProfile.serviceCidr": _OF_THE_CLUSTERS_NETWORK,
        "networkProfile.dnsServiceIP": _OF_THE_CLUSTERS_NETWORK,
        "linuxProfile.adminUsername": _OF_THE_MACHINE,
        "windowsProfile.adminUsername": _OF_THE_MACHINE,
    }
)

# What removing a property means: the default of new pools, although AKS keeps the value.
DEFAULTS: Mapping[str, str] = MappingProxyType({"gpuProfile.nvidia.managementMode": "Unmanaged"})

# Properties that AKS chooses or keeps if a program does not set them. After a refresh or an import
# they can be in the state.
_LEFT_TO_AKS = frozenset(
    {
        "apiServerAccessProfile.enablePrivateCluster",
        "capacityReservationGroupID",
        "diskEncryptionSetID",
        "enableEncryptionAtHost",
        "enableNodePublicIP",
        "enableRBAC",
        "enableUltraSSD",
        "gpuProfile.driver",
        "gpuProfile.driverType",
        "gpuProfile.nvidia",
        "hostGroupID",
        "kubeletConfig",
        "kubeletDiskType",
        "linuxOSConfig",
        "linuxProfile.adminUsername",
        "maxPods",
        "networkProfile.dnsServiceIP",
        "networkProfile.nodePublicIPTags",
        "networkProfile.serviceCidr",
        "nodePublicIPPrefixID",
        "nodeResourceGroup",
        "osDiskSizeGB",
        "osDiskType",
        "osType",
        "podIPAllocationMode",
        "podSubnetID",
        "proximityPlacementGroupID",
        "scaleSetPriority",
        "type",
        "windowsProfile.adminUsername",
        "windowsProfile.disableOutboundNat",
        "workloadRuntime",
    }
)


def replacing(table: Mapping[str, str], given: Collection[str]) -> list[str]:
    """Returns the paths that replace a resource whose program sets the properties `given`.

    Pulumi would report a value as removed if it is in the state after a refresh, and the program
    does not set it. AKS keeps such a value, so it must not replace the resource.
    """
    return [path for path in table if path not in _LEFT_TO_AKS or path in given]


def given_in(table: Mapping[str, str], properties: Mapping[str, Any]) -> list[str]:
    """Returns the paths of a table at which properties have a value, or an output."""
    return [path for path in table if at(properties, path) is not None]
