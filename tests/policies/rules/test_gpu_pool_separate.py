from typing import Any

from policies.rules.gpu_pool_separate import gpu_pool_separate
from tests.policies.policy_harness import findings
from tests.policies.pool_variants import CPU, INLINE_FORMS, OWN_FORMS, Form, pool_cases

SYSTEM = (
    "has the GPU size Standard_NC8as_T4_v3 and is a system pool: the cluster's own pods take up "
    "its nodes, and it cannot be scaled to zero. Set mode to User, and have a system pool without "
    "GPUs."
)
INLINE = (
    "has the GPU size Standard_NC8as_T4_v3. Make it a resource of its own: to change one inline "
    "pool is to change the cluster, with all of its pools."
)


@pool_cases(
    [
        ({}, []),
        ({"mode": None}, []),
        ({"mode": "System"}, [SYSTEM]),
        ({"mode": "System", "vmSize": CPU}, []),
    ],
    OWN_FORMS,
)
def test_pools_of_their_own(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    assert findings(gpu_pool_separate, form.resource(pool)) == expected


@pool_cases(
    [({}, [INLINE]), ({"mode": "System"}, [INLINE, SYSTEM]), ({"vmSize": CPU}, [])],
    INLINE_FORMS,
)
def test_inline_pools(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    found = findings(gpu_pool_separate, form.resource(pool))
    # The classic provider's inline pool is a system pool whatever is said.
    also = [f"{form.label} {SYSTEM}"] if form.names and pool["vmSize"] != CPU else []
    assert found == expected + also
