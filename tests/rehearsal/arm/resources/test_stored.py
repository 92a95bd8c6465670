"""Types of Azure that programs with AKS create beside it: what was sent comes back."""

from typing import Any

import pytest

from aksgpu.rehearse import stored_only
from rehearsal import cloud
from rehearsal.arm.resources import stored
from tests.rehearsal.arm.in_process import CLUSTERS, GROUP, SUBSCRIPTION, Arm
from tests.rehearsal.conftest import Azure

NETWORKS = f"{GROUP}/providers/Microsoft.Network/virtualNetworks"
IDENTITIES = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
ROLES = "providers/Microsoft.Authorization/roleAssignments"
VERSION = "2024-05-01"
AKS = "2025-09-01"
EAST = {"location": "East US"}
POOL = {"name": "system", "mode": "System", "count": 1, "vmSize": "Standard_D4ds_v5"}


@pytest.fixture
def arm() -> Arm:
    return Arm()


def put(arm: Arm, path: str, body: Any = EAST, version: str = VERSION) -> Any:
    reply = arm.call("PUT", path, body, version)
    assert reply.status in (200, 201), reply.body
    return reply.body


def code(
    arm: Arm, method: str, path: str, body: Any = None, version: str = VERSION
) -> tuple[int, str]:
    reply = arm.call(method, path, body, version)
    error = reply.body.get("error") or reply.body
    return reply.status, error["code"]


def test_a_resource_comes_back_with_its_envelope(arm: Arm) -> None:
    """A program with one registry beside its cluster could not be rehearsed at all."""
    path = f"{GROUP}/providers/Microsoft.ContainerRegistry/registries/Own"
    assert code(arm, "GET", path) == (404, "ResourceNotFound")
    body = {**EAST, "tags": {"a": "b"}, "sku": {"name": "Basic"}, "properties": {"x": [1]}}
    made = put(arm, path, body)
    assert (
        arm.call("GET", path.upper().replace("SUBSCRIPTIONS", "subscriptions"), None, VERSION).body
        == made
    )
    assert {name: made[name] for name in ("id", "name", "type", "location", "tags", "sku")} == {
        "id": path,
        "name": "Own",
        "type": "Microsoft.ContainerRegistry/registries",
        "location": "eastus",
        "tags": {"a": "b"},
        "sku": {"name": "Basic"},
    }
    assert made["properties"] == {
        "x": [1],
        "loginServer": "own.azurecr.io",
        "provisioningState": "Succeeded",
    }
    again = arm.call("PUT", path, body, VERSION)
    assert (again.status, again.headers["x-rehearsal"]) == (200, "stored, not simulated")
    patched = arm.call("PATCH", path, {"tags": {"c": "d"}, "properties": {"y": 2}}, VERSION).body
    assert (patched["tags"], patched["sku"]) == ({"c": "d"}, {"name": "Basic"})
    assert (patched["properties"]["x"], patched["properties"]["y"]) == ([1], 2)
    assert arm.call("DELETE", path, None, VERSION).status == 200
    assert arm.call("DELETE", path, None, VERSION).status == 204


def test_lists_have_the_resources_of_their_scope(arm: Arm) -> None:
    put(arm, f"{GROUP}2", EAST, "2025-04-01")
    for group in (GROUP, f"{GROUP}2"):
        put(arm, f"{group}/providers/Microsoft.Network/natGateways/n")
    inside = arm.call("GET", f"{GROUP}/providers/Microsoft.Network/natGateways", None, VERSION)
    assert [each["id"].split("/")[4] for each in inside.body["value"]] == ["group"]
    everywhere = f"/subscriptions/{SUBSCRIPTION}/providers/microsoft.network/NATgateways"
    assert len(arm.call("GET", everywhere, None, VERSION).body["value"]) == 2
    assert code(arm, "GET", f"{NETWORKS}/gone/subnets") == (404, "ParentResourceNotFound")
    assert arm.call("DELETE", f"{GROUP}2", None, "2025-04-01").status == 202
    assert len(arm.call("GET", everywhere, None, VERSION).body["value"]) == 1


