from policies.rules.gpu_mig_supported import gpu_mig_supported
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import pool_cases

A100 = "Standard_NC24ads_A100_v4"


@pool_cases(
    [
        ({}, []),
        # No profile at all, by the word of the API.
        ({"gpuInstanceProfile": "None"}, []),
        ({"gpuInstanceProfile": "MIG1g", "vmSize": A100}, []),
        (
            {"gpuInstanceProfile": "MIG5g", "vmSize": A100},
            [("gpuInstanceProfile MIG5g", "MIG1g, MIG2g, MIG3g, MIG4g, MIG7g")],
        ),
        ({"gpuInstanceProfile": "MIG1g"}, [("MIG1g", "Standard_NC8as_T4_v3", A100)]),
        ({"gpuInstanceProfile": "MIG1g", "vmSize": "Standard_NC9_v9"}, []),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_mig_supported, pool), expected)
