"""What is found in inputs before anything is sent."""

from typing import Any

import pytest
from azure.mgmt.containerservice import ContainerServiceClient
from pulumi import _types as sdk_types
from pulumi_azure_native import containerservice

from aks_preview.aks_resource import header_mistakes
from aks_preview.aks_types import AGENT_POOL, AKS_TYPES, HEADERS, MANAGED_CLUSTER, AksType
from aks_preview.configuration import SETTINGS
from aks_preview.features import FEATURE_INPUTS
from provider_kit.configuration import setting_mistakes
from rehearsal.offline_plug_ins.azure_native.shapes import mistakes
from provider_kit.values import UNKNOWN

POOL = {"resourceGroupName": "g", "resourceName": "c", "agentPoolName": "gpu"}
SECRET = "a-secret"


@pytest.mark.parametrize(
    ("aks_type", "args"),
    [
        (AGENT_POOL, containerservice.AgentPoolArgs),
        (MANAGED_CLUSTER, containerservice.ManagedClusterArgs),
    ],
)
def test_every_property_of_azure_native_is_a_property_of_aks_preview(
    aks_type: AksType, args: type
) -> None:
    assert not sdk_types.input_type_types(args).keys() - aks_type.inputs.fields.keys()


@pytest.mark.parametrize("aks_type", AKS_TYPES.values())
def test_the_tables_name_only_known_properties(aks_type: AksType) -> None:
    known = aks_type.inputs.fields.keys()
    named = {*aks_type.replaces, *aks_type.filled_in, *aks_type.envelope}

    assert not {path.partition(".")[0] for path in named} - known
    assert known.isdisjoint(aks_type.known.by_server)


def test_the_default_api_version_is_that_of_the_sdks_types() -> None:
    client = ContainerServiceClient("", "x", "https://x")  # type: ignore[arg-type]

    assert client._config.api_version == SETTINGS["apiVersion"].default


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (POOL, []),
        (POOL | {"vmSize": UNKNOWN, "gpuProfile": UNKNOWN, "tags": {"a": UNKNOWN}}, []),
        (POOL | {"gpuProfile": {"nvidia": {"managementMode": "Managed"}}}, []),
        (POOL | {"spotMaxPrice": -1, "count": 2}, []),
        ({}, ["agentPoolName", "resourceGroupName", "resourceName"]),
        (POOL | {"count": "1", "colour": SECRET}, ["count", "colour"]),
        (POOL | {"count": 1.5, "enableFIPS": 1}, ["count", "enableFIPS"]),
        (POOL | {"nodeTaints": SECRET, "nodeLabels": [SECRET]}, ["nodeTaints", "nodeLabels"]),
        (POOL | {"nodeTaints": ["a", 1], "tags": {"a b": 1}}, ["nodeTaints[1]", 'tags["a b"]']),
        (POOL | {"gpuProfile": {"drivr": SECRET}}, ["gpuProfile.drivr"]),
        (
            POOL | {"gpuProfile": SECRET, "customHeaders": {"a": 1}},
            ["gpuProfile", "customHeaders.a"],
        ),
        (POOL | {"provisioningState": "Succeeded"}, ["provisioningState"]),
    ],
)
def test_invalid_inputs_are_reported_by_path(inputs: dict[str, Any], expected: list[str]) -> None:
    reported = list(mistakes(AGENT_POOL.inputs, inputs))

    assert [mistake.path for mistake in reported] == expected
    assert not any(SECRET in mistake.reason for mistake in reported)


def test_missing_nested_properties_are_reported() -> None:
    inputs = {
        "resourceGroupName": "g",
        "resourceName": "c",
        "agentPoolProfiles": [{"count": 1}],
        "identity": {"userAssignedIdentities": ["/id"]},
    }

    paths = [mistake.path for mistake in mistakes(MANAGED_CLUSTER.inputs, inputs)]

    assert paths == ["location", "agentPoolProfiles[0].name"]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"UseGPUDedicatedVHD": "true", "usegen2vm": "true"}, []),
        ({"a": "b", "X-Y_z.1": "a b;c=d, e"}, []),
        ({"a": UNKNOWN}, []),
        (UNKNOWN, []),
        (None, []),
        ({"a b": "c"}, ['customHeaders["a b"]']),
        (
            {"ü": "c", "": "c", "a:": "c"},
            ["customHeaders.ü", 'customHeaders[""]', 'customHeaders["a:"]'],
        ),
        (
            {"a": "", "b": " c", "d": "e\r\nf: g", "h": "ü"},
            [f"customHeaders.{name}" for name in "abdh"],
        ),
        (
            {"Authorization": "Bearer x", "HOST": "x"},
            ["customHeaders.Authorization", "customHeaders.HOST"],
        ),
        (
            {"content-type": "x", "If-Match": "*"},
            ['customHeaders["content-type"]', 'customHeaders["If-Match"]'],
        ),
        ({"a": "b", "A": "c"}, ["customHeaders.A"]),
    ],
)
def test_invalid_headers_are_reported_by_path(headers: Any, expected: list[str]) -> None:
    reported = list(header_mistakes({HEADERS: headers}))

    assert [mistake.path for mistake in reported] == expected


def test_invalid_inputs_of_a_feature_are_reported() -> None:
    inputs = {"featureName": "a", "unregisterOnDelete": "yes"}

    paths = [mistake.path for mistake in mistakes(FEATURE_INPUTS, inputs)]

    assert paths == ["providerNamespace", "unregisterOnDelete"]


def test_invalid_settings_are_reported_without_their_values() -> None:
    given = {"useMsi": "perhaps", "useOidc": "true", "clientID": SECRET, "version": "0.1.0"}

    reported = list(setting_mistakes(given, SETTINGS))

    assert [mistake.path for mistake in reported] == ["clientID", "useMsi"]
    assert not any(SECRET in mistake.reason for mistake in reported)
