from policies.rules.gpu_pool_whole_racks import gpu_pool_whole_racks
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import pool_cases

RACK = {"vmSize": "Standard_ND128isr_GB300_v6"}
FIXED = {**RACK, "enableAutoScaling": False, "minCount": None, "maxCount": None}
HALF = {"upgradeSettings": {"maxSurge": "50%"}}
WHOLE = {"upgradeSettings": {"maxUnavailable": "1"}}


@pool_cases(
    [
        ({}, []),
        ({**RACK, **WHOLE, "maxCount": 36}, []),
        ({**FIXED, **WHOLE, "count": 18}, []),
        ({**FIXED, "count": 18, "upgradeSettings": {"maxSurge": "18"}}, []),
        ({**FIXED, "count": 18, "scaleSetPriority": "Spot"}, []),
        ({**FIXED, "count": 0}, []),
        ({**RACK, **WHOLE, "maxCount": 20}, [("20 nodes of", "multiple of 18")]),
        ({**RACK, **WHOLE, "minCount": 1, "maxCount": 18}, [("1 nodes of",)]),
        ({**FIXED, **WHOLE, "count": None}, [("1 nodes of",)]),
        ({**RACK, **WHOLE, "minCount": 0, "maxCount": 18, "count": 1}, [("1 nodes of",)]),
        (
            {**RACK, "minCount": 18, "maxCount": 36, "count": 18, **HALF},
            [("upgrade of 18 adds 9",)],
        ),
        # By default an upgrade adds a tenth.
        ({**FIXED, "count": 36}, [("an upgrade of 36 adds 4", "maxUnavailable")]),
    ]
)
def test_whole_racks(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_pool_whole_racks, pool), expected)
