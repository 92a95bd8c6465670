"""Stacks on the real engine, step by step: what is replaced, what is updated, what stays."""

from typing import Any

import pytest

from tests.bench import Bench
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.long]

POOL = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}
REPLACED = {"gpu": "replace"}


def stack(name: str, *pools: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A stack whose GPU stack is nobody's business, so that it is about Azure alone."""
    return {
        "resourceGroup": {"name": name},
        "cluster": {"name": name},
        "gpuStack": "none",
        "gpuPools": list(pools),
        **more,
    }


def update(bench: Bench, config: dict[str, Any]) -> dict[str, str]:
    """Brings a stack file up; what that did."""
    bench.write_stack(config)
    return bench.update()


def up(bench: Bench, config: dict[str, Any]) -> dict[str, str]:
    """Brings a stack file up, and sees that nothing is left to do; what that did."""
    done = update(bench, config)
    assert bench.changes() == {}
    return done


@pytest.mark.nightly
def test_a_stack_changes_from_one_variant_to_another(bench: Bench) -> None:
    name = unique("variants")
    update(bench, stack(name, POOL))
    cluster = bench.resources()["cluster"]["id"]

    larger = {**POOL, "count": 2, "labels": {"a": "b"}, "taints": ["c=d:NoSchedule"]}
    assert update(bench, stack(name, larger)) == {"gpu": "update"}

    autoscaled = {**larger, "minCount": 0, "maxCount": 3}
    assert up(bench, stack(name, autoscaled)) == {"gpu": "update"}

    # A preview says what an update will do, for a replacement too.
    other_size = {**autoscaled, "vmSize": "Standard_NC16as_T4_v3"}
    bench.write_stack(stack(name, other_size))
    assert bench.changes() == REPLACED
    assert bench.update() == REPLACED

    without = {**other_size, "replaceOnHeaderChange": True}
    with_headers = {**without, "customHeaders": "EnableACRTeleport=false"}
    assert up(bench, stack(name, with_headers)) == REPLACED
    pool = bench.resources()["gpu"]
    assert pool["type"] == "aks-preview:containerservice:AgentPool"
    put = bench.requests("PUT", pool["id"])[-1]
    assert put["headers"]["EnableACRTeleport"] == "false"

    assert update(bench, stack(name, without)) == REPLACED
    second = {**POOL, "name": "second"}
    assert update(bench, stack(name, without, second)) == {"second": "create"}
    assert update(bench, stack(name, second)) == {"gpu": "delete"}

    larger_system = stack(name, second, systemPool={"count": 2})
    assert up(bench, larger_system) == {"cluster": "update"}
    assert bench.resources()["cluster"]["id"] == cluster
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


def test_pools_on_an_existing_cluster_do_not_change_it(bench: Bench) -> None:
    platform = unique("platform")
    update(bench, stack(platform))
    other = Bench(bench.engine, bench.cloud, bench.folder / "other").begin()

    theirs = {"name": platform, "existing": True}
    up(other, stack("ours", POOL, resourceGroup=theirs, cluster=theirs))

    azure = [
        resource["type"]
        for resource in other.resources().values()
        if not resource["type"].startswith("aks-gpu:")
    ]
    assert azure == ["azure-native:containerservice:AgentPool"]
    other.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
    assert bench.changes("--refresh") == {}
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


def test_ten_mistakes_give_ten_lines_and_no_request(bench: Bench) -> None:
    bench.write_stack(
        {
            "clustr": "mistakes",
            "location": "East US",
            "resourceGroup": {"name": "mistakes"},
            "cluster": {"existing": True, "kubernetesVersion": "1.9"},
            "systemPool": {"count": 0},
            "gpuPools": [
                {"name": "GPU", "vmSize": "Standard_D4ds_v5"},
                {**POOL, "minCount": 2, "maxCount": 1, "osType": "Windows"},
                {"name": "amd", "vmSize": "Standard_NV8as_v4"},
            ],
        }
    )

    output = bench.pulumi("up", "--yes", fails=True)

    for key in (
        "location", "cluster.name", "cluster.kubernetesVersion", "systemPool.count",
        "gpuPools[0].name", "gpuPools[0].vmSize", "gpuPools[1].maxCount", "gpuPools[1].osType",
        "gpuPools[2].vmSize", "clustr",
    ):  # fmt: skip
        assert f"    {key}: " in output
    assert "Traceback" not in output
    assert not bench.requests("PUT")