def test_subnets_are_in_their_network_and_resources_of_their_own(arm: Arm) -> None:
    prefix = {"addressPrefix": "10.0.0.0/24"}
    subnets = [{"name": "a", "properties": prefix}]
    made = put(arm, f"{NETWORKS}/v", {**EAST, "properties": {"subnets": subnets}})
    assert [each["id"] for each in made["properties"]["subnets"]] == [f"{NETWORKS}/v/subnets/a"]
    put(arm, f"{NETWORKS}/v/subnets/b", {"properties": prefix})
    shown = arm.call("GET", f"{NETWORKS}/v", None, VERSION).body["properties"]["subnets"]
    assert [each["name"] for each in shown] == ["a", "b"]
    assert shown[1]["properties"]["addressPrefix"] == "10.0.0.0/24"
    # A list that is left out stays.
    kept = put(arm, f"{NETWORKS}/v", {**EAST, "properties": {}})
    assert len(kept["properties"]["subnets"]) == 2
    put(arm, f"{NETWORKS}/v", {**EAST, "properties": {"subnets": subnets}})
    assert code(arm, "GET", f"{NETWORKS}/v/subnets/b") == (404, "ResourceNotFound")
    arm.call("DELETE", f"{NETWORKS}/v", None, VERSION)
    assert code(arm, "GET", f"{NETWORKS}/v/subnets/a") == (404, "ParentResourceNotFound")


def test_a_subnet_stays_as_long_as_nodes_are_in_it(arm: Arm) -> None:
    """A program without `depends_on` between subnet and cluster was destroyed here, and stopped
    half-way on Azure. Azure lets go of an identity and a registry that a cluster uses.
    """
    identity, network = f"{IDENTITIES}/i", f"{NETWORKS}/v"
    subnets: list[Any] = [{"name": name, "properties": {}} for name in ("nodes", "pods", "free")]
    put(arm, network, {**EAST, "properties": {"subnets": subnets}})
    put(arm, identity)
    pool = {
        **POOL, "vnetSubnetID": f"{network}/subnets/Nodes", "podSubnetID": f"{network}/subnets/pods"
    }  # fmt: skip
    body = {
        **EAST,
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {identity: {}}},
        "properties": {"dnsPrefix": "c", "agentPoolProfiles": [pool]},
    }
    put(arm, path := arm.name(), body, AKS)
    in_use = (400, "InUseSubnetCannotBeDeleted")
    for held in (f"{network}/subnets/nodes", f"{network}/subnets/pods", network):
        assert code(arm, "DELETE", held) == in_use
    assert code(arm, "PUT", network, {**EAST, "properties": {"subnets": subnets[1:]}}) == in_use
    for free in (f"{network}/subnets/free", identity):
        assert arm.call("DELETE", free, None, VERSION).status == 200
    arm.call("DELETE", path, None, AKS)
    assert arm.call("DELETE", network, None, VERSION).status == 200


def test_a_role_is_assigned_on_a_resource_a_group_or_the_subscription(arm: Arm) -> None:
    identity = put(arm, f"{IDENTITIES}/i")["properties"]
    subscription = f"/subscriptions/{SUBSCRIPTION}"
    roles = f"{subscription}/providers/Microsoft.Authorization/roleDefinitions"
    found = arm.call("GET", roles, None, f"{VERSION}&$filter=roleName eq 'acrpull'")
    [role] = [each for each in found.body["value"] if each["properties"]["roleName"] == "AcrPull"]
    assert arm.call("GET", f"{roles}/{role['name']}", None, VERSION).body == role
    body = {"properties": {"roleDefinitionId": role["id"], "principalId": identity["principalId"]}}
    for scope in (subscription, GROUP, f"{IDENTITIES}/i"):
        assigned = put(arm, f"{scope}/{ROLES}/name", body)
        assert (assigned["properties"]["scope"], "location" in assigned) == (scope, False)
    assert code(arm, "PUT", f"{GROUP}/providers/A.B/c/d/{ROLES}/x", body) == (
        404,
        "ParentResourceNotFound",
    )
    arm.call("DELETE", f"{IDENTITIES}/i", None, VERSION)
    listed = arm.call("GET", f"{subscription}/{ROLES}", None, VERSION).body["value"]
    assert [each["properties"]["scope"] for each in listed] == [subscription, GROUP]


