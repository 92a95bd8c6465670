"""A pool is replaced without loss: created first, ready, and only then is the old one deleted."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from machine_setup import Engine, ensure_helm, ensure_kubernetes
from rehearsal.cloud import Cloud
from tests import azure_pools
from tests.bench import Bench
from tests.cluster_bench import GPU, ClusterBench
from tests.faults import Faults
from tests.names import unique
from tests.processes import descendants, is_running
from tests.waiting import PATIENCE, until

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
    assert bench.update() == {"gpu": "update"}
    assert sent(bench) == ["PUT gpu", "PUT gpu"]
    azure_pools.scale(bench, name, "gpu", 3)
    larger = {**ROTATING, "vmSize": LARGER}

    # The machines are sold out.
    bench.cloud.offer({"sizes": [{"location": "eastus", "size": LARGER, "is": "soldOut"}]})
    try:
        assert "AllocationFailed" in up(larger, fails=True)
    finally:
        # The cloud is that of other tests too.
        bench.cloud.offer({})
    new = pools(bench)[0]
    assert sent(bench)[-1] == f"PUT {new}"
    assert azure_pools.live_count(bench, name, "gpu") == 3
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
    assert "cannot create already existing resource" in up(larger, fails=True)
    assert sent(bench) == before
    # With another change beside it, a third pool replaces both.
    up({**larger, "osDiskSizeGb": 255})
    assert len(pools(bench)) == 1
    assert bench.changes() == {}


@pytest.mark.nightly
def test_the_next_update_goes_on_after_the_engine_was_killed_before_the_old_pool_went(
    bench: Bench, faults: Faults
) -> None:
    """SIGKILL, when Azure had the new pool and had not yet accepted to delete the old one."""
    name = unique("rotation")
    write(bench, name, ROTATING, gpuStack="none")
    bench.pulumi("up", "--yes", "--skip-preview")
    [old] = pools(bench)
    path = f"/agentPools/{old}$"
    faults.script(
        {"method": "DELETE", "path": path, "status": 429, "headers": {"Retry-After": "1000"}}
    )
    write(bench, name, {**ROTATING, "vmSize": LARGER}, gpuStack="none")
    with bench.updating() as update:
        until(lambda: bench.requests("DELETE", f"/agentPools/{old}"), "the old pool is to go")
        begun = descendants(update.pid)
        os.kill(update.pid, signal.SIGKILL)
        update.communicate(timeout=PATIENCE)
    # What it has started ends by itself: nobody is left to work for.
    until(lambda: not any(map(is_running, begun)), f"none of {begun} is left")
    faults.lift()
    new, still = pools(bench)
    assert still == old
    assert sent(bench) == [f"PUT {old}", f"PUT {new}"]

    bench.pulumi("cancel", "--yes")
    bench.pulumi("up", "--yes", "--skip-preview")
    assert sent(bench)[2:] == [f"DELETE {old}"]
    assert pools(bench) == [new]
    assert bench.changes() == {}


LARGE = {"vmSize": "Standard_NC64as_T4_v3", "replacement": "rotate"}
# Whose plugin serves each pool: the stack's, AKS's, and the GPU Operator's.
STACKS = {"gpu": "device-plugin", "aks": "managed", "nv": "operator"}


def stack_of(**changes: Any) -> dict[str, Any]:
    pools = [{"name": name, "gpuStack": how, **LARGE, **changes} for name, how in STACKS.items()]
    return {
        "gpuPools": pools,
        "managedGpuFeature": "register",
        "sampleJob": {"enabled": False},
    }


def workers(pool: str) -> list[dict[str, Any]]:
    """Three pods on the GPUs of a pool, of which two have to be there always."""
    labels = {"app": pool}
    return [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": pool},
            "spec": {"minAvailable": 2, "selector": {"matchLabels": labels}},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": pool},
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "nodeSelector": {"aks-gpu/pool": pool},
                        "tolerations": [{"key": "sku", "operator": "Exists"}],
                        "containers": [
                            {"name": "one", "image": "cuda", "resources": {"limits": {GPU: "1"}}}
                        ],
                    },
                },
            },
        },
    ]


@pytest.mark.nightly
def test_deployments_never_fall_below_their_budgets(
    engine: Engine, todays_cloud: Cloud, tmp_path: Path
) -> None:
    """Replaced in place, all pods went with their pool.

    Whoever brings the device plugin: the old nodes go when the GPUs of the new ones work.
    """
    ensure_helm()
    stack = ClusterBench(engine, todays_cloud, tmp_path).begin()
    name = unique("rotation")
    named = {"resourceGroup": {"name": name}, "cluster": {"name": name}}
    stack.write_stack({**named, **stack_of()})
    stack.pulumi("up", "--yes", "--skip-preview")
    for each in (each for pool in STACKS for each in workers(pool)):
        stack.kubectl("apply", "-f", "-", content=each)
    for pool in STACKS:
        stack.kubectl("rollout", "status", f"deployment/{pool}")
    old = names(stack)

    stack.write_stack({**named, **stack_of(osDiskSizeGb=256)})
    changes = stack.changes()
    assert {pool: changes[pool] for pool in STACKS} == dict.fromkeys(STACKS, "replace")
    # A file of its own: the update removes the bench's, which could be before kubectl has read it.
    kubeconfig = tmp_path / "watch.kubeconfig"
    kubeconfig.write_bytes((stack.folder / "kubeconfig").read_bytes())
    get = ("get", "deployments", "--watch", "--output", "json")
    kubectl: list[str | Path] = [ensure_kubernetes().kubectl, "--kubeconfig", kubeconfig, *get]
    # A pipe that nobody reads is full before the update is over: kubectl would not see the rest.
    transcript = tmp_path / "watch.json"
    with transcript.open("w") as file, subprocess.Popen(kubectl, stdout=file) as watch:
        try:
            stack.pulumi("up", "--yes", "--skip-preview")
        finally:
            watch.terminate()
    watched = _documents(transcript.read_text())

    new = names(stack)
    for pool in STACKS:
        assert new[pool] != old[pool]
        requests = [
            f"{line['method']} {line['path'].rpartition('/')[2]}"
            for line in sorted(
                (*stack.requests("PUT"), *stack.requests("DELETE")), key=lambda line: line["time"]
            )
            if line["path"].endswith((f"/{old[pool]}", f"/{new[pool]}"))
        ]
        assert requests == [f"PUT {old[pool]}", f"PUT {new[pool]}", f"DELETE {old[pool]}"]
        available = [
            state["status"].get("availableReplicas", 0)
            for state in watched
            if state["metadata"]["name"] == pool
        ]
        assert available
        assert min(available) >= 2
        nodes = stack.objects("nodes", "-l", f"aks-gpu/pool={pool}")
        assert {node["metadata"]["labels"]["agentpool"] for node in nodes} == {new[pool]}
        until(
            lambda pool=pool: (  # type: ignore[misc]
                len(stack.objects("pods", "-l", f"app={pool}", "--field-selector", RUNNING)) == 3
            ),
            f"all pods run on the new pool of {pool}",
        )
    (daemon_set,) = stack.objects("daemonsets", "-n", "gpu-resources")
    assert daemon_set["metadata"]["annotations"]["aks-gpu/pools"] == new["gpu"]
    # Without other pools to go to, the budgets would keep these.
    stack.kubectl("delete", "deployments", "--all")
    stack.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


RUNNING = "status.phase=Running"


def names(stack: ClusterBench) -> dict[str, str]:
    """The present names in Azure of the pools, by their names in the stack."""
    resources = stack.resources()
    return {pool: resources[pool]["id"].rpartition("/")[2] for pool in STACKS}


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
