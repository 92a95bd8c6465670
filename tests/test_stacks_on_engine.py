"""Stacks on the real engine, step by step: what is replaced, what is updated, what stays."""

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.bench import STACKS, Bench
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


def up(bench: Bench, config: dict[str, Any]) -> dict[str, str]:
    """Previews a stack file, brings it up, and sees that nothing is left to do."""
    bench.write_stack(config)
    changes = bench.changes()
    bench.pulumi("up", "--yes", "--skip-preview")
    assert bench.changes() == {}
    return changes


def test_a_stack_changes_from_one_variant_to_another(whole_bench: Bench) -> None:
    name = unique("variants")
    up(whole_bench, stack(name, POOL))
    cluster = whole_bench.resources()["cluster"]["id"]

    larger = {**POOL, "count": 2, "labels": {"a": "b"}, "taints": ["c=d:NoSchedule"]}
    assert up(whole_bench, stack(name, larger)) == {"gpu": "update"}

    autoscaled = {**larger, "minCount": 0, "maxCount": 3}
    assert up(whole_bench, stack(name, autoscaled)) == {"gpu": "update"}

    other_size = {**autoscaled, "vmSize": "Standard_NC16as_T4_v3"}
    assert up(whole_bench, stack(name, other_size)) == REPLACED

    without = {**other_size, "replaceOnHeaderChange": True}
    with_headers = {**without, "customHeaders": "EnableACRTeleport=false"}
    assert up(whole_bench, stack(name, with_headers)) == REPLACED
    pool = whole_bench.resources()["gpu"]
    assert pool["type"] == "aks-preview:containerservice:AgentPool"
    put = whole_bench.requests("PUT", pool["id"])[-1]
    assert put["headers"]["EnableACRTeleport"] == "false"

    assert up(whole_bench, stack(name, without)) == REPLACED
    second = {**POOL, "name": "second"}
    assert up(whole_bench, stack(name, without, second)) == {"second": "create"}
    assert up(whole_bench, stack(name, second)) == {"gpu": "delete"}

    larger_system = stack(name, second, systemPool={"count": 2})
    assert up(whole_bench, larger_system) == {"cluster": "update"}
    assert whole_bench.resources()["cluster"]["id"] == cluster
    whole_bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


def test_pools_on_an_existing_cluster_do_not_change_it(whole_bench: Bench) -> None:
    platform = unique("platform")
    up(whole_bench, stack(platform))
    other = Bench(whole_bench.engine, whole_bench.cloud, whole_bench.folder / "other").begin()

    theirs = {"name": platform, "existing": True}
    up(other, stack("ours", POOL, resourceGroup=theirs, cluster=theirs))

    azure = [
        resource["type"]
        for resource in other.resources().values()
        if not resource["type"].startswith("aks-gpu:")
    ]
    assert azure == ["azure-native:containerservice:AgentPool"]
    other.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
    assert whole_bench.changes("--refresh") == {}
    whole_bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


def test_ten_mistakes_give_ten_lines_and_no_request(whole_bench: Bench) -> None:
    whole_bench.write_stack(
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

    output = whole_bench.pulumi("up", "--yes", fails=True)

    for key in (
        "location", "cluster.name", "cluster.kubernetesVersion", "systemPool.count",
        "gpuPools[0].name", "gpuPools[0].vmSize", "gpuPools[1].maxCount", "gpuPools[1].osType",
        "gpuPools[2].vmSize", "clustr",
    ):  # fmt: skip
        assert f"    {key}: " in output
    assert "Traceback" not in output
    assert not whole_bench.requests("PUT")


@pytest.mark.parametrize("name", STACKS)
def test_each_stack_can_be_previewed(whole_bench: Bench, name: str) -> None:
    whole_bench.write_example(name)

    changes = whole_bench.changes()

    assert set(changes.values()) == {"create"}
    assert "cluster" in changes


def test_prods_kubeconfig_has_no_key_at_all(whole_bench: Bench) -> None:
    """An administrator's certificate was in the outputs and the state of prod."""
    whole_bench.write_example("prod")
    whole_bench.pulumi("up", "--yes", "--skip-preview")
    kubeconfig = whole_bench.pulumi("stack", "output", "kubeconfig", "--show-secrets")
    (user,) = yaml.safe_load(kubeconfig)["users"]
    assert user["user"].keys() == {"exec"}
    whole_bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


def test_dev_is_created_without_a_kubeconfig_key_in_clear_text(whole_bench: Bench) -> None:
    whole_bench.write_example("dev")
    output = whole_bench.pulumi("up", "--yes")

    kubeconfig = whole_bench.pulumi("stack", "output", "kubeconfig", "--show-secrets")
    user = yaml.safe_load(kubeconfig)["users"][0]["user"]
    # Parts of the key as it is, and of the file that Azure hands over in base 64.
    key = user["client-key-data"]
    secrets = [key[40:120], base64.b64encode(kubeconfig.encode()).decode()[400:480]]
    written = [output, whole_bench.pulumi("stack"), whole_bench.pulumi("preview", "--diff")]
    files = [path for path in whole_bench.folder.rglob("*") if path.is_file()]
    files += [whole_bench.cloud.request_log, whole_bench.cloud.home / "server.log"]
    assert any(path.suffix == ".json" for path in files)
    for text in written + [_text(path) for path in files]:
        assert not any(secret in text for secret in secrets)

    assert whole_bench.changes() == {}
    whole_bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


def _text(path: Path) -> str:
    return path.read_text(errors="replace")
