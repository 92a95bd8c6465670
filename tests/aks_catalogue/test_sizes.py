import csv
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

import aks_catalogue
from aks_catalogue.images import SPECIALIZED_IMAGE_RETIRED_ON
from aks_catalogue.retirement import BEFORE_ALL_RETIREMENTS, SUCCESSORS
from aks_catalogue.sizes import architecture, find, gpu_sizes, is_gpu_size


def test_knows_the_smallest_size_of_the_article() -> None:
    size = find("standard_nc6")

    assert size is not None
    assert (size.name, size.vcpus, size.memory_gib) == ("Standard_NC6", 6, 56)
    assert size.gpus == Fraction(1)
    assert (size.gpu_model, size.retired_on) == ("Tesla K80", date(2023, 9, 6))


def test_the_table_has_fractions_of_gpus_generations_and_unknown_values() -> None:
    part, unknown = find("Standard_NV6ads_A10_v5"), find("Standard_ND96ams_v4")

    assert part is not None
    assert (part.gpus, part.generations) == (Fraction(1, 6), frozenset({"Gen1", "Gen2"}))
    assert unknown is not None
    assert (unknown.gpus, unknown.generations, unknown.gpu_memory_gib) == (None, frozenset(), None)


def test_the_architecture_is_read_from_the_name() -> None:
    """A size with Grace whose name has a second number was taken for amd64."""
    for size in gpu_sizes().values():
        is_arm = "Arm64" in size.gpu_model
        assert architecture(size.name) == ("arm64" if is_arm else "amd64"), size.name
    assert architecture("Standard_D4pds_v5") == "arm64"
    assert architecture("Standard_NC1_H900_v9") is None
    # Such a name took minutes.
    assert architecture(f"a1{'a' * 100_000}\n") == "amd64"


# By their names, what is known of them: the GPUs of a machine, their model, and whether AKS brings
# a driver. What no source tells is not known.
@pytest.mark.parametrize(
    ("name", "gpus", "model", "aks_driver"),
    [
        ("Standard_ND96is_MI300X_v5", 8, "Instinct MI300X", None),
        ("Standard_ND96isrf_H200_v5", 8, "H200 141GB", True),
        ("Standard_ND96isf_H200_v5", None, "H200 141GB", True),
        ("Standard_ND120amsr_A100_v4", None, "A100 80GB", True),
        ("Standard_ND40s_v3", 8, "V100", True),
        ("Standard_NC40ads_H100_v5", 1, "H100 94GB", True),
        ("Standard_NCC40ads_H100_v5", 1, "H100 94GB (confidential)", False),
        ("Standard_NG32ads_V620_v1", 1, "Radeon PRO V620", False),
        ("Standard_NV6s_v2", 1, "Tesla M60", False),
    ],
)
def test_unusual_sizes_have_their_properties(
    name: str, gpus: int | None, model: str, aks_driver: bool | None
) -> None:
    size = find(name)
    assert size is not None
    assert (size.gpus, size.gpu_model, size.aks_driver) == (gpus, model, aks_driver)


def test_sizes_with_infiniband_have_an_r_in_their_name_and_racks_are_grace_blackwells() -> None:
    sizes = gpu_sizes().values()
    with_infiniband = {size.name for size in sizes if size.rdma and not size.retired_on}
    assert {"Standard_ND96isr_H100_v5", "Standard_ND96isr_MI300X_v5"} <= with_infiniband
    assert not {"Standard_ND96is_noIB_H100_v5", "Standard_NC24ads_A100_v4"} & with_infiniband
    # Nothing says it of this one.
    assert [size.name for size in sizes if size.rdma is None] == ["Standard_NV24r"]
    racks = {size.name: size.rack for size in sizes if size.rack}
    assert racks == dict.fromkeys((name for name in racks if "GB" in name), 18)
    assert len(racks) == 3


def test_retired_families_have_available_successors() -> None:
    retired = {size.family for size in gpu_sizes().values() if size.retired_on}
    assert retired == SUCCESSORS.keys()
    for successor in SUCCESSORS.values():
        size = find(successor)
        assert size is not None
        assert size.retired_on is None


def test_before_any_retirement_is_earlier_than_every_retirement() -> None:
    days = [size.retired_on for size in gpu_sizes().values() if size.retired_on]
    assert min(*days, SPECIALIZED_IMAGE_RETIRED_ON) > BEFORE_ALL_RETIREMENTS


def test_every_row_is_a_unique_gpu_size() -> None:
    table = Path(aks_catalogue.__file__).with_name("gpu_sizes.csv")
    names = [row["name"] for row in csv.DictReader(table.read_text().splitlines())]
    assert len(gpu_sizes()) == len(names) > 100
    assert all(is_gpu_size(size.name) for size in gpu_sizes().values())


@pytest.mark.parametrize("name", ["Standard_D4ds_v5", "Standard_NP10s", "", "Standard_B2ms"])
def test_sizes_of_other_series_are_no_gpu_sizes(name: str) -> None:
    assert not is_gpu_size(name)


def test_an_unknown_size_of_a_gpu_series_is_a_gpu_size() -> None:
    assert find("Standard_NC999_v9") is None
    assert is_gpu_size("Standard_NC999_v9")


@pytest.mark.parametrize(
    ("size", "model", "count"),
    [
        ("Standard_NC6", "Tesla K80", 1),
        ("standard_nc24", "Tesla K80", 4),
        ("Standard_NV6ads_A10_v5", "A10", 1),
        ("Standard_ND96asr_v4", "A100 40GB", 8),
    ],
)
def test_a_size_has_its_number_of_devices(size: str, model: str, count: int) -> None:
    gpu_size = find(size)
    assert gpu_size is not None
    assert (gpu_size.gpu_model, gpu_size.devices) == (model, count)


def test_a_cpu_size_is_no_gpu_size() -> None:
    assert find("Standard_D4ds_v5") is None
