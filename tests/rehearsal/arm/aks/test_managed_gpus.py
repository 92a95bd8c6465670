"""Pools whose GPUs AKS manages, as a client of ARM sees them."""

from collections.abc import Callable
from typing import Any

from tests.rehearsal.conftest import API_VERSION, Azure

V = f"?api-version={API_VERSION}"
MANAGED = {"driver": "Install", "nvidia": {"managementMode": "Managed"}}
FEATURE = "Microsoft.ContainerService/ManagedGPUExperiencePreview"


def test_managed_gpus_need_the_feature_and_are_immutable(
    start_cloud: Callable[..., Any], azure_of: Callable[..., Azure]
) -> None:
    """Green here without its feature, the pool was red on a new subscription."""
    azure = azure_of(start_cloud())
    path = f"{azure.cluster_in('eastus')}/agentPools"

    def pool(name: str, gpu_profile: Any) -> Any:
        properties = {"vmSize": "Standard_NC4as_T4_v3", "count": 0, "gpuProfile": gpu_profile}
        return azure.call("PUT", f"{path}/{name}{V}", {"properties": properties})

    refused = pool("a", MANAGED)
    assert (refused.status, refused.body["code"]) == (400, "PreviewFeatureNotRegistered")
    assert FEATURE in refused.body["message"]
    assert pool("b", {"nvidia": {"managementMode": "Unmanaged"}}).status == 201
    azure.register("Microsoft.ContainerService", "ManagedGPUExperiencePreview")
    made = pool("a", MANAGED)
    assert (made.status, made.body["properties"]["gpuProfile"]) == (201, MANAGED)
    for name in ("a", "b"):
        azure.wait(
            f"{path}/{name}{V}",
            lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded",
        )
    for name, other in (("a", "Unmanaged"), ("b", "Managed")):
        changed = pool(name, {"nvidia": {"managementMode": other}})
        assert (changed.status, changed.body["code"]) == (400, "PropertyChangeNotAllowed")
    assert pool("a", {}).body["properties"]["gpuProfile"] == MANAGED
