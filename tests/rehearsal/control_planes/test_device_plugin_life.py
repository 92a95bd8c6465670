"""NVIDIA's device plugin on real control planes: how it fails, and what it offers of a GPU."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rehearsal import cloud
from tests.rehearsal.conftest import Azure
from tests.rehearsal.control_planes.conftest import Body, Cluster, NewCluster
from tests.waiting import TIMEOUT, until

pytestmark = [pytest.mark.engine, pytest.mark.long]

A100 = "Standard_NC24ads_A100_v4"
T4 = "Standard_NC8as_T4_v3"
NAME = "device-plugin"
GPU = "nvidia.com/gpu"
CONFIG_FILE = {"name": "CONFIG_FILE", "value": "/config/config.yaml"}
STRATEGY = {"name": "MIG_STRATEGY", "value": "single"}
MONITOR = {"name": "NVIDIA_MIG_MONITOR_DEVICES", "value": "all"}
SYS_ADMIN = {"capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}}


@pytest.fixture(autouse=True)
def _tidy(today: Cluster) -> Iterator[None]:
    """Takes away what a test, whatever became of it, has put into the cluster that all share."""
    yield
    today.run("delete", "daemonset,configmap", "-l", f"app={NAME}", "--wait=true")
    today.run("delete", "pod", "-l", "app=worker", "--wait=true")


@pytest.fixture
def pool(today: Cluster, pool_name: str) -> Iterator[str]:
    """The name of a pool that the test makes."""
    yield pool_name
    today.delete(f"/agentPools/{pool_name}")


def daemon_set(
    pool: str,
    *env: Body,
    image: str = "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin:v0.18.2",
    security: Body | None = None,
    config: str | None = None,
) -> Body:
    """The DaemonSet of today's component before it was mended, on the nodes of one pool."""
    mounts = [{"name": "sockets", "mountPath": "/var/lib/kubelet/device-plugins"}]
    volumes: list[Body] = [
        {"name": "sockets", "hostPath": {"path": "/var/lib/kubelet/device-plugins"}}
    ]
    if config:
        mounts.append({"name": "config", "mountPath": "/config"})
        volumes.append({"name": "config", "configMap": {"name": config}})
    container = {
        "name": "nvidia-device-plugin-ctr",
        "image": image,
        "env": list(env),
        "securityContext": security
        or {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }
    labels = {"app": NAME}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": f"{NAME}-{pool}", "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "nodeSelector": {"agentpool": pool},
                    "containers": [container],
                    "volumes": volumes,
                },
            },
        },
    }


