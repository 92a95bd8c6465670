"""The types as such: ids, and the requests and outputs that are made from their table."""

import asyncio
import inspect
from typing import Any

import pytest
from pulumi.provider.experimental import provider as sdk

from provider_kit.engine_log import EngineLog
from provider_kit.serving import ProviderError
from provider_kit.values import UNKNOWN, property_map
from rehearsal.offline_plug_ins.azure_native.arm import function_of
from rehearsal.offline_plug_ins.azure_native.native_types import TYPES
from rehearsal.offline_plug_ins.azure_native.properties import (
    imported,
    outputs,
    preview,
    refreshed,
    request,
)
from rehearsal.offline_plug_ins.azure_native.provider import AzureNative

POOL = TYPES["azure-native:containerservice:AgentPool"]
CLUSTER = TYPES["azure-native:containerservice:ManagedCluster"]
GROUP = TYPES["azure-native:resources:ResourceGroup"]
INPUTS = {
    "resourceGroupName": "g",
    "resourceName": "c",
    "agentPoolName": "p",
    "azureApiVersion": "2025-09-01",
    "vmSize": "Standard_NC6",
    "type": "VirtualMachineScaleSets",
    "tags": {"a": "b"},
}
ID = (
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService"
    "/managedClusters/c/agentPools/p"
)
ANSWER = {
    "id": ID,
    "name": "p",
    "type": "Microsoft.ContainerService/managedClusters/agentPools",
    "properties": {
        "vmSize": "Standard_NC6",
        "type": "VirtualMachineScaleSets",
        "maxPods": 250,
        "nodeTaints": [],
        "nodeLabels": None,
        "upgradeSettings": {"maxSurge": "10%", "ofTomorrow": 1},
        "ofTomorrow": True,
    },
}
ONE, OTHER = "/identities/one", "/identities/other"


def test_an_id_is_built_from_the_names() -> None:
    assert POOL.resource_id("s", INPUTS) == ID


@pytest.mark.parametrize("resource_id", [ID, ID.lower().replace("/g/", "/G/")])
def test_the_names_are_read_from_an_id_of_any_case(resource_id: str) -> None:
    names = POOL.names_in(resource_id)
    assert {name: text.lower() for name, text in names.items()} == {
        "resourceGroupName": "g",
        "resourceName": "c",
        "agentPoolName": "p",
    }


def test_an_id_of_another_format_is_refused() -> None:
    with pytest.raises(ProviderError, match="use the form"):
        POOL.names_in("/subscriptions/s/resourceGroups/g")


def test_a_body_has_the_properties_that_are_not_in_the_path() -> None:
    properties = {
        "vmSize": "Standard_NC6",
        "type": "VirtualMachineScaleSets",
        "tags": {"a": "b"},
    }
    assert request(POOL, INPUTS, {}) == ("PUT", {"properties": properties})
    group = {"resourceGroupName": "g", "location": "eastus", "tags": {"a": "b"}}
    assert request(GROUP, group, {}) == ("PUT", {"location": "eastus", "tags": {"a": "b"}})


def identity(*ids: str) -> dict[str, Any]:
    return {"identity": {"type": "UserAssigned", "userAssignedIdentities": list(ids)}}


def test_identities_are_sent_as_a_map() -> None:
    sent = {"type": "UserAssigned", "userAssignedIdentities": {ONE: {}, OTHER: {}}}
    assert request(CLUSTER, identity(ONE, OTHER), {}) == ("PUT", {"identity": sent})
    assert request(CLUSTER, identity(ONE, OTHER), identity(ONE))[0] == "PUT"


def test_a_removed_identity_makes_the_request_a_patch() -> None:
    sent = {"type": "UserAssigned", "userAssignedIdentities": {OTHER: {}, ONE: None}}
    changed = request(CLUSTER, identity(OTHER), identity(ONE, OTHER))
    assert changed == ("PATCH", {"identity": sent})


def test_the_autoscalers_names_are_dashed_on_the_wire() -> None:
    profile = {"scaleDownDelayAfterAdd": "10m", "expander": "random"}
    sent = {"scale-down-delay-after-add": "10m", "expander": "random"}
    body = {"properties": {"autoScalerProfile": sent}}
    assert request(CLUSTER, {"autoScalerProfile": profile}, {})[1] == body
    answer = {"id": ID, **body}
    assert outputs(CLUSTER, answer)["autoScalerProfile"] == profile
    cluster_id = ID.partition("/agentPools/")[0]
    assert imported(CLUSTER, cluster_id, answer)["autoScalerProfile"] == profile


def test_outputs_are_flat_and_limited_to_the_sdks_properties() -> None:
    assert outputs(POOL, ANSWER) == {
        "id": ID,
        "name": "p",
        "type": "Microsoft.ContainerService/managedClusters/agentPools",
        "azureApiVersion": "2025-09-01",
        "vmSize": "Standard_NC6",
        "maxPods": 250,
        "nodeTaints": [],
        "upgradeSettings": {"maxSurge": "10%"},
    }


