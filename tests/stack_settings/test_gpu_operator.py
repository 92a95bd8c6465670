"""The GPU Operator in a stack file: its pools, and what it cannot serve."""

import json
from typing import Any

import pytest

from stack_settings.reading import SettingsError, load

POOL = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}
A100 = {"name": "parts", "vmSize": "Standard_NC24ads_A100_v4", "migProfile": "MIG1g"}


def config(**keys: Any) -> dict[str, str]:
    return {
        f"aks-gpu:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in {"gpuStack": "operator", "gpuPools": [POOL], **keys}.items()
    }


def test_pools_of_others_are_labelled_so_that_the_operator_leaves_them_alone() -> None:
    other = {**POOL, "name": "other", "gpuStack": "device-plugin", "labels": {"a": "b"}}
    stack = load(config(gpuPools=[POOL, other]), "test", print)
    own, others = stack.gpu_pools
    assert stack.labels_of(own) == {}
    assert stack.labels_of(others) == {"nvidia.com/gpu.deploy.operands": "false", "a": "b"}
    without = load(config(gpuStack="device-plugin", gpuPools=[POOL, other]), "test", print)
    assert without.labels_of(without.gpu_pools[1]) == {"a": "b"}


@pytest.mark.parametrize(
    ("keys", "mistakes"),
    [
        (
            {"gpuOperator": {"values": {"driver": {"enabled": True}, "toolkit": 1}}},
            ["gpuOperator.values.driver.enabled: is true", "gpuOperator.values.toolkit: cannot"],
        ),
        (
            {"gpuOperator": {"driver": "x", "version": "26.7.0"}},
            ["gpuOperator.driver: must be", "gpuOperator.version: '26.7.0' is not"],
        ),
        (
            {"gpuOperator": {"driver": "operator"}, "gpuPools": [POOL, A100]},
            ["gpuOperator.driver: pool parts: AKS partitions GPUs only with a driver of its own"],
        ),
        (
            {"gpuOperator": {"values": {"migManager": {"enabled": True}}}, "gpuPools": [A100]},
            ["gpuOperator.values.migManager.enabled: is true, but AKS partitions"],
        ),
        (
            {"systemPool": {"vmSize": POOL["vmSize"]}},
            ["systemPool.vmSize: 'Standard_NC8as_T4_v3' has GPUs"],
        ),
        (
            {"systemPool": {"vmSize": POOL["vmSize"], "gpuStack": "device-plugin"}},
            ["systemPool.vmSize: Standard_NC8as_T4_v3 has GPUs, and the GPU Operator"],
        ),
    ],
)
def test_all_mistakes_are_reported_at_once_by_key(
    keys: dict[str, Any], mistakes: list[str]
) -> None:
    with pytest.raises(SettingsError) as refused:
        load(config(**keys), "test", print)
    lines = sorted(str(refused.value).splitlines())
    assert len(lines) == len(mistakes), lines
    for line, mistake in zip(lines, mistakes, strict=True):
        assert line.startswith(mistake)
