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
        # Series that were missing: plain E of v3, Arm, confidential, isolated, and the newest.
        ("standard_e4_v3", 4, 32.0, "standardEv3Family"),
        ("standard_d4ps_v5", 4, 16.0, "standardDPSv5Family"),
        ("standard_dc4as_v5", 4, 16.0, "standardDCASv5Family"),
        ("standard_e104is_v5", 104, 672.0, "standardEISv5Family"),
        ("standard_d4ads_v7", 4, 16.0, "StandardDadsv7Family"),
        # Their family had a name that Azure does not use.
        ("standard_d4as_v6", 4, 16.0, "standardDav6Family"),
    ],
)
def test_reads_the_properties_of_a_size(
    name: str, vcpus: int, memory_gib: float, family: str
) -> None:
    size = cpu_sizes()[name]
    assert (size.vcpus, size.memory_gib, size.quota_family) == (vcpus, memory_gib, family)


def test_every_row_is_a_unique_size_without_gpus() -> None:
    assert len(cpu_sizes()) > 1300
    for key, size in cpu_sizes().items():
        assert key == size.name.lower()
        assert not is_gpu_size(size.name)
        assert size.vcpus > 0
        assert size.memory_gib is None or size.memory_gib > 0
        assert size.quota_family is not None
        assert size.quota_family.lower().startswith("standard")
        assert size.generations <= {"Gen1", "Gen2"}
