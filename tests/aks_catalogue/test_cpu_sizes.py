import pytest

from aks_catalogue.sizes import cpu_sizes, is_gpu_size


@pytest.mark.parametrize(
    ("name", "vcpus", "memory_gib", "family"),
    [
        ("standard_ds2_v2", 2, 7.0, "standardDSv2Family"),
        ("standard_d4ds_v5", 4, 16.0, "standardDDSv5Family"),
        ("standard_d2s_v3", 2, 8.0, "standardDSv3Family"),
        ("standard_e64s_v3", 64, 432.0, "standardESv3Family"),
        ("standard_f2s_v2", 2, 4.0, "standardFSv2Family"),
        # Of programs of other teams, whose rehearsals ended with a size that nobody knew.
        ("standard_a2_v2", 2, 4.0, "standardAv2Family"),
        ("standard_b4als_v2", 4, 8.0, "standardBasv2Family"),
    ],
)
def test_reads_the_properties_of_a_size(
    name: str, vcpus: int, memory_gib: float, family: str
) -> None:
    size = cpu_sizes()[name]
    assert (size.vcpus, size.memory_gib, size.quota_family) == (vcpus, memory_gib, family)


def test_every_row_is_a_unique_size_without_gpus() -> None:
    assert len(cpu_sizes()) == 311
    for key, size in cpu_sizes().items():
        assert key == size.name.lower()
        assert not is_gpu_size(size.name)
        assert size.vcpus > 0
        assert size.memory_gib is not None
        assert size.memory_gib > 0
        assert size.quota_family is not None
        assert size.quota_family.lower().startswith("standard")
        assert size.generations <= {"Gen1", "Gen2"}
