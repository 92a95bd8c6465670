from typing import Any

from policies.rules.gpu_spot_settings import gpu_spot_settings
from tests.policies.policy_harness import findings
from tests.policies.pool_variants import CPU, Form, pool_cases

SPOT = {"scaleSetPriority": "Spot", "scaleSetEvictionPolicy": "Delete"}
SURGE = {"upgradeSettings": {"maxSurge": "33%"}}


@pool_cases(
    [
        ({}, []),
        (SPOT, []),
        ({**SPOT, "scaleSetEvictionPolicy": None}, []),
        ({**SPOT, "upgradeSettings": {}}, []),
        (SURGE, []),
        (
            {**SPOT, **SURGE},
            [
                "is a spot pool and has upgradeSettings.maxSurge 33%: AKS upgrades spot pools "
                "without a surge, and refuses one. Leave it out."
            ],
        ),
        (
            {**SPOT, "scaleSetEvictionPolicy": "Deallocate"},
            [
                "is a spot pool and has <scaleSetEvictionPolicy> Deallocate: evicted nodes stay, "
                "with their disks and in the quota, and nothing starts them again. Set it to "
                "Delete."
            ],
        ),
        ({**SPOT, **SURGE, "scaleSetEvictionPolicy": "Deallocate", "vmSize": CPU}, []),
    ]
)
def test_in_every_form(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    assert findings(gpu_spot_settings, form.resource(pool)) == expected
