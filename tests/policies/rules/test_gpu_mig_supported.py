from typing import Any

from policies.rules.gpu_mig_supported import gpu_mig_supported
from tests.policies.policy_harness import findings
from tests.policies.pool_variants import Form, pool_cases

A100 = "Standard_NC24ads_A100_v4"


@pool_cases(
    [
        ({}, []),
        # No profile at all, by the word of the API.
        ({"gpuInstanceProfile": "None"}, []),
        ({"gpuInstanceProfile": "MIG1g", "vmSize": A100}, []),
        (
            {"gpuInstanceProfile": "MIG5g", "vmSize": A100},
            [
                "has <gpuInstanceProfile> MIG5g, which is none: take one of MIG1g, MIG2g, MIG3g, "
                "MIG4g, MIG7g."
            ],
        ),
        (
            {"gpuInstanceProfile": "MIG1g"},
            [
                "has <gpuInstanceProfile> MIG1g, and the GPUs of Standard_NC8as_T4_v3 cannot be "
                "divided. MIG is for A100, H100 and H200, as Standard_NC24ads_A100_v4 has them."
            ],
        ),
        (
            {"gpuInstanceProfile": "MIG1g", "vmSize": "Standard_NC9_v9"},
            [
                "has <gpuInstanceProfile> MIG1g and Standard_NC9_v9, of which the pack's table "
                "does not know whether its GPUs can be divided."
            ],
        ),
    ]
)
def test_in_every_form(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    assert findings(gpu_mig_supported, form.resource(pool)) == expected