def test_aks_looks_up_subnets_and_identities(arm: Arm) -> None:
    path, identity, subnet = arm.name(), f"{IDENTITIES}/i", f"{NETWORKS}/v/subnets/s"
    pool = {**POOL, "vnetSubnetID": subnet}
    body = {
        **EAST,
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {identity: {}}},
        "properties": {"dnsPrefix": "c", "agentPoolProfiles": [pool]},
    }
    assert code(arm, "PUT", path, body, AKS) == (400, "FailedIdentityOperation")
    made = put(arm, identity)["properties"]
    assert code(arm, "PUT", path, body, AKS) == (400, "SubnetNotFound")
    assert arm.call("GET", path, None, AKS).status == 404
    put(arm, f"{NETWORKS}/v")
    put(arm, f"{NETWORKS}/v/subnets/s", {"properties": {"addressPrefix": "10.0.0.0/16"}})
    cluster = put(arm, path, body, AKS)
    [ids] = arm.call("GET", path, None, AKS).body["identity"]["userAssignedIdentities"].values()
    assert ids == {name: made[name] for name in ("clientId", "principalId")}
    missing = {"properties": {"count": 1, "vnetSubnetID": f"{NETWORKS}/v/subnets/x"}}
    assert cluster["id"]
    assert code(arm, "PUT", f"{path}/agentPools/a", missing, AKS) == (400, "SubnetNotFound")
    # What is in another subscription cannot be looked up.
    missing["properties"]["vnetSubnetID"] = subnet.replace(SUBSCRIPTION, "other")
    assert arm.call("PUT", f"{path}/agentPools/a", missing, AKS).status == 201
    # A window of maintenance is below the cluster, and goes with it.
    windows = f"{path}/maintenanceConfigurations/default"
    assert put(arm, windows, {"properties": {"timeInWeek": []}}, AKS)["name"] == "default"
    assert arm.call("DELETE", path, None, AKS).status == 202
    assert code(arm, "GET", windows, None, AKS)[0] == 404


@pytest.mark.parametrize("with_its_group", [False, True])
def test_the_group_of_a_clusters_nodes_is_there_as_long_as_the_cluster(
    arm: Arm, with_its_group: bool
) -> None:
    """Programs assign roles on it, and it was said not to exist."""
    path = arm.name()
    body = {
        **EAST,
        "identity": {"type": "SystemAssigned"},
        "properties": {"dnsPrefix": "c", "agentPoolProfiles": [POOL]},
    }
    name = put(arm, path, body, AKS)["properties"]["nodeResourceGroup"]
    group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}"
    shown = arm.call("GET", group, None, "2024-03-01").body
    assert (shown["name"], shown["location"]) == (name, "eastus")
    assert shown["managedBy"].lower() == path.lower()
    listed = arm.call("GET", group.rpartition("/")[0], None, "2024-03-01").body["value"]
    assert [each["name"] for each in listed] == ["group", name]
    # A tag of its own makes no second group of it.
    tagged = arm.call("PATCH", group, {"tags": {"a": "b"}}, "2024-03-01").body
    assert (tagged["tags"], tagged["managedBy"]) == ({"a": "b"}, shown["managedBy"])
    listed = arm.call("GET", group.rpartition("/")[0], None, "2024-03-01").body["value"]
    assert [each["name"] for each in listed] == ["group", name]
    put(arm, f"{group}/{ROLES}/r", {"properties": {"principalId": "p"}})
    assert code(arm, "DELETE", group, None, "2024-03-01") == (501, "NotImplemented")
    if with_its_group:
        arm.call("DELETE", GROUP, None, "2024-03-01")
    else:
        arm.call("DELETE", path, None, AKS)
    assert arm.call("GET", group, None, "2024-03-01").status == 404
    roles = arm.call("GET", f"/subscriptions/{SUBSCRIPTION}/{ROLES}", None, VERSION).body
    assert roles["value"] == []


