from typing import Any

import pytest
from pulumi_azure_native import containerservice

from aks_preview.values import UNKNOWN
from rehearsal.azure_native.shapes import mistakes

POOL = {"resourceGroupName": "g", "resourceName": "c"}


def of_pool(**more: Any) -> list[tuple[str, str]]:
    return [
        (found.path, found.reason)
        for found in mistakes(containerservice.AgentPoolArgs, POOL | more)
    ]


def test_takes_what_the_sdk_takes() -> None:
    assert (
        of_pool(
            count=1,
            spotMaxPrice=-1,
            nodeTaints=["sku=gpu:NoSchedule"],
            nodeLabels={"a": "b"},
            gpuProfile={"driver": "Install"},
            enableAutoScaling=True,
            upgradeSettings={"maxSurge": "10%"},
            vmSize=UNKNOWN,
            osType=None,
        )
        == []
    )


def test_finds_all_mistakes_at_once() -> None:
    found = list(mistakes(containerservice.AgentPoolArgs, {"resourceName": "c", "vmsize": "x"}))

    assert found == [
        ("resourceGroupName", "is required"),
        ("vmsize", "is not a property of AgentPoolArgs"),
    ]


@pytest.mark.parametrize(
    ("more", "path", "reason"),
    [
        ({"count": "1"}, "count", "is '1', but has to be of type int"),
        ({"count": 1.5}, "count", "is 1.5, but has to be of type int"),
        ({"count": True}, "count", "is True, but has to be of type int"),
        ({"nodeTaints": "x"}, "nodeTaints", "is 'x', but has to be a list"),
        ({"nodeTaints": [1]}, "nodeTaints[0]", "is 1, but has to be of type str"),
        ({"nodeLabels": []}, "nodeLabels", "is [], but has to be a map"),
        ({"nodeLabels": {"a": 1}}, "nodeLabels['a']", "is 1, but has to be of type str"),
        ({"gpuProfile": "x"}, "gpuProfile", "is 'x', but has to be an object"),
        ({"gpuProfile": {"drivr": "x"}}, "gpuProfile.drivr", "is not a property of GPUProfileArgs"),
        ({"osType": 1}, "osType", "is 1, but has to be of type str"),
    ],
)
def test_names_the_mistake_and_its_place(more: dict[str, Any], path: str, reason: str) -> None:
    assert of_pool(**more) == [(path, reason)]


def test_looks_into_lists_of_objects() -> None:
    found = mistakes(
        containerservice.ManagedClusterArgs,
        {"resourceGroupName": "g", "agentPoolProfiles": [{"name": "a"}, {"cont": 1}]},
    )

    assert [path for path, _ in found] == ["agentPoolProfiles[1].name", "agentPoolProfiles[1].cont"]
