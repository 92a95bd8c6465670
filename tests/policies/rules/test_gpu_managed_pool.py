"""Pools whose GPUs AKS manages, and the cluster autoscaler."""

from typing import Any

from policies.rules.gpu_managed_pool import gpu_managed_pool
from tests.policies.gpu_stacks import MANAGED
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import CPU, pool_cases

UNMANAGED: dict[str, Any] = {"gpuProfile": {"nvidia": {"managementMode": "Unmanaged"}}}
SCALED: dict[str, Any] = {"enableAutoScaling": True}
REFUSED: list[tuple[str, ...]] = [
    ("is autoscaled, which AKS does not support", "Remove enableAutoScaling, minCount and maxCount")
]


@pool_cases(
    [
        ({**MANAGED, **SCALED}, REFUSED),
        ({**MANAGED, "enableAutoScaling": None}, []),
        ({**MANAGED, "enableAutoScaling": False}, []),
        ({**UNMANAGED, **SCALED}, []),
        ({**SCALED}, []),
        # What AKS does with the tag of the first preview is not known.
        ({"tags": {"EnableManagedGPUExperience": "true"}, **SCALED}, []),
        ({**MANAGED, **SCALED, "vmSize": CPU}, []),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    """AKS refused the pool when the cluster had been created."""
    assert mention(findings(gpu_managed_pool, pool), expected)
