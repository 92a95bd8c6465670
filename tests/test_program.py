import json
import runpy
from pathlib import Path

import pulumi
import pytest
import yaml

from tests.conftest import Deploy

ROOT = Path(__file__).parent.parent


def run_program() -> None:
    runpy.run_path(str(ROOT), run_name="__main__")


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch) -> object:
    def with_stack_file(config: dict[str, object]) -> None:
        texts = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in config.items()
        }
        monkeypatch.setenv("PULUMI_CONFIG", json.dumps(texts))

    return with_stack_file


@pytest.mark.parametrize("preview", [True, False])
def test_the_dev_stack(deploy: Deploy, configure, preview: bool) -> None:  # type: ignore[no-untyped-def]
    configure(yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())["config"])

    graph = deploy(run_program, preview=preview)

    assert sorted((found.type, found.name, found.parent) for found in graph.registered) == [
        ("aks-gpu:components:AksCluster", "cluster", "aks-gpu-test"),
        ("aks-gpu:components:GpuNodePool", "gpu", "aks-gpu-test"),
        ("aks-gpu:components:ResourceGroup", "group", "aks-gpu-test"),
        ("azure-native:containerservice:AgentPool", "gpu", "gpu"),
        ("azure-native:containerservice:ManagedCluster", "cluster", "cluster"),
        ("azure-native:resources:ResourceGroup", "group", "group"),
    ]
    assert graph.only("AgentPool").inputs["vmSize"] == "Standard_NC8as_T4_v3"


def test_a_stack_file_with_mistakes_registers_nothing(deploy: Deploy, configure) -> None:  # type: ignore[no-untyped-def]
    configure({"aks-gpu:clustr": "x", "aks-gpu:gpuPools": [{"name": "GPU"}]})

    with pytest.raises(pulumi.RunError) as refused:
        deploy(run_program)

    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == [
        "This stack file cannot be used",
        "gpuPools[0].name",
        "gpuPools[0].vmSize",
        "clustr",
    ]
