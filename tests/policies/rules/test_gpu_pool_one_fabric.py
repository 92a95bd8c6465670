from typing import Any

import pytest

from policies.rules.gpu_pool_one_fabric import gpu_pool_one_fabric
from tests.policies.policy_harness import Resource, findings
from tests.policies.pool_variants import AGENT_POOL, changed

FABRIC = "Standard_ND96isr_H100_v5"
FEATURE = "AKSInfinibandSupport"
SAID = [
    f"This pool has {FABRIC}, which has InfiniBand, and the program does not register "
    f"Microsoft.ContainerService/{FEATURE}. Unless the subscription has it, the nodes may be on "
    "several InfiniBand networks."
]


def pool(**changes: Any) -> Resource:
    return AGENT_POOL.resource(changed({"vmSize": FABRIC, **changes}))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, SAID),
        ({"enableAutoScaling": False, "count": 2, "minCount": None, "maxCount": None}, SAID),
        # A node alone has no other to reach.
        ({"maxCount": 1}, []),
        ({"enableAutoScaling": False, "count": 1, "minCount": None, "maxCount": None}, []),
        ({"vmSize": "Standard_ND96is_H100_v5"}, []),
        ({"vmSize": "Standard_NC999r_v9"}, []),
    ],
)
def test_a_pool_of_several_nodes_with_infiniband(
    changes: dict[str, Any], expected: list[str]
) -> None:
    assert findings(gpu_pool_one_fabric, pool(**changes)) == expected


@pytest.mark.parametrize(
    ("kind", "properties", "expected"),
    [
        ("aks-preview:features:FeatureRegistration", {"featureName": FEATURE.lower()}, []),
        ("aks-preview:features:FeatureRegistration", {"featureName": "Other"}, SAID),
    ],
)
def test_a_program_that_registers_the_feature(
    kind: str, properties: dict[str, Any], expected: list[str]
) -> None:
    feature = Resource(type=kind, properties=properties, name="feature")
    assert findings(gpu_pool_one_fabric, feature, pool()) == expected
