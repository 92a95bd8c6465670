"""A GPU's life: what brings it to a node, what takes it away, and what runs on it."""

from collections.abc import Iterator

import pytest

from tests.rehearsal.control_planes.conftest import DAEMON_SET, JOB, Body, Cluster
from tests.waiting import TIMEOUT, until

pytestmark = [pytest.mark.engine, pytest.mark.long]

NOTHING: list[tuple[str | None, str | None]] = [(None, None)]
SPECIALIZED = {"UseGPUDedicatedVHD": "true"}
NAME = "samples-tf-mnist-demo"
T4 = "Standard_NC8as_T4_v3"


@pytest.fixture(autouse=True)
def _tidy(request: pytest.FixtureRequest) -> Iterator[None]:
    """Takes away what a test, whatever became of it, has put into the clusters they share."""
    yield
    for era in {"today", "article"} & set(request.fixturenames):
        cluster: Cluster = request.getfixturevalue(era)
        cluster.run("delete", "-f", DAEMON_SET, "--ignore-not-found")
        cluster.run("delete", "job", NAME, "--ignore-not-found")


@pytest.fixture
def pool(today: Cluster, pool_name: str) -> Iterator[str]:
    """A pool of one node with one T4, and nothing that offers it."""
    today.put_pool(pool_name, vmSize=T4)
    yield pool_name
    today.delete(f"/agentPools/{pool_name}")


def sample(limit: bool = True, **spec: object) -> Body:
    """The article's job, as an object to change."""
    labels = {"app": NAME}
    container: Body = {
        "name": NAME,
        "image": "mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu",
        "args": ["--max_steps", "500"],
    }
    if limit:
        container["resources"] = {"limits": {"nvidia.com/gpu": 1}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": NAME, "labels": labels},
        "spec": {
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], "restartPolicy": "OnFailure", **spec},
            },
        },
    }


def plugin_pod(name: str, pool: str, **settings: str) -> Body:
    """A device plugin of somebody else's, which may look at what MIG has divided."""
    container = {
        "name": "plugin",
        "image": "nvcr.io/nvidia/k8s-device-plugin:v0.18.0",
        "env": [{"name": key, "value": value} for key, value in settings.items()],
        "securityContext": {"privileged": True},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"nodeSelector": {"agentpool": pool}, "containers": [container]},
    }


def has_gpus(cluster: Cluster, pool: str, capacity: str, allocatable: str) -> None:
    until(
        lambda: cluster.gpus(pool) == [(capacity, allocatable)],
        f"the node of {pool} has {allocatable} of {capacity} GPUs",
    )


def log_of_sample(cluster: Cluster) -> str:
    return cluster.kubectl("logs", "-l", f"app={NAME}", "--tail=-1")


def test_the_articles_manifests_behave_as_in_the_article(article: Cluster, pool_name: str) -> None:
    article.put_pool(pool_name, vmSize="Standard_NC6")
    assert article.gpus(pool_name) == NOTHING
    article.install_plugin()
    has_gpus(article, pool_name, "1", "1")
    [node] = article.names(pool_name)
    described = article.kubectl("describe", "node", node)
    assert described.count("nvidia.com/gpu:     1") == 2
    assert " accelerator=nvidia" in described
    assert " kubernetes.azure.com/accelerator=nvidia" in described

    article.apply(JOB)

    def has_begun() -> bool:
        pods = article.kubectl("get", "pods", "-l", f"app={NAME}")
        return "Running" in pods or "Completed" in pods

    until(has_begun, "the job's pod has begun")
    # Followed from its beginning to its end, and no longer.
    followed = article.kubectl("logs", "-f", "-l", f"app={NAME}", "--tail=-1")
    article.kubectl("wait", f"job/{NAME}", "--for=condition=Complete", TIMEOUT)
    assert "1/1" in article.kubectl("get", "jobs", NAME)
    log = log_of_sample(article)
    assert "Found device 0 with properties: name: Tesla K80" in log
    steps = [line for line in log.splitlines() if line.startswith("Accuracy at step")]
    assert steps[0].startswith("Accuracy at step 0: 0.1")
    assert steps[-1].startswith("Accuracy at step 490: 0.9")
    assert followed == log

    article.kubectl("delete", "job", NAME)
    # The job is gone before the garbage collector takes its pods.
    until(lambda: article.objects("pods", "-l", f"app={NAME}") == [], "its pods are gone")
    article.remove_plugin()
    has_gpus(article, pool_name, "0", "0")
    article.delete(f"/agentPools/{pool_name}")


def test_a_job_waits_on_a_node_without_a_plugin(today: Cluster, pool: str) -> None:
    assert today.gpus(pool) == NOTHING
    today.apply(JOB)

    def is_waiting() -> bool:
        events = today.kubectl("events")
        return "Insufficient nvidia.com/gpu" in events

    until(is_waiting, "the scheduler says what it lacks")
    assert today.gpus(pool) == NOTHING
    today.install_plugin()
    has_gpus(today, pool, "1", "1")
    today.kubectl("wait", f"job/{NAME}", "--for=condition=Complete", TIMEOUT)
    assert "name: T4" in log_of_sample(today)


