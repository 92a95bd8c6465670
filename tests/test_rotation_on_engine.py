"""A pool is replaced without loss: created first, ready, and only then is the old one deleted."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine import Engine, ensure_kubernetes
from rehearsal.cloud import Cloud
from tests.bench import Bench
from tests.cluster_bench import GPU, ClusterBench
from tests.faults import Faults
from tests.names import unique
from tests.old_program import test_pools
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.long]

T4, LARGER = "Standard_NC8as_T4_v3", "Standard_NC16as_T4_v3"
SCALED = {"name": "gpu", "vmSize": T4, "count": 1, "minCount": 0, "maxCount": 5}
ROTATING = {**SCALED, "replacement": "rotate"}
REPLACED = {"gpu": "replace"}
DRAIN_FAILURE = {
    "method": "DELETE",
    "path": "/agentPools/gpu",
    "times": 1,
    "operation": {"code": "PodDrainFailure", "message": "Drain of a node failed at pod a"},
}


def write(bench: Bench, name: str, pool: dict[str, Any], **more: Any) -> None:
    named = {"resourceGroup": {"name": name}, "cluster": {"name": name}}
    bench.write_stack({**named, "gpuPools": [pool], **more})


def sent(bench: Bench) -> list[str]:
    """The requests that changed GPU pools, in order: method and name."""
    lines = [
        line
        for method in ("PUT", "DELETE")
        for line in bench.requests(method, "/agentPools/gpu")
        if line["status"] < 400
    ]
    lines.sort(key=lambda line: line["time"])
    return [f"{line['method']} {line['path'].rpartition('/')[2]}" for line in lines]


def pools(bench: Bench) -> list[str]:
    """The names in Azure of the pools in the state, also of those that are to be deleted."""
    return [
        resource["id"].rpartition("/")[2]
        for resource in bench.deployment()["resources"]
        if resource["type"].endswith(":AgentPool")
    ]


def test_a_failed_rotation_keeps_the_old_pool_and_the_next_update_continues(
    bench: Bench, faults: Faults
) -> None:
    name = unique("rotation")

    def up(pool: dict[str, Any], *, fails: bool = False) -> str:
        write(bench, name, pool, gpuStack="none")
        return bench.pulumi("up", "--yes", "--skip-preview", fails=fails)

    up(SCALED)
    # Nothing replaces the pool yet: it keeps its name and gets the labels.
    write(bench, name, ROTATING, gpuStack="none")
    assert bench.changes() == {"gpu": "update"}
    up(ROTATING)
    assert sent(bench) == ["PUT gpu", "PUT gpu"]
    test_pools.scale(bench, name, "gpu", 3)
    larger = {**ROTATING, "vmSize": LARGER}

    # The machines are sold out.
    bench.cloud.offer({"sizes": [{"location": "eastus", "size": LARGER, "is": "soldOut"}]})
    assert "SkuNotAvailable" in up(larger, fails=True)
    bench.cloud.offer({})
    new = pools(bench)[0]
    assert sent(bench)[-1] == f"PUT {new}"
    assert test_pools.live_count(bench, name, "gpu") == 3
    put = bench.requests("PUT", f"/agentPools/{new}")[-1]["body"]["properties"]
    assert put["count"] == 3, "the new pool begins with as many nodes as the old one has"

    # A budget forbids the drain; then the rotation ends with one pool.
    faults.script(DRAIN_FAILURE)
    assert "PodDrainFailure" in up(larger, fails=True)
    assert pools(bench) == [new, "gpu"]
    up(larger)
    assert sent(bench)[-3:] == [f"PUT {new}", "DELETE gpu", "DELETE gpu"]
    assert pools(bench) == [new]
    assert bench.changes() == {}

    # Back to a pool that is still to be deleted: it would get the name of that one.
    faults.script(DRAIN_FAILURE)
    up(ROTATING, fails=True)
    before = sent(bench)
    assert "docs/rotate.md" in up(larger, fails=True)
    assert sent(bench) == before
    # With another change beside it, a third pool replaces both.
    up({**larger, "osDiskSizeGb": 255})
    assert len(pools(bench)) == 1
    assert bench.changes() == {}


LARGE = {"name": "gpu", "vmSize": "Standard_NC64as_T4_v3", "replacement": "rotate"}
LABELS = {"app": "workers"}
WORKERS: list[dict[str, Any]] = [
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "workers"},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": LABELS}},
    },
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "workers"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": LABELS},
            "template": {
                "metadata": {"labels": LABELS},
                "spec": {
                    "nodeSelector": {"aks-gpu/pool": "gpu"},
                    "tolerations": [{"key": "sku", "operator": "Exists"}],
                    "containers": [
                        {"name": "one", "image": "cuda", "resources": {"limits": {GPU: "1"}}}
                    ],
                },
            },
        },
    },
]


def test_a_deployment_never_falls_below_its_budget(
    engine: Engine, whole_cloud: Cloud, tmp_path: Path
) -> None:
    """Replaced in place, all its pods went with the pool."""
    stack = ClusterBench(engine, whole_cloud, tmp_path).begin()
    name = unique("rotation")
    write(stack, name, LARGE, sampleJob={"enabled": False})
    stack.pulumi("up", "--yes", "--skip-preview")
    for each in WORKERS:
        stack.kubectl("apply", "-f", "-", content=each)
    stack.kubectl("rollout", "status", "deployment/workers")
    [old] = pools(stack)

    write(stack, name, {**LARGE, "osDiskSizeGb": 256}, sampleJob={"enabled": False})
    assert stack.changes()["gpu"] == "replace"
    # A file of its own: the update removes the bench's, which could be before kubectl has read it.
    kubeconfig = tmp_path / "watch.kubeconfig"
    kubeconfig.write_bytes((stack.folder / "kubeconfig").read_bytes())
    get = ("get", "deployment", "workers", "--watch", "--output", "json")
    kubectl: list[str | Path] = [ensure_kubernetes().kubectl, "--kubeconfig", kubeconfig, *get]
    with subprocess.Popen(kubectl, stdout=subprocess.PIPE, text=True) as watch:
        try:
            stack.pulumi("up", "--yes", "--skip-preview")
        finally:
            watch.terminate()
        watched = watch.communicate()[0]

    [new] = pools(stack)
    assert sent(stack)[-2:] == [f"PUT {new}", f"DELETE {old}"]
    available = [state["status"].get("availableReplicas", 0) for state in _documents(watched)]
    assert available
    assert min(available) >= 2
    pods_are_on = {
        node["metadata"]["labels"]["agentpool"]
        for node in stack.objects("nodes", "-l", "aks-gpu/pool=gpu")
    }
    assert pods_are_on == {new}
    until(
        lambda: len(stack.objects("pods", "--field-selector", "status.phase=Running")) == 3,
        "all pods run on the new pool",
    )
    (daemon_set,) = stack.objects("daemonsets", "-n", "gpu-resources")
    assert daemon_set["metadata"]["annotations"]["aks-gpu/pools"] == new
    # Without another pool to go to, the budget would keep this one.
    stack.kubectl("delete", "deployment", "workers")
    stack.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


def _documents(text: str) -> list[dict[str, Any]]:
    decoder, documents = json.JSONDecoder(), []
    while text := text.lstrip():
        try:
            document, end = decoder.raw_decode(text)
        except json.JSONDecodeError:
            break
        documents.append(document)
        text = text[end:]
    return documents
