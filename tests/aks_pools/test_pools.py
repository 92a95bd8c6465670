"""A pool is read the same in every form that a program can give it."""

from typing import Any

import pytest

from aks_pools.gpus import are_nvidias, driver_by_aks
from aks_pools.pools import is_cluster, is_pool, pools_of
from aks_pools.values import UNKNOWN, OddValueError
from tests.policies.pool_variants import AGENT_POOL, CPU, FORMS, VALID, Form, changed, every_form

POOL: dict[str, Any] = {
    **VALID,
    "vmSize": "Standard_NV6ads_A10_v5",
    "osType": "Windows",
    "enableAutoScaling": False,
    "nodeTaints": ["a=b:NoSchedule"],
    "gpuInstanceProfile": "MIG1g",
    "scaleSetPriority": "Spot",
    "scaleSetEvictionPolicy": "Deallocate",
    "gpuProfile": {"driver": "None"},
}


@every_form(FORMS)
def test_every_property_is_read_and_named_as_it_is_written(form: Form) -> None:
    (read,) = pools_of(form.type, form.resource(POOL).properties)
    # An inline pool's name is not a property of azure-native's separate pools.
    known = POOL.keys() - form.lacks - {"agentPoolName"}

    assert {name: read.properties[name] for name in known} == {name: POOL[name] for name in known}
    assert {name: read.name_of(name) for name in known} == {name: form.said(name) for name in known}
    assert (read.label, read.inline) == (form.label, bool(form.inline))
    assert is_cluster(form.type) is not is_pool(form.type)


@every_form(FORMS)
def test_a_property_that_is_left_out_has_the_newest_name(form: Form) -> None:
    (read,) = pools_of(form.type, form.resource({"vmSize": CPU}).properties)
    newest = next(other for other in FORMS if other.type == form.type)

    for name in ("enableAutoScaling", "enableEncryptionAtHost"):
        assert read.name_of(name) == newest.said(name)
    assert not read.flag("enableEncryptionAtHost")


@pytest.mark.parametrize(
    ("changes", "bounds"),
    [
        ({}, (0, 2, 0)),
        ({"minCount": None, "maxCount": None, "count": None}, (None, None, None)),
        ({"enableAutoScaling": False, "count": 3}, (3, 3, 3)),
        ({"enableAutoScaling": "false", "count": "3"}, (3, 3, 3)),
        ({"enableAutoScaling": None, "count": None}, (1, 1, 1)),
        ({"count": 2.0, "minCount": "1.0"}, (1, 2, 2)),
    ],
)
def test_the_fewest_and_the_most_nodes(changes: dict[str, Any], bounds: tuple[Any, ...]) -> None:
    (pool,) = pools_of(AGENT_POOL.type, changed(changes))
    (machines,) = pool.machines()
    assert (machines.least, machines.most, machines.initial) == bounds


SINGLE = {"manual": {"size": CPU, "count": 2}, "autoscale": [{"sizes": ["Standard_NC6"]}]}


def test_a_pool_of_single_machines_has_several_sizes() -> None:
    profile = {"virtualMachinesProfile": {"scale": SINGLE}}
    (pool,) = pools_of(AGENT_POOL.type, profile)
    of_cpus, of_gpus = pool.machines()
    assert (of_cpus.vm_size, of_cpus.most, of_cpus.autoscaled) == (CPU, 2, False)
    assert (of_gpus.vm_size, of_gpus.most, of_gpus.autoscaled) == ("Standard_NC6", None, True)
    assert pool.gpu_sizes() == ["Standard_NC6"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"nodeTaints": "a=b:NoSchedule"}, "nodeTaints is not a list"),
        ({"nodeTaints": [["a"]]}, r"nodeTaints\[0\] is not a string"),
        ({"enableAutoScaling": "yes"}, "enableAutoScaling is neither true nor false"),
        ({"enableAutoScaling": 1.0}, "enableAutoScaling is neither true nor false"),
        ({"maxCount": "many"}, "maxCount is not a number"),
        ({"maxCount": True}, "maxCount is not a number"),
        ({"maxCount": UNKNOWN}, "maxCount is not a number"),
        ({"maxCount": "9" * 5000}, "maxCount is not a number"),
        ({"gpuProfile": "None"}, "gpuProfile is not an object"),
        ({"osType": {"a": 1}}, "osType is not a string"),
    ],
)
def test_an_odd_value_is_named(changes: dict[str, Any], says: str) -> None:
    """Its text has no value in it, which can be a secret."""
    (pool,) = pools_of(AGENT_POOL.type, changed(changes))
    with pytest.raises(OddValueError, match=f"^{says}$"):
        _ = pool.taints(), pool.runs_linux(), pool.part("gpuProfile"), next(pool.machines()).most


@pytest.mark.parametrize(
    ("changes", "nvidia", "driver"),
    [
        ({}, True, True),
        ({"gpuProfile": {"driver": "none"}}, True, False),
        ({"vmSize": "Standard_ND96isr_MI300X_v5"}, False, None),
        ({"vmSize": "Standard_NC9_v9"}, None, None),
        ({"vmSize": CPU}, False, False),
    ],
)
def test_whose_gpus_and_whose_driver(
    changes: dict[str, Any], nvidia: bool | None, driver: bool | None
) -> None:
    (pool,) = pools_of(AGENT_POOL.type, changed({"gpuProfile": None, **changes}))
    assert are_nvidias(pool) is nvidia
    assert driver_by_aks(pool) is driver
