from typing import Any

import pytest

from catalogue.sizes import gpu_sizes
from policies.rules.gpu_pool_minimum_size import gpu_pool_minimum_size
from tests.policies.policy_harness import findings
from tests.policies.pool_variants import AGENT_POOL, CPU, Form, changed, pool_cases


def below(said: str, of: str = "Standard_NC6") -> str:
    return f"which is below {of}: {said}. Take a larger size."


@pool_cases(
    [
        ({}, []),
        ({"vmSize": CPU}, []),
        ({"vmSize": "Standard_NC6"}, []),
        ({"vmSize": "standard_nc6"}, []),
        (
            {"vmSize": "Standard_NC4as_T4_v3"},
            [
                "has Standard_NC4as_T4_v3, "
                + below("4 vCPU where 6 is the least, 28 GiB of memory where 56 is the least")
            ],
        ),
        # Of this one a sixth of a GPU, and one GiB, are missing.
        (
            {"vmSize": "Standard_NV6ads_A10_v5"},
            [
                "has Standard_NV6ads_A10_v5, "
                + below("1/6 GPU where 1 is the least, 55 GiB of memory where 56 is the least")
            ],
        ),
        (
            {"vmSize": "Standard_NC9_v9"},
            [
                "has the GPU size Standard_NC9_v9, which the pack's table does not know: it cannot "
                "be compared with Standard_NC6. Take a size that is known, or name this one in the "
                "rule's acceptedSizes."
            ],
        ),
        (
            {"vmSize": "Standard_ND96is_MI300X_v5"},
            [
                "has Standard_ND96is_MI300X_v5, of which the pack's table does not know how much "
                "it has of GPU: it cannot be compared with Standard_NC6. Take another size, or "
                "name this one in the rule's acceptedSizes."
            ],
        ),
    ]
)
def test_in_every_form(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    assert findings(gpu_pool_minimum_size, form.resource(pool)) == expected


@pytest.mark.parametrize("vm_size", ["Standard_NC4as_T4_v3", "Standard_NC9_v9"])
def test_sizes_that_are_accepted_are_not_compared(vm_size: str) -> None:
    pool = AGENT_POOL.resource(changed({"vmSize": vm_size}))
    config = {"acceptedSizes": [vm_size.lower()]}
    assert findings(gpu_pool_minimum_size, pool, config=config) == []
    assert findings(gpu_pool_minimum_size, pool, config={"acceptedSizes": ["other"]}) != []


def test_the_floor_can_be_raised_and_lowered() -> None:
    t4 = AGENT_POOL.resource(changed({}))
    small = AGENT_POOL.resource(changed({"vmSize": "Standard_NC4as_T4_v3"}))

    assert findings(gpu_pool_minimum_size, t4, config={"floor": "Standard_NC24ads_A100_v4"}) == [
        "This pool has Standard_NC8as_T4_v3, "
        + below(
            "8 vCPU where 24 is the least, 56 GiB of memory where 220 is the least",
            "Standard_NC24ads_A100_v4",
        )
    ]
    assert findings(gpu_pool_minimum_size, small, config={"floor": "Standard_NC4as_T4_v3"}) == []


def test_every_floor_that_the_schema_offers_can_be_used() -> None:
    assert gpu_pool_minimum_size.config_schema is not None
    offered = gpu_pool_minimum_size.config_schema.properties["floor"]["enum"]
    assert {"Standard_NC6", "Standard_NC4as_T4_v3"} <= set(offered)
    assert {gpu_sizes()[name.lower()].name for name in offered} == set(offered)
