"""AKS's two resources as this provider has them: their properties, and what a change of each does.

The names are azure-native's: all on one level, where ARM has some beside `properties` and some in
it. What a property may look like comes from Azure's own SDK.
"""

from collections.abc import Mapping
from types import MappingProxyType

from aks_preview.aks_type import ANY_VALUE, HEADERS, AksType
from provider_kit.sdk_shapes import object_shape
from provider_kit.shapes import STRING, STRING_MAP, STRINGS, ObjectOf

_NAME = "names the resource"
_AT_CREATION = "AKS sets it when it makes the nodes, and never again"
_OF_THE_NETWORK = "part of the network that the nodes are made in"
_OF_THE_MACHINE = "part of the virtual machine that a node is"
_CLUSTER_PATH = (
    "/resourceGroups/{resourceGroupName}/providers/Microsoft.ContainerService"
    "/managedClusters/{resourceName}"
)

AGENT_POOL = AksType(
    name="AgentPool",
    description="A node pool of an AKS cluster, made with HTTP headers of one's choice.",
    path=f"{_CLUSTER_PATH}/agentPools/{{agentPoolName}}",
    operations="agent_pools",
    properties="ManagedClusterAgentPoolProfileProperties",
    envelope=MappingProxyType({}),
    required=frozenset(),
    read_only=frozenset(
        {
            "currentOrchestratorVersion",
            "eTag",
            "nodeImageVersion",
            "provisioningState",
            "status",
        }
    ),
    replaces=MappingProxyType(
        {
            "resourceGroupName": _NAME,
            "resourceName": _NAME,
            "agentPoolName": _NAME,
            HEADERS: "Azure applies headers when it makes the nodes, and never tells them",
            "vmSize": _OF_THE_MACHINE,
            "osType": _OF_THE_MACHINE,
            "gpuInstanceProfile": "the GPUs are cut when the nodes are made",
            "gpuProfile": "the driver is installed when the nodes are made",
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
            "vnetSubnetID": _OF_THE_NETWORK,
            "podSubnetID": _OF_THE_NETWORK,
            "podIPAllocationMode": _OF_THE_NETWORK,
            "maxPods": _OF_THE_NETWORK,
            "enableNodePublicIP": _OF_THE_NETWORK,
            "nodePublicIPPrefixID": _OF_THE_NETWORK,
            "networkProfile.nodePublicIPTags": _OF_THE_NETWORK,
            "kubeletConfig": _AT_CREATION,
            "linuxOSConfig": _AT_CREATION,
            "workloadRuntime": _AT_CREATION,
            "windowsProfile": _AT_CREATION,
        }
    ),
    unordered=frozenset({"availabilityZones", "nodeTaints"}),
    filled_in=MappingProxyType(
        {
            "enableAutoScaling": False,
            "enableEncryptionAtHost": False,
            "enableFIPS": False,
            "enableNodePublicIP": False,
            "enableUltraSSD": False,
            "gpuProfile": {"driver": "Install"},
            "kubeletDiskType": ANY_VALUE,
            "maxPods": ANY_VALUE,
            "mode": "User",
            "networkProfile": {},
            "orchestratorVersion": ANY_VALUE,
            "osDiskSizeGB": ANY_VALUE,
            "osDiskType": ANY_VALUE,
            "osSKU": ANY_VALUE,
            "osType": "Linux",
            "powerState": ANY_VALUE,
            "scaleDownMode": "Delete",
            "scaleSetPriority": "Regular",
            "securityProfile": ANY_VALUE,
            "type": "VirtualMachineScaleSets",
            "upgradeSettings": ANY_VALUE,
            "virtualMachineNodesStatus": ANY_VALUE,
            "workloadRuntime": "OCIContainer",
        }
    ),
)

MANAGED_CLUSTER = AksType(
    name="ManagedCluster",
    description="An AKS cluster, made with HTTP headers of one's choice.",
    path=_CLUSTER_PATH,
    operations="managed_clusters",
    properties="ManagedClusterProperties",
    envelope=MappingProxyType(
        {
            "extendedLocation": object_shape("ExtendedLocation"),
            # As azure-native has it: the ids of the identities as a list, where ARM has a map.
            "identity": ObjectOf(
                "ManagedClusterIdentity",
                MappingProxyType(
                    dict(object_shape("ManagedClusterIdentity").fields)
                    | {"userAssignedIdentities": STRINGS}
                ),
            ),
            "kind": STRING,
            "location": STRING,
            "sku": object_shape("ManagedClusterSKU"),
            "tags": STRING_MAP,
        }
    ),
    required=frozenset({"location"}),
    read_only=frozenset(
        {
            "azurePortalFQDN",
            "currentKubernetesVersion",
            "fqdn",
            "maxAgentPools",
            "powerState",
            "privateFQDN",
            "provisioningState",
            "resourceUID",
            "status",
        }
    ),
    replaces=MappingProxyType(
        {
            "resourceGroupName": _NAME,
            "resourceName": _NAME,
            "location": "a cluster does not move",
            "extendedLocation": "a cluster does not move",
            HEADERS: "Azure applies headers when it makes the cluster, and never tells them",
            "dnsPrefix": "part of the cluster's address",
            "fqdnSubdomain": "part of the cluster's address",
            "nodeResourceGroup": "AKS makes this resource group with the cluster",
            "enableRBAC": _AT_CREATION,
            "diskEncryptionSetID": _AT_CREATION,
            "apiServerAccessProfile.enablePrivateCluster": "part of the cluster's address",
            "networkProfile.serviceCidr": "part of the network that the cluster is made in",
            "networkProfile.dnsServiceIP": "part of the network that the cluster is made in",
            "servicePrincipalProfile.clientId": "AKS changes it through an action of its own",
            "windowsProfile.adminUsername": "part of the virtual machine that a node is",
        }
    ),
    unordered=frozenset(
        {
            "agentPoolProfiles.availabilityZones",
            "agentPoolProfiles.nodeTaints",
            "apiServerAccessProfile.authorizedIPRanges",
            "identity.userAssignedIdentities",
        }
    ),
    filled_in=MappingProxyType(
        dict.fromkeys(
            (
                "addonProfiles",
                "agentPoolProfiles",
                "autoUpgradeProfile",
                "bootstrapProfile",
                "enableRBAC",
                "identityProfile",
                "kind",
                "metricsProfile",
                "networkProfile",
                "nodeProvisioningProfile",
                "nodeResourceGroup",
                "oidcIssuerProfile",
                "privateLinkResources",
                "securityProfile",
                "servicePrincipalProfile",
                "sku",
                "storageProfile",
                "supportPlan",
                "windowsProfile",
                "workloadAutoScalerProfile",
            ),
            ANY_VALUE,
        )
        | {"disableLocalAccounts": False}
    ),
)

AKS_TYPES: Mapping[str, AksType] = MappingProxyType(
    {aks_type.token: aks_type for aks_type in (AGENT_POOL, MANAGED_CLUSTER)}
)
