"""A change that reimages all nodes is told, with their number."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from components import AksClusterArgs, GpuNodePoolArgs
from components.kept_properties import _Removals

POOL = {"vmSize": "Standard_ND96isr_H100_v5", "count": 3}
LOCAL_DNS = {"localDNSProfile": {"mode": "Required"}}
ON_DISKS = ". AKS drains each node first, and what is on its local disks is lost"


@pytest.fixture(name="said")
def fixture_said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", said.append)
    return said


def compare(arguments: type, old: dict[str, Any], new: dict[str, Any]) -> None:
    change = SimpleNamespace(name="it", old_inputs=old, new_inputs=new)
    asyncio.run(_Removals(arguments).tell(change))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pool", "nodes"),
    [
        (POOL, "3 nodes, 24 GPUs"),
        (POOL | {"vmSize": "Standard_NC8as_T4_v3", "count": 1}, "1 node, 1 GPU"),
        (POOL | {"enableAutoScaling": True, "maxCount": 4}, "at most 4 nodes, 32 GPUs"),
        (POOL | {"vmSize": "Standard_D4ds_v5"}, "3 nodes"),
    ],
)
def test_a_pool(said: list[str], pool: dict[str, Any], nodes: str) -> None:
    compare(GpuNodePoolArgs, pool, pool | LOCAL_DNS)
    assert said == [
        f"'it': the change of localDNSProfile reimages all nodes of the pool: {nodes}{ON_DISKS}"
    ]


def test_a_cluster(said: list[str]) -> None:
    channel = {"autoUpgradeProfile": {"nodeOSUpgradeChannel": "Unmanaged"}}
    compare(AksClusterArgs, {"location": "eastus"}, {"location": "eastus"} | channel)
    assert said == [
        "'it': the change of autoUpgradeProfile.nodeOSUpgradeChannel reimages all nodes of all "
        f"pools of the cluster{ON_DISKS}"
    ]


def test_other_changes_are_not_told(said: list[str]) -> None:
    compare(GpuNodePoolArgs, POOL, POOL | {"count": 4})
    # Unknown values make it unknown what changes.
    compare(GpuNodePoolArgs, {}, POOL | LOCAL_DNS)
    # Nobody's node goes where there is none.
    empty = POOL | {"count": 0}
    compare(GpuNodePoolArgs, empty, empty | LOCAL_DNS)
    assert said == []
