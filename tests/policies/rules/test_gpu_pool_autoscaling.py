from typing import Any

import pytest

from policies.rules.gpu_pool_autoscaling import gpu_pool_autoscaling
from tests.policies.policy_harness import findings
from tests.policies.pool_variants import AGENT_POOL, CPU, Form, changed, pool_cases

T4 = "Standard_NC8as_T4_v3"
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


AUTOSCALE = {"size": T4, "minCount": 2, "maxCount": 5}
BY = "virtualMachinesProfile.scale.autoscale"


@pytest.mark.parametrize(
    ("scale", "found"),
    [
        ({"autoscale": AUTOSCALE}, []),
        ({"autoscale": [AUTOSCALE]}, []),
        ({"manual": [{"size": CPU, "count": 1}], "autoscale": AUTOSCALE}, []),
        ({"manual": [{"size": T4, "count": 1}]}, [NOT_SCALED.replace("<enableAutoScaling>", BY)]),
        (
            {"autoscale": {"size": T4, "minCount": 2}},
            [without("maxCount").replace("<enableAutoScaling>", BY)],
        ),
    ],
)
def test_pools_of_single_machines(scale: dict[str, Any], found: list[str]) -> None:
    machines = {"vmSize": None, "enableAutoScaling": None, "minCount": None, "maxCount": None}
    pool = changed({**machines, "virtualMachinesProfile": {"scale": scale}})
    told = findings(gpu_pool_autoscaling, AGENT_POOL.resource(pool))
    assert told == [f"This pool {text}" for text in found]


def test_pools_whose_gpus_aks_manages_cannot_be_scaled() -> None:
    for managed in (
        {"gpuProfile": {"nvidia": {"managementMode": "Managed"}}},
        {"tags": {"EnableManagedGPUExperience": "true"}},
    ):
        pool = changed({"enableAutoScaling": None, **managed})
        assert findings(gpu_pool_autoscaling, AGENT_POOL.resource(pool)) == []
