"""What AKS does not let change on a pool or a cluster that exists, as of November 2026.

By the path of the property, with the reason. A change of it takes a new resource. What AKS changes
in place is not here, even where it does so in one direction only (`networkPluginMode`, `podCidr`,
`networkPolicy`, `outboundType`, a service principal that gives way to an identity) or in a preview
(`capacityReservationGroupID`, since August 2026): an update is tried, and AKS says no where it
cannot.
"""

from collections.abc import Collection, Mapping
from datetime import date
from types import MappingProxyType

# When the facts here were true.
AS_OF = date(2026, 11, 21)

_NAME = "names the resource"
_AT_CREATION = "AKS sets it when it makes the nodes, and never again"
_OF_THE_NODES_NETWORK = "part of the network that the nodes are made in"
_OF_THE_MACHINE = "part of the virtual machine that a node is"
_OF_THE_ADDRESS = "part of the cluster's address"
_OF_THE_CLUSTERS_NETWORK = "part of the network that the cluster is made in"

# Names in the path of a resource; its own PUT cannot change them.
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
        "gpuInstanceProfile": "the GPUs are cut when the nodes are made",
        "gpuProfile.driver": "the driver is installed when the nodes are made",
        "gpuProfile.driverType": "the driver is installed when the nodes are made",
        "gpuProfile.nvidia": "the driver is installed when the nodes are made",
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
        "location": "a cluster does not move",
        "extendedLocation": "a cluster does not move",
        "dnsPrefix": _OF_THE_ADDRESS,
        "fqdnSubdomain": _OF_THE_ADDRESS,
        "nodeResourceGroup": "AKS makes this resource group with the cluster",
        "enableRBAC": _AT_CREATION,
        "diskEncryptionSetID": _AT_CREATION,
        "apiServerAccessProfile.enablePrivateCluster": _OF_THE_ADDRESS,
        "networkProfile.serviceCidr": _OF_THE_CLUSTERS_NETWORK,
        "networkProfile.dnsServiceIP": _OF_THE_CLUSTERS_NETWORK,
        "linuxProfile.adminUsername": _OF_THE_MACHINE,
        "windowsProfile.adminUsername": _OF_THE_MACHINE,
    }
)

# What AKS chooses or keeps where a program leaves it out: a refresh or an import may find it.
_LEFT_TO_AKS = frozenset(
    {
        "apiServerAccessProfile.enablePrivateCluster",
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

    Pulumi's own comparison takes a value that a refresh has found, and the program does not set,
    for one that was taken out. It is none: AKS keeps what a request leaves out.
    """
    return [path for path in table if path not in _LEFT_TO_AKS or path in given]