def config_map(name: str, **data: str) -> Body:
    metadata = {"name": name, "labels": {"app": NAME}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def worker(number: int, pool: str, resource: str = GPU) -> Body:
    """A pod that keeps one of a resource for as long as it lives."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"worker{number}", "labels": {"app": "worker"}},
        "spec": {
            "nodeSelector": {"agentpool": pool},
            "containers": [
                {
                    "name": "worker",
                    "image": "cuda",
                    "resources": {"requests": {"cpu": "1m"}, "limits": {resource: 1}},
                }
            ],
        },
    }


def phases(cluster: Cluster) -> list[str]:
    """How far the workers are."""
    pods = cluster.objects("pods", "-l", "app=worker")
    return sorted(pod["status"]["phase"] for pod in pods)


def plugin(cluster: Cluster) -> Body:
    """The one pod of the plugin, once there is one."""
    return until(lambda: cluster.objects("pods", "-l", f"app={NAME}"), "it has a pod")[0]


def status(cluster: Cluster) -> Body:
    """The status of the plugin's container, which its kubelet gives a new pod after a while."""
    statuses: list[Body] = until(
        lambda: plugin(cluster)["status"].get("containerStatuses"), "its container has a status"
    )
    return statuses[0]


def backs_off(cluster: Cluster, restarts: int = 1) -> Body:
    """The plugin's pod, once it has failed so often."""

    def pod() -> Body:
        found = plugin(cluster)
        [state] = found["status"].get("containerStatuses") or [{}]
        is_it = "waiting" in state.get("state", {}) and state["restartCount"] >= restarts
        return found if is_it else {}

    return until(pod, f"the plugin was started again {restarts} times")


def wait_after(status: Body) -> str:
    """How long a container waits after so many restarts: a busy machine sees a later one."""
    minutes, seconds = divmod(min(300, 10 * 2 ** (status["restartCount"] - 1)), 60)
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"


def offered(cluster: Cluster, pool: str) -> dict[str, str]:
    """What the pool's node has of NVIDIA's, as it can be allocated."""
    [node] = cluster.nodes(pool)
    allocatable: dict[str, str] = node["status"]["allocatable"]
    return {name: count for name, count in allocatable.items() if name.startswith("nvidia.com/")}


def offers(cluster: Cluster, pool: str, **counts: str) -> None:
    expected = {f"nvidia.com/{name}": count for name, count in counts.items()}
    until(lambda: offered(cluster, pool) == expected, f"the node of {pool} offers {expected}")


def logs(cluster: Cluster) -> str:
    return cluster.kubectl("logs", plugin(cluster)["metadata"]["name"])


def test_the_plugin_crashes_repeatedly_on_a_cpu_node(today: Cluster, tmp_path: Path) -> None:
    """The rehearsal let it run there, and was green; on AKS the same stack failed."""
    transcript = tmp_path / "watch"
    columns = "custom-columns=READY:.status.conditions[?(@.type=='Ready')].status"
    with transcript.open("w") as file:
        watch = subprocess.Popen(
            [
                today.kubectl_path,
                "--kubeconfig",
                today.kubeconfig,
                "get",
                "pods",
                "-l",
                f"app={NAME}",
                "-w",
                "-o",
                columns,
            ],
            stdout=file,
        )
        try:
            today.apply(daemon_set("system"))
            first = backs_off(today)
            again = backs_off(today, 3)
        finally:
            watch.terminate()
            watch.wait()
    printed = set(transcript.read_text().split())
    assert "False" in printed
    assert "True" not in printed
    [state] = first["status"]["containerStatuses"]
    name, uid = first["metadata"]["name"], first["metadata"]["uid"]
    assert first["status"]["phase"] == "Running"
    assert state["state"]["waiting"] == {
        "reason": "CrashLoopBackOff",
        "message": f"back-off {wait_after(state)} restarting failed "
        f"container=nvidia-device-plugin-ctr pod={name}_default({uid})",
    }
    ended = state["lastState"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (1, "Error")
    assert (state["ready"], state["started"]) == (False, False)
    [state] = again["status"]["containerStatuses"]
    assert f"back-off {wait_after(state)} " in state["state"]["waiting"]["message"]
    log = logs(today)
    assert "invalid device discovery strategy" in log
    assert "set up a toleration or nodeSelector to only deploy this plugin on GPU nodes" in log
    number = today.objects("daemonsets", "-l", f"app={NAME}")[0]["status"]
    assert (number["desiredNumberScheduled"], number.get("numberAvailable", 0)) == (1, 0)
    assert "BackOff" in today.kubectl("events", "--for", f"pod/{name}")
    assert "CrashLoopBackOff" in today.kubectl("get", "pod", name)


def test_a_mig_node_offers_gpus_by_the_plugins_strategy(today: Cluster, pool: str) -> None:
    """It offered seven to a plugin without strategy; on AKS that is one."""
    today.put_pool(pool, vmSize=A100, gpuInstanceProfile="MIG1g")
    today.apply(daemon_set(pool))
    offers(today, pool, gpu="1")
    # With a strategy, and without the capability to see what it shall offer.
    today.apply(daemon_set(pool, STRATEGY, MONITOR))
    backs_off(today)
    assert "error building MIG device map" in logs(today)
    offers(today, pool, gpu="0")
    today.apply(daemon_set(pool, STRATEGY, MONITOR, security=SYS_ADMIN))
    offers(today, pool, gpu="7")
    # All at the same time: that is what shows the sharing.
    for number in range(8):
        today.apply(worker(number, pool))

    all_but_one = ["Pending", *["Running"] * 7]
    until(lambda: phases(today) == all_but_one, "seven run, and the eighth waits")
    until(lambda: f"Insufficient {GPU}" in today.kubectl("events"), "the scheduler says why")
    today.kubectl("delete", "pod", "-l", "app=worker")
    mixed = {"name": "MIG_STRATEGY", "value": "mixed"}
    today.apply(daemon_set(pool, mixed, MONITOR, security=SYS_ADMIN))
    # The name that is offered no more stays at zero.
    offers(today, pool, **{"gpu": "0", "mig-1g.10gb": "7"})


def test_time_slicing_starts_once_its_config_file_exists(today: Cluster, pool: str) -> None:
    today.put_pool(pool, vmSize=T4)
    today.apply(config_map("sharing", other="of no use here"))
    today.apply(daemon_set(pool, CONFIG_FILE, config="sharing"))
    backs_off(today)
    assert "unable to load config" in logs(today)
    assert offered(today, pool) == {}
    text = "version: v1\nsharing:\n  timeSlicing:\n    resources:\n"
    text += f"    - name: {GPU}\n      replicas: 4\n"
    today.apply(config_map("sharing", **{"config.yaml": text}))
    offers(today, pool, gpu="4")
    state = status(today)
    assert (state["ready"], "running" in state["state"]) == (True, True)
    assert state["restartCount"] > 0
    assert "unable to load config" not in logs(today)
    _a_new_file_counts_only_once_the_plugin_restarts(today, pool)


def _a_new_file_counts_only_once_the_plugin_restarts(today: Cluster, pool: str) -> None:
    text = "version: v1\nsharing:\n  timeSlicing:\n    failRequestsGreaterThanOne: true\n"
    text += f"    resources:\n    - name: {GPU}\n      replicas: 8\n"
    today.apply(config_map("sharing", **{"config.yaml": text}))
    for number in range(5):
        today.apply(worker(number, pool))
    all_but_one = ["Pending", *["Running"] * 4]
    until(lambda: phases(today) == all_but_one, "four run, and the fifth waits")
    assert offered(today, pool) == {GPU: "4"}
    today.kubectl("delete", "pod", "-l", f"app={NAME}")
    offers(today, pool, gpu="8")
    until(lambda: phases(today) == ["Running"] * 5, "the fifth pod runs")
    # What the new file refuses.
    greedy = worker(9, pool)
    greedy["spec"]["containers"][0]["resources"]["limits"] = {GPU: 2}
    today.apply(greedy)
    failed = ("pods", "-l", "app=worker", "--field-selector=status.phase=Failed")
    [refused] = until(lambda: today.objects(*failed), "a pod that asks for two shares is refused")
    assert refused["metadata"]["name"] == "worker9"
    assert refused["status"]["reason"] == "UnexpectedAdmissionError"
    assert "maximum request size for shared resources is 1; found 2" in refused["status"]["message"]
    today.kubectl("delete", "pod", "-l", "app=worker")


@pytest.mark.nightly
def test_a_stop_and_start_keeps_the_offered_gpus(
    start: Callable[[], Azure], new: Callable[[Azure], NewCluster]
) -> None:
    """The server that was started again has seen no plugin start, and knows what each offers."""
    azure = start()
    cluster = new(azure)()
    cluster.put_pool("t4", vmSize=T4)
    cluster.apply(daemon_set("t4"))
    offers(cluster, "t4", gpu="1")
    assert cloud.stop(azure.cloud.home)
    start()
    offers(cluster, "t4", gpu="1")
    cluster.kubectl("delete", "daemonset", f"{NAME}-t4")
    offers(cluster, "t4", gpu="0")


def test_slices_with_their_own_resource_name_scale_up_no_pool(today: Cluster, pool: str) -> None:
    """Azure's autoscaler knows of an empty pool what its size has, and of no other name."""
    limits: Any = {"enableAutoScaling": True, "minCount": 0, "maxCount": 2}
    today.put_pool(pool, vmSize=A100, gpuInstanceProfile="MIG2g", count=0, **limits)
    mixed = {"name": "MIG_STRATEGY", "value": "mixed"}
    today.apply(daemon_set(pool, mixed, MONITOR, security=SYS_ADMIN))
    today.apply(worker(1, pool, "nvidia.com/mig-2g.20gb"))

    def is_told() -> bool:
        return "didn't match" in today.kubectl("events", "--for", "pod/worker1")

    until(is_told, "the scheduler has no node for it")
    today.apply(worker(2, pool))
    until(lambda: today.nodes(pool), "the pool grows for a GPU by the one name")
    # The node has what the other asks for, and nothing of what it was made for.
    today.kubectl("wait", "pod/worker1", "--for=condition=Ready", TIMEOUT)
    assert today.objects("pods", "-l", "app=worker")[1]["status"]["phase"] == "Pending"
    assert len(today.nodes(pool)) == 1