@pytest.mark.parametrize(
    "path",
    [
        f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets",
        f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/nodes",
        f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Network/locations/eastus/usages",
        f"{CLUSTERS}/c/accessProfiles/x",
        f"{GROUP}/providers/Microsoft.Network",
        f"{GROUP}/providers/banana/x/y",
        f"{GROUP}/banana/x",
    ],
)
def test_what_azure_itself_makes_is_not_said_to_be_absent(arm: Arm, path: str) -> None:
    assert code(arm, "GET", path) == (501, "NotImplemented")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ([], (400, "InvalidRequestContent")),
        ("x", (400, "InvalidRequestContent")),
        (None, (400, "InvalidRequestContent")),
        ({"properties": []}, (400, "InvalidRequestContent")),
        ({"location": {}}, (400, "InvalidRequestContent")),
        ({"tags": "x"}, (400, "InvalidRequestContent")),
        ({"tags": {"a<": "b"}}, (400, "InvalidTagNameCharacters")),
        ({"identity": "x"}, (400, "InvalidRequestContent")),
        ({}, (400, "LocationRequired")),
        ({"location": "atlantis"}, (400, "NoRegisteredProviderFound")),
        ({**EAST, "properties": {"subnets": {}}}, (400, "InvalidRequestContent")),
        ({**EAST, "properties": {"subnets": [1]}}, (400, "InvalidRequestContent")),
        ({**EAST, "properties": {"subnets": [{"name": "a/b"}]}}, (400, "InvalidRequestContent")),
        ({**EAST, "properties": {"subnets": [{"name": ""}]}}, (400, "InvalidRequestContent")),
        (
            {**EAST, "properties": {"subnets": [{"name": "a", "properties": 1}]}},
            (400, "InvalidRequestContent"),
        ),
    ],
)
def test_odd_bodies_end_in_errors_of_arm_and_store_nothing(
    arm: Arm, body: Any, expected: tuple[int, str]
) -> None:
    assert code(arm, "PUT", f"{NETWORKS}/v", body) == expected
    assert arm.call("GET", NETWORKS, None, VERSION).body["value"] == []
    put(arm, f"{NETWORKS}/v")
    before = arm.call("GET", f"{NETWORKS}/v", None, VERSION).body
    if expected[1] not in ("NoRegisteredProviderFound", "LocationRequired"):
        # A location in a PATCH changes nothing.
        assert code(arm, "PATCH", f"{NETWORKS}/v", body) == expected
        assert arm.call("GET", f"{NETWORKS}/v", None, VERSION).body == before


def test_a_resource_does_not_move_and_keeps_to_its_group(arm: Arm) -> None:
    put(arm, f"{NETWORKS}/v")
    assert code(arm, "PUT", f"{NETWORKS}/v", {"location": "westeurope"}) == (
        409,
        "InvalidResourceLocation",
    )
    elsewhere = NETWORKS.replace("/group/", "/none/")
    assert code(arm, "PUT", f"{elsewhere}/v", EAST) == (404, "ResourceGroupNotFound")
    assert code(arm, "GET", elsewhere) == (404, "ResourceGroupNotFound")
    assert put(
        arm, f"{GROUP}/providers/Microsoft.Network/privateDnsZones/z", {"location": "global"}
    )


def test_tells_the_types_that_are_stored_only(arm: Arm) -> None:
    put(arm, f"{NETWORKS}/v")
    put(arm, f"{NETWORKS}/v/subnets/s", {})
    reservations = f"{GROUP}/providers/Microsoft.Compute/capacityReservationGroups/r"
    put(arm, reservations, EAST, "2024-03-01")
    store = arm._front.backend.store
    assert stored.told(store) == [
        "Microsoft.Network/virtualNetworks",
        "Microsoft.Network/virtualNetworks/subnets",
    ]


def test_a_name_of_its_own_is_available_once(arm: Arm) -> None:
    path = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Storage/checkNameAvailability"
    body = {"name": "Logs", "type": "Microsoft.Storage/storageAccounts"}
    assert arm.call("POST", path, body, VERSION).body == {"nameAvailable": True}
    put(arm, f"{GROUP}/providers/{body['type']}/logs")
    assert arm.call("POST", path, body, VERSION).body == {"nameAvailable": False}


def test_status_and_log_say_what_is_stored_only(azure: Azure) -> None:
    group = "/resourceGroups/told"
    azure.call("PUT", f"{group}?api-version=2024-03-01", EAST)
    path = f"{group}/providers/Microsoft.Network/natGateways/told"
    secret = {**EAST, "properties": {"administratorLoginPassword": "hunter2", "list": [1]}}
    azure.call("PUT", f"{path}?api-version={VERSION}", secret)
    told = cloud.status_of(azure.cloud.home).stored_types
    assert "Microsoft.Network/natGateways" in told
    assert f"all of {', '.join(told)}" in stored_only.in_words([], told)
    group_line, line = azure.requests("/resourceGroups/told")
    assert (group_line.get("note"), line["note"]) == (None, "stored, not simulated")
    # Which properties of all types are secret is not known.
    assert line["body"]["properties"] == "[secret]"
    assert "hunter2" not in azure.cloud.request_log.read_text()
