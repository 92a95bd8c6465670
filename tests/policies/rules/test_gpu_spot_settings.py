from policies.rules.gpu_spot_settings import gpu_spot_settings
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import CPU, pool_cases

SPOT = {"scaleSetPriority": "Spot", "scaleSetEvictionPolicy": "Delete"}
SURGE = {"upgradeSettings": {"maxSurge": "33%"}}


@pool_cases(
    [
        ({}, []),
        (SPOT, []),
        ({**SPOT, "scaleSetEvictionPolicy": None}, []),
        ({**SPOT, "upgradeSettings": {}}, []),
        (SURGE, []),
        ({**SPOT, **SURGE}, [("upgradeSettings.maxSurge 33%",)]),
        ({**SPOT, "upgradeSettings": {"maxUnavailable": "0"}}, []),
        (
            {**SPOT, "upgradeSettings": {"maxUnavailable": "1"}},
            [("upgradeSettings.maxUnavailable 1",)],
        ),
        (
            {**SPOT, "scaleSetEvictionPolicy": "Deallocate"},
            [("scaleSetEvictionPolicy Deallocate", "Delete")],
        ),
        ({**SPOT, **SURGE, "scaleSetEvictionPolicy": "Deallocate", "vmSize": CPU}, []),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_spot_settings, pool), expected)
