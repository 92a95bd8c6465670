from typing import Any

import pytest

from policies.rules.gpu_pool_autoscaling import gpu_pool_autoscaling
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import AGENT_POOL, CPU, changed, pool_cases

T4 = "Standard_NC8as_T4_v3"
NOT_SCALED = ("is not autoscaled", "enableAutoScaling, minCount and maxCount")


@pool_cases(
    [
        ({}, []),
        ({"enableAutoScaling": None}, [NOT_SCALED]),
        ({"enableAutoScaling": False}, [NOT_SCALED]),
        ({"enableAutoScaling": None, "vmSize": CPU}, []),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_pool_autoscaling, pool), expected)


AUTOSCALE = {"size": T4, "minCount": 2, "maxCount": 5}


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ({"autoscale": AUTOSCALE}, []),
        ({"autoscale": [AUTOSCALE]}, []),
        ({"manual": [{"size": CPU, "count": 1}], "autoscale": AUTOSCALE}, []),
        ({"manual": [{"size": T4, "count": 1}]}, [("virtualMachinesProfile.scale.autoscale",)]),
    ],
)
def test_pools_of_single_machines(scale: dict[str, Any], expected: list[tuple[str, ...]]) -> None:
    machines = {"vmSize": None, "enableAutoScaling": None, "minCount": None, "maxCount": None}
    pool = changed({**machines, "virtualMachinesProfile": {"scale": scale}})
    assert mention(findings(gpu_pool_autoscaling, AGENT_POOL.resource(pool)), expected)


def test_pools_whose_gpus_aks_manages_cannot_be_scaled() -> None:
    for managed in (
        {"gpuProfile": {"nvidia": {"managementMode": "Managed"}}},
        {"tags": {"EnableManagedGPUExperience": "true"}},
    ):
        pool = changed({"enableAutoScaling": None, **managed})
        assert findings(gpu_pool_autoscaling, AGENT_POOL.resource(pool)) == []
