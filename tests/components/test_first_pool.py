"""What a program takes out of a cluster's own pool, and AKS keeps."""

import asyncio
from typing import Any

import pulumi
import pytest

from aks_catalogue import aks_properties
from components.kept_properties import _require_same_pool

POOL: dict[str, Any] = {"name": "system", "count": 3, "vmSize": "Standard_D4ds_v5"}


def hooked(old: dict[str, Any], new: dict[str, Any]) -> pulumi.ResourceHookArgs:
    inputs = [{"agentPoolProfiles": [pool]} for pool in (new, old, old)]
    return pulumi.ResourceHookArgs("urn", "id", "c", "t", inputs[0], inputs[1], None, inputs[2])


def test_a_removed_property_of_extra_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """`extra` of the system pool could be emptied without a word."""
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    old = POOL | {"enableFIPS": True, "kubeletConfig": {"cpuManagerPolicy": "static"}, "tags": {}}
    asyncio.run(_require_same_pool(hooked(old, POOL)))
    kept = "system pool 'system': AKS keeps kubeletConfig, enableFIPS, which you took out"
    assert warnings == [f"{kept}: set another value instead"]


@pytest.mark.parametrize("path", [*aks_properties.POOL.kept, "availabilityZones", "vnetSubnetID"])
def test_a_removed_property_that_aks_keeps_is_reported(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system pool without its zones, its disk or its subnet went as if that were done."""
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    outer, _, inner = path.partition(".")
    old = POOL | {outer: {inner: "it"} if inner else "it"}

    asyncio.run(_require_same_pool(hooked(old, POOL)))
    asyncio.run(_require_same_pool(hooked(old, old)))

    assert path in {*aks_properties.POOL.kept, *aks_properties.POOL.fixed}
    assert len(warnings) == 1
    assert warnings[0].startswith(f"system pool 'system': AKS keeps {path}")


def test_a_change_that_reimages_its_nodes_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    asyncio.run(_require_same_pool(hooked(POOL, POOL | {"osSKU": "AzureLinux"})))
    assert warnings[0].startswith(
        "system pool 'system': the change of osSKU reimages all nodes of the pool"
    )
