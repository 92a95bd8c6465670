"""The functions that the stand-in knows, each as a request of Azure's own clients."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from azure.mgmt.containerservice.aio import ContainerServiceClient
from azure.mgmt.resource.resources.aio import ResourceManagementClient

from rehearsal.stand_ins.azure_native.outputs import outputs
from rehearsal.stand_ins.azure_native.types import TYPES, ArmType


@dataclass(frozen=True)
class Clients:
    """Azure's clients, signed in to one subscription."""

    subscription: str
    resources: ResourceManagementClient
    aks: ContainerServiceClient


Function = Callable[[Clients, Mapping[str, Any]], Awaitable[dict[str, Any]]]


def _getter(arm_type: ArmType) -> Function:
    async def get(clients: Clients, inputs: Mapping[str, Any]) -> dict[str, Any]:
        resource_id = arm_type.resource_id(clients.subscription, inputs)
        answer = await clients.resources.resources.get_by_id(
            resource_id, api_version=arm_type.api_version
        )
        return outputs(arm_type, answer.as_dict())

    return get


async def _user_credentials(clients: Clients, inputs: Mapping[str, Any]) -> dict[str, Any]:
    answer = await clients.aks.managed_clusters.list_cluster_user_credentials(
        inputs["resourceGroupName"], inputs["resourceName"]
    )
    return dict(answer.as_dict())


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "azure-native:containerservice:getManagedCluster": _getter(
            TYPES["azure-native:containerservice:ManagedCluster"]
        ),
        "azure-native:containerservice:listManagedClusterUserCredentials": _user_credentials,
        "azure-native:resources:getResourceGroup": _getter(
            TYPES["azure-native:resources:ResourceGroup"]
        ),
    }
)