def test_outputs_of_a_group_keep_its_properties_nested() -> None:
    properties = {"provisioningState": "Succeeded"}
    flat = outputs(GROUP, {"id": "/g", "name": "g", "properties": properties})
    assert flat["properties"] == properties


def test_an_imported_resource_has_all_that_azure_filled_in() -> None:
    assert imported(POOL, ID, ANSWER) == {
        "resourceGroupName": "g",
        "resourceName": "c",
        "agentPoolName": "p",
        "vmSize": "Standard_NC6",
        "type": "VirtualMachineScaleSets",
        "maxPods": 250,
        "upgradeSettings": {"maxSurge": "10%"},
    }


def test_a_preview_knows_the_inputs_and_a_stable_name() -> None:
    inputs = {"count": 2, "upgradeSettings": {"maxSurge": "1"}, "agentPoolName": "p"}
    shown = preview(POOL, inputs, {"name": "p", "provisioningState": "Succeeded"})

    assert (shown["count"], shown["name"]) == (2, "p")
    assert shown["provisioningState"] is UNKNOWN
    assert shown["upgradeSettings"]["maxSurge"] == "1"
    assert shown["upgradeSettings"]["drainTimeoutInMinutes"] is UNKNOWN
    assert "agentPoolName" not in shown


def test_outputs_of_an_identity_are_unknown_in_a_preview() -> None:
    assert preview(CLUSTER, identity(ONE), {})["identity"]["userAssignedIdentities"] is UNKNOWN


@pytest.mark.parametrize("token", TYPES)
def test_a_type_is_as_the_sdk_documents_it(token: str) -> None:
    native_type = TYPES[token]
    assert set(native_type.path_names) <= set(native_type.inputs) | {"resourceGroupName"}
    source = inspect.getsource(native_type.resource)
    assert f"Uses Azure REST API version {native_type.api_version}." in source


NETWORK = TYPES["azure-native:network:VirtualNetwork"]


def test_items_of_lists_have_properties_of_their_own() -> None:
    flat = {
        "location": "eastus",
        "subnets": [
            {
                "name": "a",
                "addressPrefix": "10.0.0.0/24",
                "delegations": [{"name": "d", "serviceName": "s"}],
            },
            {"id": "/one"},
        ],
    }
    sent = {
        "location": "eastus",
        "properties": {
            "subnets": [
                {
                    "name": "a",
                    "properties": {
                        "addressPrefix": "10.0.0.0/24",
                        "delegations": [{"name": "d", "properties": {"serviceName": "s"}}],
                    },
                },
                {"id": "/one"},
            ]
        },
    }
    assert request(NETWORK, flat, {}) == ("PUT", sent)
    assert outputs(NETWORK, {"id": "/n", **sent}) == {
        **flat,
        "id": "/n",
        "azureApiVersion": NETWORK.api_version,
    }


def test_what_other_resources_put_into_a_list_is_not_the_programs() -> None:
    """A subnet of its own made the next update of its network remove it."""
    before = {"location": "eastus", "subnets": []}
    after = {"location": "eastus", "subnets": [{"name": "a"}]}
    program = {"location": "eastus"}
    assert refreshed(NETWORK, program, before, after) == program
    assert refreshed(NETWORK, {**program, "subnets": []}, before, after) == after


def test_a_resource_that_extends_another_has_its_id_in_front() -> None:
    role = TYPES["azure-native:authorization:RoleAssignment"]
    identifier = f"{ID}/providers/Microsoft.Authorization/roleAssignments/r"
    assert role.resource_id("s", {"scope": ID, "roleAssignmentName": "r"}) == identifier
    assert role.names_in(identifier) == {"scope": ID, "roleAssignmentName": "r"}


def test_a_token_with_a_version_is_the_type_that_it_is() -> None:
    """SDKs of version 2 write it, and the cluster itself was of an unknown type."""
    assert TYPES["azure-native:containerservice/v20240102preview:ManagedCluster"] is CLUSTER
    assert function_of("azure-native:containerservice/v20240102preview:getAgentPool")


