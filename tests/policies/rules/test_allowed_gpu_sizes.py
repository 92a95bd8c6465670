from typing import Any

from policies.rules.allowed_gpu_sizes import allowed_gpu_sizes
from tests.policies.policy_harness import findings
from tests.policies.pool_variants import AGENT_POOL, CPU, VALID, Form, pool_cases

SIZES = ["Standard_NC24ads_A100_v4", "Standard_NC16as_T4_v3"]


@pool_cases(
    [
        ({"vmSize": SIZES[0]}, []),
        ({"vmSize": SIZES[1].upper()}, []),
        ({"vmSize": CPU}, []),
        ({}, [f"has the GPU size Standard_NC8as_T4_v3. Allowed are {', '.join(SIZES)}."]),
    ]
)
def test_in_every_form(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    assert findings(allowed_gpu_sizes, form.resource(pool), config={"sizes": SIZES}) == expected


def test_is_silent_until_it_is_told_which() -> None:
    assert findings(allowed_gpu_sizes, AGENT_POOL.resource(VALID)) == []
