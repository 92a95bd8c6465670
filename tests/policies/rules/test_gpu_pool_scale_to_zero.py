from typing import Any

import pytest

from policies.rules.gpu_pool_scale_to_zero import gpu_pool_scale_to_zero
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import AGENT_POOL, CPU, changed, pool_cases

T4 = "Standard_NC8as_T4_v3"
FOUND = ("at least 2 nodes", "minCount to 0")


@pool_cases(
    [
        ({"minCount": 0}, []),
        ({"minCount": 2}, [FOUND]),
        ({"minCount": 2, "vmSize": CPU}, []),
        ({"minCount": 2, "enableAutoScaling": False}, []),
        ({"minCount": 2, "mode": "System"}, []),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_pool_scale_to_zero, pool), expected)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ({"autoscale": {"size": T4, "minCount": 2, "maxCount": 5}}, [FOUND]),
        ({"autoscale": {"size": T4, "minCount": 0, "maxCount": 5}}, []),
        ({"autoscale": {"size": CPU, "minCount": 2, "maxCount": 5}}, []),
        ({"manual": [{"size": T4, "count": 2}]}, []),
    ],
)
def test_pools_of_single_machines(scale: dict[str, Any], expected: list[tuple[str, ...]]) -> None:
    machines = {"vmSize": None, "enableAutoScaling": None, "minCount": None, "maxCount": None}
    pool = changed({**machines, "virtualMachinesProfile": {"scale": scale}})
    assert mention(findings(gpu_pool_scale_to_zero, AGENT_POOL.resource(pool)), expected)


@pytest.mark.parametrize(
    ("stack", "names", "found"),
    [
        ("prod", None, 0),
        ("Production", None, 0),
        ("dev", None, 1),
        ("preprod", None, 1),
        ("prod", ["live"], 1),
        ("live", ["Live"], 0),
        ("eu-live", ["*-live"], 0),
    ],
)
def test_which_stacks_are_production(stack: str, names: list[str] | None, found: int) -> None:
    pool = AGENT_POOL.resource(changed({"minCount": 2}), stack=stack)
    config = {"productionStacks": names} if names else None
    assert len(findings(gpu_pool_scale_to_zero, pool, config=config)) == found
