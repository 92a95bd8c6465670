from pathlib import Path

import pytest

from renew import cpu_sizes

HEADER = "name,vcpus,memory_gib,quota_family,generations,cache_gib,temp_gib\n"


def listed(name: str, family: str, vcpus: int, memory: int) -> str:
    return f'''
	"{name}": {{
		InstanceType: "{name}",
		SkuFamily:    "{family}",
		VCPU:         {vcpus},
		MemoryMb:     {memory},
		GPU:          0,
	}},'''


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    table = tmp_path / "cpu_sizes.csv"
    table.write_text(
        f"{HEADER}Standard_D1_v2,1,3.5,standardDv2Family,Gen1,,\n"
        "Standard_D2as_v6,2,8,aGuess,Gen2,0,0\n"
        "Standard_D2s_v9,2,8,standardDsv9Family,Gen2,,\n"
    )
    monkeypatch.setattr(cpu_sizes, "TABLE", table)
    return table


def test_what_the_list_knows_is_its_own_and_the_rest_stays(table: Path) -> None:
    """A guessed family is corrected, half a GiB that the list rounds stays, GPUs are elsewhere."""
    said = cpu_sizes.renew(
        listed("Standard_D1_v2", "standardDv2Family", 1, 3072)
        + listed("Standard_D2as_v6", "standardDav6Family", 2, 8192)
        + listed("Standard_E4_v3", "standardEv3Family", 4, 32768)
        + listed("Standard_NC8as_T4_v3", "Standard NCASv3_T4 Family", 8, 57344)
    )
    assert said == "cpu_sizes.csv: 1 sizes are new, 1 have changed.\n"
    assert table.read_text() == (
        f"{HEADER}Standard_D1_v2,1,3.5,standardDv2Family,Gen1,,\n"
        "Standard_D2as_v6,2,8,standardDav6Family,Gen2,0,0\n"
        "Standard_D2s_v9,2,8,standardDsv9Family,Gen2,,\n"
        "Standard_E4_v3,4,32,standardEv3Family,,,\n"
    )


def test_a_page_without_sizes_changes_nothing(table: Path) -> None:
    before = table.read_text()
    with pytest.raises(ValueError, match="no sizes in this list"):
        cpu_sizes.renew("<html>Not found</html>")
    assert table.read_text() == before
