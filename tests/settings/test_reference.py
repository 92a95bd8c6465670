"""What is written of a stack file's keys, in the README and in Pulumi.yaml, is what it can say."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from settings import GpuPool, Settings, SystemPool
from settings.section import Section

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
# The rows of the table, and what follows on pools.
TABLE = README.split("| key | default | meaning |\n")[1].split("\n\n")[0]
ON_POOLS = README.split("Every pool has ")[1].split("For example:")[0]
DECLARED = {
    key.removeprefix("aks-gpu:"): declaration["description"]
    for key, declaration in yaml.safe_load((ROOT / "Pulumi.yaml").read_text())["config"].items()
}
# Told by a mistake alone: Linux is all there is, and what is no more.
UNSPOKEN = {"osType", "updatableHeaders"}
SECTIONS = {
    str(field.alias): field.annotation
    for field in Settings.model_fields.values()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
}
POOLS = {str(field.alias) for field in SystemPool.model_fields.values()}
OWN_OF_GPU_POOLS = {str(field.alias) for field in GpuPool.model_fields.values()} - POOLS - UNSPOKEN


def keys(section: type[Section]) -> set[str]:
    return {str(field.alias) for field in section.model_fields.values()}


def rows() -> dict[str, tuple[str, str]]:
    """Of each key: its default, and its meaning."""
    cells = [line.strip("| ").split(" | ") for line in TABLE.splitlines()[1:]]
    return {
        cell[0].strip("`"): (cell[1].strip("` "), cell[2]) if len(cell) > 2 else ("", cell[1])
        for cell in cells
    }


def test_the_readme_has_a_row_for_each_key() -> None:
    assert set(rows()) == keys(Settings)
    assert get_args(Settings.model_fields["gpu_pools"].annotation) == (GpuPool,)


@pytest.mark.parametrize("section", sorted(set(SECTIONS) - {"systemPool"}))
def test_a_row_of_the_readme_names_the_keys_of_its_part(section: str) -> None:
    meaning = rows()[section][1]
    named = set(re.findall(r"`([a-z][A-Za-z]+)(?:: true)?`", meaning))

    assert keys(SECTIONS[section]) <= named


def test_the_readme_names_the_keys_of_pools() -> None:
    named = set(re.findall(r"`([a-z][A-Za-z]+)`", ON_POOLS))

    assert named >= POOLS | OWN_OF_GPU_POOLS


def test_the_defaults_in_the_readme_are_those_of_the_settings() -> None:
    defaults = json.loads(Settings().model_dump_json(by_alias=True))
    for key, (default, meaning) in rows().items():
        parts: dict[str, Any] = defaults[key] if isinstance(defaults[key], dict) else {}
        for name, text in re.findall(r"`(\w+)` \(`?([\w.-]+)`?[,;)]", meaning):
            if name in parts and text not in ("AKS",):
                assert json.dumps(parts[name]).strip('"') == text, f"{key}.{name}"
        if default and default != "none":
            assert json.dumps(defaults[key]).strip('"') == default, key


@pytest.mark.parametrize("section", sorted(SECTIONS))
def test_the_project_file_names_the_keys_of_each_part(section: str) -> None:
    words = set(re.findall(r"\w+", DECLARED[section]))

    assert keys(SECTIONS[section]) <= words


def test_the_project_file_names_the_keys_of_gpu_pools() -> None:
    assert set(re.findall(r"\w+", DECLARED["gpuPools"])) >= OWN_OF_GPU_POOLS
