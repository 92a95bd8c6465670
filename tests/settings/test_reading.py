import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from settings import Settings, SettingsError, load

ROOT = Path(__file__).parent.parent.parent
POOL = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}


def configuration(**values: Any) -> dict[str, str]:
    """A stack's configuration as the engine hands it over: texts, and JSON for what is not."""
    return {
        f"aks-gpu:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
    }


def mistakes(**values: Any) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        load(configuration(**values))
    return str(refused.value).splitlines()


def test_reads_every_key() -> None:
    stack = load(
        configuration(
            location="westeurope",
            resourceGroup="group",
            cluster="cluster",
            kubernetesVersion="1.35",
            systemPool={"vmSize": "Standard_D8ds_v5", "count": 3},
            gpuPools=[{**POOL, "count": 2}],
        )
    )

    assert stack.model_dump(by_alias=True, mode="json") == {
        "location": "westeurope",
        "resourceGroup": "group",
        "cluster": "cluster",
        "kubernetesVersion": "1.35",
        "systemPool": {"vmSize": "Standard_D8ds_v5", "count": 3},
        "gpuPools": [{"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "count": 2}],
    }


def test_leaves_the_configuration_of_others_alone() -> None:
    assert load({"azure-native:location": "westeurope"}) == Settings()


def test_reports_every_mistake_in_one_go_each_by_its_key() -> None:
    found = mistakes(
        resourceGroup="",
        clustr="myAKSCluster",
        systemPool={"count": 0, "vmsize": "Standard_D4ds_v5"},
        gpuPools=[
            {"name": "GPU", "vmSize": "Standard_D4ds_v5"},
            {"vmSize": "Standard_NC8as_T4_v3", "count": "many"},
        ],
    )

    assert [line.partition(":")[0] for line in found] == [
        "resourceGroup",
        "systemPool.count",
        "systemPool.vmsize",
        "gpuPools[0].name",
        "gpuPools[0].vmSize",
        "gpuPools[1].name",
        "gpuPools[1].count",
        "clustr",
    ]


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"clustr": "x"}, "clustr: is not a key of a stack file; did you mean cluster?"),
        (
            {"gpuPools": [{**POOL, "vmsize": "x"}]},
            "gpuPools[0].vmsize: is not a key of a stack file; did you mean vmSize?",
        ),
        ({"gpuPools": [{"vmSize": "Standard_NC8as_T4_v3"}]}, "gpuPools[0].name: is required"),
        (
            {"gpuPools": [{**POOL, "name": "gpu-1"}]},
            "gpuPools[0].name: 'gpu-1' is no name for a pool: "
            "AKS takes 1 to 12 lower-case letters and digits, a letter first",
        ),
        (
            {"gpuPools": [{**POOL, "vmSize": "Standard_D4ds_v5"}]},
            "gpuPools[0].vmSize: 'Standard_D4ds_v5' is no GPU size: "
            "take one of the N-series, as Standard_NC8as_T4_v3",
        ),
        ({"gpuPools": [POOL, POOL]}, "gpuPools: two pools are named gpu: name each once"),
        (
            {"systemPool": {"count": 0}},
            "systemPool.count: input should be greater than or equal to 1, not 0",
        ),
        (
            {"gpuPools": "[not json"},
            "gpuPools: input should be a valid list, not '[not json'",
        ),
    ],
)
def test_says_what_is_wrong_and_what_would_be_right(values: dict[str, Any], line: str) -> None:
    assert mistakes(**values) == [line]


def test_the_project_file_declares_the_same_keys_with_the_same_defaults() -> None:
    project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    declared = {
        key: declaration["default"]
        for key, declaration in project["config"].items()
        if "default" in declaration
    }

    assert load(configuration(**{k.removeprefix("aks-gpu:"): v for k, v in declared.items()})) == (
        Settings()
    )
    assert {key.removeprefix("aks-gpu:") for key in project["config"]} == {
        field.alias for field in Settings.model_fields.values()
    }
