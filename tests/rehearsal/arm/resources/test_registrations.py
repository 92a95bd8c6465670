"""Preview features and resource providers register over time."""

from collections.abc import Callable
from typing import Any

import pytest

V = "?api-version=2021-07-01"
FEATURES = "/providers/Microsoft.Features/providers/Microsoft.ContainerService/features"
SPECIALIZED = f"{FEATURES}/GPUDedicatedVHDPreview"


def state(reply: Any) -> str:
    value: str = reply.body["properties"]["state"]
    return value


def test_a_feature_registers_after_a_while(azure: Any) -> None:
    path = f"{FEATURES}/ManagedGPUExperiencePreview"
    assert state(azure.call("GET", path + V)) == "NotRegistered"
    registering = azure.call("POST", f"{path}/register{V}")
    assert state(registering) == "Registering"
    assert registering.body["name"] == "Microsoft.ContainerService/ManagedGPUExperiencePreview"
    azure.wait(path + V, lambda reply: state(reply) == "Registered")
    assert state(azure.call("POST", f"{path}/register{V}")) == "Registered"
    assert state(azure.call("POST", f"{path}/unregister{V}")) == "Unregistering"
    azure.wait(path + V, lambda reply: state(reply) == "Unregistered")


def test_a_feature_that_is_registering_is_listed_as_registering(slow_azure: Any) -> None:
    assert state(slow_azure.call("POST", f"{SPECIALIZED}/register{V}")) == "Registering"
    assert state(slow_azure.call("GET", SPECIALIZED.lower() + V)) == "Registering"
    listed = slow_azure.call("GET", FEATURES + V).body["value"]
    states = {feature["name"].split("/")[1]: feature["properties"]["state"] for feature in listed}
    assert states["GPUDedicatedVHDPreview"] == "Registering"
    assert states["ManagedGPUExperiencePreview"] == "NotRegistered"
    everywhere = slow_azure.call("GET", f"/providers/Microsoft.Features/features{V}").body["value"]
    assert [feature for feature in everywhere if feature in listed] == listed


def test_a_repeated_registration_does_not_restart(
    start_cloud: Callable[..., Any], azure_of: Callable[..., Any]
) -> None:
    """Else a client that registers on every run would never see the end."""
    azure = azure_of(start_cloud(0.03))

    def asked_again_until_registered(_: Any) -> bool:
        return state(azure.call("POST", f"{SPECIALIZED}/register{V}")) == "Registered"

    azure.wait(SPECIALIZED + V, asked_again_until_registered)


def test_a_registered_provider_answers_registered_at_once(azure: Any) -> None:
    path = "/providers/microsoft.containerservice"
    first = azure.call("GET", f"{path}?api-version=2025-04-01").body
    assert (first["namespace"], first["registrationState"]) == (
        "Microsoft.ContainerService",
        "Registered",
    )
    again = azure.call("POST", f"{path}/register?api-version=2025-04-01").body
    assert again["registrationState"] == "Registered"
    listed = azure.call("GET", "/providers?api-version=2025-04-01").body["value"]
    assert "Microsoft.ContainerService" in [provider["namespace"] for provider in listed]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (f"{FEATURES}/NoSuchPreview", "the feature Microsoft.ContainerService/NoSuchPreview"),
        ("/providers/Microsoft.Maps", "the resource provider Microsoft.Maps"),
        (FEATURES.replace("ContainerService", "Web"), "the resource provider Microsoft.Web"),
    ],
)
def test_an_unsupported_feature_or_provider_is_named_as_such(
    azure: Any, path: str, words: str
) -> None:
    """It said that there is no such feature, as if its name were misspelled."""
    reply = azure.call("GET", path + V.replace("07-01", "04-01"))
    assert (reply.status, reply.body["error"]["code"]) == (501, "NotImplemented")
    assert reply.body["error"]["message"] == f"The rehearsal does not have {words}."


def test_an_unregistered_provider_refuses_requests(
    start_cloud: Callable[..., Any], azure_of: Callable[..., Any]
) -> None:
    azure = azure_of(start_cloud())
    azure.call("PUT", "/resourceGroups/bare?api-version=2025-04-01", {"location": "eastus"})
    clusters = "/resourceGroups/bare/providers/Microsoft.ContainerService/managedClusters"
    paths = {
        "Microsoft.ContainerService": f"{clusters}/none?api-version=2026-08-01",
        "Microsoft.Compute": "/providers/microsoft.compute/skus?api-version=2021-07-01",
    }
    for namespace, path in paths.items():
        provider = f"/providers/{namespace}?api-version=2025-04-01"
        unregistering = azure.call("POST", provider.replace("?", "/unregister?"))
        assert unregistering.body["registrationState"] == "Unregistering"
        azure.wait(provider, lambda reply: reply.body["registrationState"] == "Unregistered")
        refused = azure.call("GET", path)
        assert (refused.status, refused.body["error"]["code"]) == (
            409,
            "MissingSubscriptionRegistration",
        )
        assert f"'{namespace}'" in refused.body["error"]["message"]
    # Its features can be seen all the same, and it can be registered.
    assert azure.call("GET", SPECIALIZED + V).status == 200
    azure.call("POST", provider.replace("?", "/register?"))
    azure.wait(provider, lambda reply: reply.body["registrationState"] == "Registered")
    assert azure.call("GET", path).status == 200
