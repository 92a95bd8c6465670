"""What a node of a size has."""

import pytest

from rehearsal.control_planes import sizes
from rehearsal.control_planes.sizes import Room


def test_the_articles_node_has_the_articles_capacity() -> None:
    assert sizes.room("Standard_NC6", 110) == Room(6, 5916, 57713784, 51702904)
    assert sizes.room("standard_nc6", 30) == Room(6, 5916, 57713784, 51702904)


@pytest.mark.parametrize(
    ("size", "cpus", "allocatable", "gibibytes"),
    [
        ("Standard_NC8as_T4_v3", 8, 7820, 56),
        ("Standard_D4ds_v5", 4, 3860, 16),
        ("Standard_E16s_v5", 16, 15740, 128),
        ("Standard_F2s_v2", 2, 1900, 4),
        # Between the rows of the table for 8 and for 16 cores.
        ("Standard_D12_v2", 12, 11780, 48),
        # Beyond its end.
        ("Standard_ND96asr_v4", 96, 95260, 900),
        ("custom", 2, 1900, 8),
    ],
)
def test_a_node_has_the_allocatable_cores_and_memory_of_its_size(
    size: str, cpus: int, allocatable: int, gibibytes: int
) -> None:
    room = sizes.room(size, 30)
    assert (room.cpus, room.millicpus_allocatable) == (cpus, allocatable)
    assert 0.97 < room.kibibytes / (gibibytes << 20) < 1


def test_memory_is_reserved_for_each_pod_and_never_more_than_a_quarter() -> None:
    few, many = sizes.room("Standard_D4ds_v5", 30), sizes.room("Standard_D4ds_v5", 110)
    assert few.kibibytes - few.kibibytes_allocatable == (30 * 20 + 50 + 100) << 10
    assert few.kibibytes_allocatable - many.kibibytes_allocatable == (80 * 20) << 10
    small = sizes.room("Standard_F2s_v2", 250)
    assert small.kibibytes - small.kibibytes_allocatable == (1024 + 100) << 10
