import re

import pytest

from aks_catalogue import mig
from aks_catalogue.sizes import find, gpu_sizes

# A row a GPU: one size that has it, and what its slices are called, from the smallest profile on.
NAMES = {
    "Standard_ND96asr_v4": "1g.5gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb",
    "Standard_NC24ads_A100_v4": "1g.10gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb",
    "Standard_ND96isr_H100_v5": "1g.10gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb",
    "Standard_NC40ads_H100_v5": "1g.12gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb",
    "Standard_ND96isr_H200_v5": "1g.18gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb",
}


@pytest.mark.parametrize("name", NAMES)
def test_slices_are_called_as_nvidia_calls_them(name: str) -> None:
    size = find(name)
    assert size is not None

    slices = [mig.slices(size, profile) for profile in mig.PROFILES]

    counts = (7, 3, 2, 1, 1)
    assert slices == [mig.Slices(*row) for row in zip(NAMES[name].split(), counts, strict=True)]


def test_every_size_that_can_be_divided_has_its_slices_and_no_other_has() -> None:
    """A new row of gpu_sizes.csv with mig has to come with the names of its slices."""
    for size in gpu_sizes().values():
        if size.mig is not None:
            assert (mig.slices(size, "MIG1g") is not None) == size.mig, size.name


def test_slices_fit_into_their_gpu() -> None:
    for size in filter(lambda size: size.mig, gpu_sizes().values()):
        for profile in mig.PROFILES:
            slices = mig.slices(size, profile)
            assert slices is not None
            parts = re.fullmatch(r"(\d)g\.(\d+)gb", slices.profile)
            assert parts is not None
            assert int(parts[1]) * slices.per_gpu <= 7
            # The names round up: two slices of 71 gigabytes are of one GPU with 141.
            assert (int(parts[2]) - 1) * slices.per_gpu < (size.gpu_memory_gib or 0)


@pytest.mark.parametrize("profile", ["MIG5g", "mig1g", "1g.5gb", ""])
def test_other_profiles_divide_nothing(profile: str) -> None:
    size = find("Standard_NC24ads_A100_v4")
    assert size is not None
    assert mig.slices(size, profile) is None
    assert profile not in mig.PROFILES
