from typing import Any

from policies.gpu_pool_autoscaling import gpu_pool_autoscaling
from tests.policies.forms import AGENT_POOL, CPU, Form, changed, pool_cases
from tests.policies.handing_over import findings

NOT_SCALED = (
    "has GPUs and is not autoscaled: its nodes are paid for whether they are used or not. Set "
    "<enableAutoScaling>, minCount and maxCount."
)


def without(bounds: str) -> str:
    return f"has <enableAutoScaling> without {bounds}: AKS asks for both bounds."


@pool_cases(
    [
        ({}, []),
        ({"enableAutoScaling": None}, [NOT_SCALED]),
        ({"enableAutoScaling": False}, [NOT_SCALED]),
        ({"enableAutoScaling": None, "vmSize": CPU}, []),
        ({"minCount": None}, [without("minCount")]),
        ({"minCount": None, "maxCount": None}, [without("minCount and maxCount")]),
    ]
)
def test_in_every_form(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    assert findings(gpu_pool_autoscaling, form.resource(pool)) == expected


def test_pools_whose_gpus_aks_manages_cannot_be_scaled() -> None:
    for managed in (
        {"gpuProfile": {"nvidia": {"managementMode": "Managed"}}},
        {"tags": {"EnableManagedGPUExperience": "true"}},
    ):
        pool = changed({"enableAutoScaling": None, **managed})
        assert findings(gpu_pool_autoscaling, AGENT_POOL.resource(pool)) == []
