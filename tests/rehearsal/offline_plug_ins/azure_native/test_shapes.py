from typing import Any

import pytest
from pulumi_azure_native import containerservice

from provider_kit.values import UNKNOWN
from rehearsal.offline_plug_ins.azure_native.native_types import args_shape
from rehearsal.offline_plug_ins.azure_native.shapes import mistakes

POOL = {"resourceGroupName": "g", "resourceName": "c"}


def of_pool(**more: Any) -> list[tuple[str, str]]:
    return [
        (mistake.path, mistake.reason)
        for mistake in mistakes(args_shape(containerservice.AgentPoolArgs), POOL | more)
    ]


def test_inputs_that_the_sdk_accepts_are_accepted() -> None:
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


def test_all_mistakes_are_found_at_once() -> None:
    reported = list(
        mistakes(args_shape(containerservice.AgentPoolArgs), {"resourceName": "c", "vmsize": "x"})
    )

    assert reported == [
        ("resourceGroupName", "is required"),
        ("vmsize", "is not a property of AgentPoolArgs"),
    ]


@pytest.mark.parametrize(
    ("more", "path", "reason"),
    [
        ({"count": "1"}, "count", "is a string, but must be an integer"),
        ({"count": 1.5}, "count", "is a number, but must be an integer"),
        ({"count": True}, "count", "is a boolean, but must be an integer"),
        ({"nodeTaints": "x"}, "nodeTaints", "is a string, but must be a list"),
        ({"nodeTaints": [1]}, "nodeTaints[0]", "is an integer, but must be a string"),
        ({"nodeLabels": []}, "nodeLabels", "is a list, but must be a map"),
        ({"nodeLabels": {"a": 1}}, "nodeLabels.a", "is an integer, but must be a string"),
        ({"gpuProfile": "x"}, "gpuProfile", "is a string, but must be an object"),
        ({"gpuProfile": {"drivr": "x"}}, "gpuProfile.drivr", "is not a property of GPUProfileArgs"),
        ({"osType": 1}, "osType", "is an integer, but must be a string"),
    ],
)
def test_a_mistake_is_reported_with_its_path(more: dict[str, Any], path: str, reason: str) -> None:
    assert of_pool(**more) == [(path, reason)]


def test_mistakes_in_lists_of_objects_are_found() -> None:
    reported = mistakes(
        args_shape(containerservice.ManagedClusterArgs),
        {"resourceGroupName": "g", "agentPoolProfiles": [{"name": "a"}, {"cont": 1}]},
    )

    assert [path for path, _ in reported] == [
        "agentPoolProfiles[1].name",
        "agentPoolProfiles[1].cont",
    ]