def test_a_plugin_without_a_toleration_offers_no_gpus(today: Cluster, pool_name: str) -> None:
    today.put_pool(pool_name, vmSize=T4, nodeTaints=["sku=gpu:NoSchedule"])
    today.install_plugin()
    number = ("get", "daemonset", "-n", "gpu-resources", "-o", "jsonpath={..status.numberReady}")
    until(lambda: today.kubectl(*number) == "1", "the plugin runs on the other node")
    assert today.gpus(pool_name) == NOTHING
    today.remove_plugin()
    today.delete(f"/agentPools/{pool_name}")


def test_two_plugins_on_one_node_harm_each_other(today: Cluster, pool: str) -> None:
    today.install_plugin()
    has_gpus(today, pool, "1", "1")
    today.apply(plugin_pod("second", pool))
    has_gpus(today, pool, "1", "0")
    [node] = today.nodes(pool)
    [condition] = [c for c in node["status"]["conditions"] if c["type"] == "DevicePluginConflict"]
    assert (condition["status"], condition["reason"]) == ("True", "TwoDevicePlugins")
    events = ("events", "--for", f"node/{node['metadata']['name']}")
    until(lambda: "2 device plugins on this node" in today.kubectl(*events), "there is a warning")
    today.kubectl("delete", "pod", "second")
    has_gpus(today, pool, "1", "1")
    [node] = today.nodes(pool)
    [condition] = [c for c in node["status"]["conditions"] if c["type"] == "DevicePluginConflict"]
    assert condition["status"] == "False"


def test_the_specialized_image_offers_its_gpus_and_conflicts_with_a_plugin(
    article: Cluster, pool_name: str
) -> None:
    article.azure.register_specialized_image()
    made = article.put_pool(pool_name, SPECIALIZED, vmSize="Standard_NC6")
    has_gpus(article, pool_name, "1", "1")
    # It is nowhere to be read: headers never come back.
    assert "pecialised" not in str(made)
    assert "VHD" not in str(made)
    # A change of the pool, without the header, changes nothing of that.
    article.put_pool(pool_name, vmSize="Standard_NC6", nodeLabels={"a": "b"})
    assert article.gpus(pool_name) == [("1", "1")]
    article.apply(JOB)
    article.kubectl("wait", f"job/{NAME}", "--for=condition=Complete", TIMEOUT)
    assert "Tesla K80" in log_of_sample(article)
    article.kubectl("delete", "job", NAME)
    # The article's warning.
    article.install_plugin()
    has_gpus(article, pool_name, "1", "0")
    article.remove_plugin()
    has_gpus(article, pool_name, "1", "1")
    article.delete(f"/agentPools/{pool_name}")


def test_without_a_driver_the_sample_fails_with_cudas_message(
    today: Cluster, pool_name: str
) -> None:
    today.put_pool(pool_name, vmSize=T4, gpuProfile={"driver": "None"})
    today.apply(sample(limit=False, nodeSelector={"agentpool": pool_name}))
    restarts = ("get", "pods", "-l", f"app={NAME}", "-o", "jsonpath={..restartCount}")
    until(lambda: today.kubectl(*restarts) not in ("", "0"), "it was started again")
    message = "CUDA driver version is insufficient for CUDA runtime version"
    until(lambda: message in today.run("logs", "-l", f"app={NAME}").stdout, "the log says why")
    assert "Found device" not in log_of_sample(today)
    today.kubectl("wait", f"job/{NAME}", "--for=condition=Failed", TIMEOUT)
    today.delete(f"/agentPools/{pool_name}")


def test_a_gpu_pool_grows_from_zero_for_the_sample(today: Cluster, pool_name: str) -> None:
    today.install_plugin()
    limits: Body = {"enableAutoScaling": True, "minCount": 0, "maxCount": 2}
    today.put_pool(pool_name, vmSize=T4, count=0, **limits)
    today.apply(JOB)
    today.kubectl("wait", f"job/{NAME}", "--for=condition=Complete", TIMEOUT)
    # The GPU came later than the node; that was no reason for a second one.
    assert today.pool(pool_name)["count"] <= 1
    until(lambda: today.nodes(pool_name) == [], "the pool is empty again")
    today.kubectl("delete", "job", NAME)
    today.remove_plugin()
    today.delete(f"/agentPools/{pool_name}")


def test_an_ordinary_job_completes_and_its_log_is_empty(today: Cluster) -> None:
    today.kubectl("create", "job", "plain", "--image=busybox")
    today.kubectl("wait", "job/plain", "--for=condition=Complete", TIMEOUT)
    assert today.kubectl("logs", "job/plain") == ""
    today.kubectl("delete", "job", "plain")