@pytest.mark.parametrize(
    ("token", "version", "names", "path"),
    [
        (
            "keyvault:Key",
            "2024-11-01",
            {"resourceGroupName": "g", "vaultName": "v", "keyName": "k"},
            "/resourceGroups/g/providers/MadeUp.keyvault/vault/v/Key/k",
        ),
        (
            "cdn:AFDOrigin",
            "2025-06-01",
            {
                "resourceGroupName": "g",
                "profileName": "p",
                "originGroupName": "o",
                "originName": "n",
            },
            "/resourceGroups/g/providers/MadeUp.cdn/originGroup/o/profile/p/AFDOrigin/n",
        ),
        (
            "dns:DnssecConfig",
            "2023-07-01-preview",
            {"resourceGroupName": "g", "zoneName": "z"},
            "/resourceGroups/g/providers/MadeUp.dns/zone/z/DnssecConfig/default",
        ),
        (
            "keyvault:AccessPolicy",
            "2024-11-01",
            {"resourceGroupName": "g", "vaultName": "v", "__name": "one"},
            "/resourceGroups/g/providers/MadeUp.keyvault/vault/v/AccessPolicy/one",
        ),
    ],
)
def test_a_type_without_a_row_is_stored_by_a_rule(
    token: str, version: str, names: dict[str, str], path: str
) -> None:
    """A key beside a vault, a budget or a profile of a CDN ended the rehearsal."""
    native_type = TYPES[f"azure-native:{token}"]
    assert native_type.api_version == version
    identifier = native_type.resource_id("s", names)
    assert identifier == f"/subscriptions/s{path}"
    assert native_type.names_in(identifier) == names
    body = native_type.body({**names, "azureApiVersion": version, "tags": {}, "x": 1})
    assert body == {"tags": {}, "properties": {"x": 1}}


def test_a_type_without_a_row_can_extend_another_resource() -> None:
    budget = TYPES["azure-native:consumption:Budget"]
    identifier = f"{ID}/providers/MadeUp.consumption/Budget/b"
    assert budget.resource_id("s", {"scope": ID, "budgetName": "b"}) == identifier
    assert budget.names_in(identifier) == {"scope": ID, "budgetName": "b"}


@pytest.mark.parametrize(
    "token",
    [
        "azure-native:banana:Key",
        "azure-native:keyvault:Banana",
        "azure-native:keyvault:KeyArgs",
        "azure-native:keyvault:getKey",
        "azure-native:keyvault",
        "other:keyvault:Key",
    ],
)
def test_what_the_sdk_does_not_have_is_no_type(token: str) -> None:
    assert token not in TYPES


def test_functions_of_the_administrators_credentials_and_of_stored_types_are_there() -> None:
    """Pulumi's own template asks for the administrator's kubeconfig, after the cluster is made."""
    for name in ("containerservice:listManagedClusterAdminCredentials", "keyvault:getKey"):
        assert function_of(f"azure-native:{name}")
    assert function_of("azure-native:keyvault:listKeys") is None


def test_what_is_unknown_is_named() -> None:
    provider = AzureNative(EngineLog(None))
    request = sdk.InvokeRequest("azure-native:maps:listAccountKeys", {})
    with pytest.raises(ProviderError, match="does not support the function azure-native:maps:list"):
        asyncio.run(provider.invoke(request))
    with pytest.raises(ProviderError, match="does not support the type azure-native:maps:Banana"):
        provider.handler("azure-native:maps:Banana")


class _Log(EngineLog):
    def __init__(self) -> None:
        super().__init__(None)
        self.warnings = list[str]()

    async def warning(self, urn: str, message: str) -> None:
        self.warnings.append(f"{urn} {message}")


URN = "urn:pulumi:s::p::azure-native:containerservice:ManagedCluster::c"


def checked(log: EngineLog, inputs: dict[str, Any]) -> sdk.CheckResponse:
    asked = sdk.CheckRequest(URN, {}, property_map(inputs), b"")
    return asyncio.run(AzureNative(log).check(asked))


def test_a_public_range_of_services_is_a_warning() -> None:
    """It was refused by release notes alone, and programs have had such a range for years."""
    log = _Log()
    inputs: dict[str, Any] = {
        "resourceGroupName": "g",
        "resourceName": "c",
        "location": "eastus",
    }
    inputs["networkProfile"] = {"serviceCidr": "112.0.0.0/16"}
    assert not checked(log, inputs).failures
    [warning] = log.warnings
    assert "112.0.0.0/16 is public" in warning


def test_a_property_that_the_sdk_lacks_is_a_warning_and_not_sent() -> None:
    """`dockerBridgeCidr`, which azure-native leaves out, stopped the rehearsal of two programs."""
    log = _Log()
    inputs = {
        "resourceGroupName": "g",
        "resourceName": "c",
        "location": "eastus",
        "networkProfile": {"dockerBridgeCidr": "172.17.0.1/16", "networkPlugin": "azure"},
    }
    assert not checked(log, inputs).failures
    assert log.warnings == [
        f"{URN} networkProfile.dockerBridgeCidr: is not a property of "
        "ContainerServiceNetworkProfileArgs. azure-native leaves it out without a word."
    ]
    body = {"location": "eastus", "properties": {"networkProfile": {"networkPlugin": "azure"}}}
    assert request(CLUSTER, inputs, {}) == ("PUT", body)
