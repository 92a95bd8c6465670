import pytest

from policies.rules.gpu_pool_tainted import gpu_pool_tainted
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import CPU, INLINE_FORMS, changed, pool_cases

SPOT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
REFUSED = ("Standard_NC8as_T4_v3", "sku=gpu:NoSchedule", "nodeTaints")


@pool_cases(
    [
        ({"nodeTaints": ["sku=gpu:NoSchedule"]}, []),
        ({"nodeTaints": ["nvidia.com/gpu=present:NoExecute"]}, []),
        ({"nodeTaints": ["a=b:PreferNoSchedule", "nvidia.com/gpu:NoSchedule"]}, []),
        ({"nodeTaints": None}, [REFUSED]),
        ({"nodeTaints": []}, [REFUSED]),
        ({"nodeTaints": ["sku=gpu:PreferNoSchedule"]}, [REFUSED]),
        ({"nodeTaints": [SPOT]}, [REFUSED]),
        ({"nodeTaints": None, "nodeInitializationTaints": ["sku=gpu:NoSchedule"]}, []),
        ({"nodeTaints": None, "vmSize": CPU}, []),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_pool_tainted, pool), expected)


def test_the_default_pool_of_a_classic_cluster_cannot_have_taints() -> None:
    """The remedy named a property that is not there."""
    (found,) = findings(gpu_pool_tainted, INLINE_FORMS[-1].resource({"vmSize": "Standard_NC6"}))
    assert "Move the GPUs to a pool of its own with the taint sku=gpu:NoSchedule" in found
    assert "nodeTaints" not in found


@pytest.mark.parametrize(("critical_only", "found"), [(True, 0), (False, 1)])
def test_the_one_taint_of_a_classic_cluster(critical_only: bool, found: int) -> None:
    pool = changed({"onlyCriticalAddonsEnabled": critical_only})
    assert len(findings(gpu_pool_tainted, INLINE_FORMS[-1].resource(pool))) == found
