"""Which sizes stand in for one that cannot be had."""

from typing import Any

import pytest

from aks_catalogue.sizes import FLOOR, gpu_sizes, is_below
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.sizes import nearest
from tests.aksgpu.preflight.conftest import offered

EVERY_GPU = [offered(size.name, vcpus=size.vcpus) for size in gpu_sizes().values()]
CPUS = [
    offered(name, vcpus=cores)
    for name, cores in (
        ("Standard_D4ds_v5", 4),
        ("Standard_D4s_v5", 4),
        ("Standard_D8ds_v5", 8),
        ("Standard_F4s_v2", 4),
        ("Standard_E64s_v5", 64),
    )
]


def pool(vm_size: str, **request: Any) -> PlannedPool:
    return PlannedPool("p", "p", {"vmSize": vm_size, "count": 1, **request})


@pytest.mark.parametrize(
    ("vm_size", "nearest_one"),
    [
        ("Standard_NC8as_T4_v3", "Standard_NC16as_T4_v3"),
        ("Standard_NC24ads_A100_v4", "Standard_NC48ads_A100_v4"),
        # The same GPU before the same number of them.
        ("Standard_NC40ads_H100_v5", "Standard_NC80adis_H100_v5"),
        # Nobody has that GPU any more: then as many, with as much memory.
        ("Standard_NC6s_v3", "Standard_NC8as_T4_v3"),
    ],
)
def test_the_nearest_size_has_a_similar_gpu(vm_size: str, nearest_one: str) -> None:
    assert nearest(pool(vm_size), EVERY_GPU)[0] == nearest_one


def test_the_nearest_sizes_are_valid_in_a_stack_file() -> None:
    every = [size.name for size in gpu_sizes().values()]
    for vm_size in every:
        near = [gpu_sizes()[name.lower()] for name in nearest(pool(vm_size), EVERY_GPU)]
        assert len(near) == 3
        assert vm_size not in {size.name for size in near}
        assert {size.gpu_vendor for size in near} == {"NVIDIA"}
        assert {size.retired_on for size in near} == {None}
        assert False not in {size.aks_driver for size in near}
        # A size was suggested that the pack refuses.
        assert not any(is_below(size, gpu_sizes()[FLOOR.lower()]) for size in near)


def test_the_nearest_sizes_have_the_same_gpu_vendor() -> None:
    near = nearest(pool("Standard_NV24ads_V710_v5", gpuProfile={"driver": "None"}), EVERY_GPU)
    assert {gpu_sizes()[name.lower()].gpu_vendor for name in near} == {"AMD"}


def test_the_nearest_sizes_of_a_mig_pool_support_mig() -> None:
    a100 = pool("Standard_NC24ads_A100_v4", gpuInstanceProfile="MIG1g")
    sizes = nearest(a100, [size for size in EVERY_GPU if "A100" not in size.name])
    assert all(gpu_sizes()[name.lower()].mig is not False for name in sizes)


def test_the_nearest_sizes_support_the_pools_zones_and_spot() -> None:
    t4, there, zoneless, spotless = (
        pool("Standard_NC8as_T4_v3", scaleSetPriority="Spot", availabilityZones=["1"]),
        offered("Standard_NC64as_T4_v3"),
        offered("Standard_NC16as_T4_v3", zones=frozenset()),
        offered("Standard_NC4as_T4_v3", can_be_spot=False),
    )
    assert nearest(t4, [zoneless, spotless, there], ("1",)) == ["Standard_NC64as_T4_v3"]


def test_the_nearest_cpu_size_has_a_similar_series_and_cores() -> None:
    sizes = nearest(pool("Standard_D4ds_v6"), [*CPUS, *EVERY_GPU])
    assert sizes == ["Standard_D4ds_v5", "Standard_D4s_v5", "Standard_D8ds_v5"]


def test_a_size_without_alternatives_has_no_nearest_size() -> None:
    assert nearest(pool("Standard_NC8as_T4_v3"), [offered("Standard_NC8as_T4_v3")]) == []
