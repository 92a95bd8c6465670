from typing import Any

import pytest

from policies.rules.api_server_closed import api_server_closed
from tests.policies.policy_harness import Resource, findings

NATIVE = "azure-native:containerservice:ManagedCluster"
CLASSIC = "azure:containerservice/kubernetesCluster:KubernetesCluster"


@pytest.mark.parametrize(
    ("kind", "properties", "count"),
    [
        (NATIVE, {}, 1),
        (NATIVE, {"apiServerAccessProfile": {"authorizedIPRanges": []}}, 1),
        (NATIVE, {"apiServerAccessProfile": {"authorizedIPRanges": ["0.0.0.0/0"]}}, 1),
        (NATIVE, {"apiServerAccessProfile": {"authorizedIPRanges": ["20.40.60.0/24"]}}, 0),
        (NATIVE, {"apiServerAccessProfile": {"enablePrivateCluster": True}}, 0),
        (CLASSIC, {}, 1),
        (CLASSIC, {"privateClusterEnabled": True}, 0),
        (CLASSIC, {"apiServerAccessProfile": {"authorizedIpRanges": ["20.40.60.0/24"]}}, 0),
        (CLASSIC, {"apiServerAuthorizedIpRanges": ["20.40.60.0/24"]}, 0),
        ("azure-native:resources:ResourceGroup", {}, 0),
    ],
)
def test_an_open_api_server_is_found(kind: str, properties: dict[str, Any], count: int) -> None:
    found = findings(api_server_closed, Resource(type=kind, properties=properties))
    assert len(found) == count
