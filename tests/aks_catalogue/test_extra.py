"""Properties that no argument has: all that is wrong with them, each at its place."""

from typing import Any

import pytest

from aks_catalogue import extra
from aks_catalogue.aks_types import API_VERSION
from aks_catalogue.aks_versions import AZURE_NATIVE

OWNED = {
    "networkProfile.podCidr": "network.podCidr",
    "identity": "userAssignedIdentityId",
    "enableRBAC": "",
}


def told(given: Any, resource: str = "cluster", version: str = AZURE_NATIVE) -> list[str]:
    return [*map(str, extra.mistakes(resource, given, OWNED, version, "extra"))]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {
            "addonProfiles": {
                "azureKeyvaultSecretsProvider": {"enabled": True, "config": {"a": "b"}}
            }
        },
        {"azureMonitorProfile": {"metrics": {"enabled": True}}},
        {"networkProfile": {"outboundType": "userDefinedRouting"}},
        {"httpProxyConfig": {"noProxy": ["a", "b"]}},
        {"securityProfile": {"azureKeyVaultKms": extra.UNKNOWN}},
        {"httpProxyConfig": {"noProxy": [extra.UNKNOWN]}},
        {"tags": {"any name": "x"}},
    ],
)
def test_what_azure_takes_passes(given: dict[str, Any]) -> None:
    assert told(given) == []


def test_a_newer_property_names_the_version_that_has_it() -> None:
    """azure-native sent it, and Azure had never heard of it."""
    given: dict[str, Any] = {"schedulerProfile": {"upstream": {}}}
    assert told(given, version=API_VERSION) == []
    assert told(given) == [
        "extra.schedulerProfile: is in AKS's API from 2026-05-01, and azure-native sends "
        f"2025-09-01: set customHeaders (an empty map is enough): aks-preview sends {API_VERSION}"
    ]
    below = {"azureMonitorProfile": {"metrics": {"controlPlane": {"enabled": True}}}}
    assert told(below)[0].startswith("extra.azureMonitorProfile.metrics.controlPlane: is in AKS's")


@pytest.mark.parametrize(
    ("given", "mistake"),
    [
        # It was told to write powerState.
        (
            {"properties": {"nodeResourceGroup": "mine"}},
            "extra.properties: is only in Azure's requests: write what is in it, without "
            "`properties` around it",
        ),
        (
            {"networkProfile": {"podCidr": "10.0.0.0/8"}},
            "extra.networkProfile.podCidr: is the argument network.podCidr: set that, and remove "
            "it here",
        ),
        ({"enableRBAC": False}, "extra.enableRBAC: is fixed: remove it here"),
        # A key without a value took all of its section out of the request.
        ({"networkProfile": None}, "extra.networkProfile: has no value: write one, or remove it"),
        (
            {"networkProfile": extra.UNKNOWN},
            "extra.networkProfile: is an output, and arguments send networkProfile.podCidr: write "
            "a map, whose values can be outputs",
        ),
        (
            {"addonProfile": {}},
            "extra.addonProfile: is not a property of AKS's API of 2026-08-01: write addonProfiles",
        ),
        (
            {"networkProfile": {"outboundtype": "x"}},
            "extra.networkProfile.outboundtype: is not a property of AKS's API of 2026-08-01: "
            "write outboundType",
        ),
        (
            {"addonProfiles": {"a-b": {"on": True}}},
            'extra.addonProfiles["a-b"].on: is not a property of AKS\'s API of 2026-08-01: use the '
            "names of Azure's API",
        ),
        ({"fqdn": "x"}, "extra.fqdn: is set by AKS: remove it"),
        ({"networkProfile": "x"}, "extra.networkProfile: must be a map, not 'x'"),
        (
            {"httpProxyConfig": {"noProxy": "a"}},
            "extra.httpProxyConfig.noProxy: must be a list, not 'a'",
        ),
        (
            {"disableLocalAccounts": "no"},
            "extra.disableLocalAccounts: must be true or false, not 'no'",
        ),
        (
            {"addonProfiles": {"a": {"config": {"x": 1}}}},
            "extra.addonProfiles.a.config.x: must be a string, not 1",
        ),
    ],
)
def test_a_mistake_has_its_place(given: dict[str, Any], mistake: str) -> None:
    assert told(given) == [mistake]
