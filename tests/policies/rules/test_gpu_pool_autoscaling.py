from typing import Any

import pytest

from policies.rules.gpu_pool_autoscaling import gpu_pool_autoscaling
from tests.policies.gpu_stacks import MANAGED
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import AGENT_POOL, CPU, changed, pool_cases

T4 = "Standard_NC8as_T4_v3"
NOT_SCALED = ("is not autoscaled", "enableAutoScaling, minCount and maxCount")
TAGGED = {"tags": {"EnableManagedGPUExperience": "true"}}


@pool_cases(
    [
        ({}, []),
        ({"enableAutoScaling": None}, [NOT_SCALED]),
        ({"enableAutoScaling": False}, [NOT_SCALED]),
        ({"enableAutoScaling": None, "vmSize": CPU}, []),
        # AKS cannot scale what it manages.
        ({"enableAutoScaling": None, **MANAGED}, []),
        ({"enableAutoScaling": None, **TAGGED}, []),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_pool_autoscaling, pool), expected)


AUTOSCALE = {"size": T4, "minCount": 2, "maxCount": 5}


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ({"manual": [{"size": CPU, "count": 1}], "autoscale": [AUTOSCALE]}, []),
        ({"manual": [{"size": T4, "count": 1}]}, [("virtualMachinesProfile.scale.autoscale",)]),
    ],
)
def test_pools_of_single_machines(scale: dict[str, Any], expected: list[tuple[str, ...]]) -> None:
    machines = {"vmSize": None, "enableAutoScaling": None, "minCount": None, "maxCount": None}
    pool = changed({**machines, "virtualMachinesProfile": {"scale": scale}})
    assert mention(findings(gpu_pool_autoscaling, AGENT_POOL.resource(pool)), expected)
