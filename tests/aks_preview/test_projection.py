from typing import Any

import pytest

from aks_preview.aks_types import AGENT_POOL, MANAGED_CLUSTER
from aks_preview.equivalence import projected

SPOT = "kubernetes.azure.com/scalesetpriority"


@pytest.mark.parametrize(
    ("inputs", "actual", "now"),
    [
        # Azure's own affair.
        ({"count": 1}, {"count": 1, "osSKU": "Ubuntu"}, {"count": 1}),
        ({"nodeTaints": ["a"]}, {"nodeTaints": ["a", f"{SPOT}=spot:x"]}, {"nodeTaints": ["a"]}),
        ({"nodeLabels": {"a": "b"}}, {"nodeLabels": {"a": "b", SPOT: "spot"}}, None),
        (
            {"upgradeSettings": {"maxSurge": "1"}},
            {"upgradeSettings": {"maxSurge": "1", "x": 2}},
            None,
        ),
        ({"tags": {"a": "b"}}, {"tags": {"A": "b", "of-a-policy": "e"}}, None),
        ({"enableFIPS": False, "messageOfTheDay": ""}, {"messageOfTheDay": None}, None),
        # What AKS says of GPUs that it does not manage, if anything.
        *(
            ({"gpuProfile": {"driver": "Install"}}, {"gpuProfile": gpus}, None)
            for gpus in (
                {"driver": "Install"},
                {"driver": "Install", "nvidia": None},
                {"driver": "Install", "driverType": "", "nvidia": {"managementMode": "Unmanaged"}},
            )
        ),
        # The same in other words.
        (
            {"osType": "linux", "vmSize": "standard_nc6"},
            {"osType": "Linux", "vmSize": "Standard_NC6"},
            None,
        ),
        ({"nodeTaints": ["a", "b"]}, {"nodeTaints": ["b", "a"]}, None),
        ({"vnetSubnetID": "/S/x"}, {"vnetSubnetID": "/s/X"}, None),
        ({"tags": {}, "powerState": None}, {}, None),
        ({"count": 1, "enableAutoScaling": True}, {"count": 7, "enableAutoScaling": True}, None),
        # Said, though it is AKS's own.
        ({"nodeLabels": {SPOT: "spot"}}, {"nodeLabels": {SPOT: "spot"}}, None),
        # Drift.
        ({"enableFIPS": True}, {}, {}),
        (
            {"count": 1},
            {"count": 7, "enableAutoScaling": True, "minCount": 1, "maxCount": 9},
            {"count": 1, "enableAutoScaling": True, "minCount": 1, "maxCount": 9},
        ),
        ({"count": 1}, {"count": 2}, {"count": 2}),
        ({"tags": {"a": "b"}}, {"tags": {"a": "c"}}, {"tags": {"a": "c"}}),
        ({"tags": {"a": "b"}}, {"tags": {"a": "B"}}, {"tags": {"a": "B"}}),
        ({"nodeTaints": ["a", "b"]}, {"nodeTaints": ["c", "b"]}, {"nodeTaints": ["b", "c"]}),
        ({"messageOfTheDay": "YQ=="}, {"messageOfTheDay": "yq=="}, {"messageOfTheDay": "yq=="}),
        ({"orchestratorVersion": "1.34"}, {}, {}),
    ],
)
def test_a_refreshed_pool_has_azures_values_for_its_inputs(
    inputs: dict[str, Any], actual: dict[str, Any], now: dict[str, Any] | None
) -> None:
    expected = inputs if now is None else now

    assert projected(AGENT_POOL.inputs, inputs, actual) == expected


def test_inline_pools_are_matched_with_those_of_the_inputs() -> None:
    inputs = {"agentPoolProfiles": [{"name": "b", "count": 1}, {"name": "gone", "count": 1}]}
    actual = {"agentPoolProfiles": [{"name": "a", "count": 9}, {"name": "b", "count": 2, "x": 1}]}

    now = projected(MANAGED_CLUSTER.inputs, inputs, actual)

    assert now == {"agentPoolProfiles": [{"name": "b", "count": 2}]}


def test_a_password_that_azure_does_not_return_stays_in_the_inputs() -> None:
    inputs = {"windowsProfile": {"adminUsername": "a", "adminPassword": "p"}}
    actual = {"windowsProfile": {"adminUsername": "a"}}

    assert projected(MANAGED_CLUSTER.inputs, inputs, actual) == inputs
