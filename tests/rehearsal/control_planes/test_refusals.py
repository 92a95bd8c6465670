"""What the API server of a cluster refuses, or what nobody understands, harms nothing else."""

from typing import Any

import pytest

from rehearsal.arm.home import Home
from tests.rehearsal.control_planes.conftest import Body, Cluster, V
from tests.waiting import TIMEOUT, until

pytestmark = pytest.mark.nightly

SIZE = {"vmSize": "Standard_D4ds_v5", "count": 1}
# Each is right as the API has it, and together nodes cannot have them.
TWICE = ["sku=gpu:NoSchedule", "sku=a100:NoSchedule"]


def put(cluster: Cluster, name: str, **properties: Any) -> Body:
    """What became of the operation that a PUT has begun."""
    body = {"properties": {**SIZE, **properties}}
    reply = cluster.azure.call("PUT", f"{cluster.path}/agentPools/{name}{V}", body)
    assert reply.status in (200, 201), reply
    return ended(cluster, reply.headers["Azure-AsyncOperation"])


def ended(cluster: Cluster, operation: str) -> Body:
    address = cluster.azure.below(operation)

    def over() -> Body | None:
        body: Body = cluster.azure.call("GET", address).body
        return body if "endTime" in body else None

    return until(over, "the operation has ended")


def remove(cluster: Cluster, name: str) -> None:
    reply = cluster.azure.call("DELETE", f"{cluster.path}/agentPools/{name}{V}")
    assert reply.status == 202
    assert ended(cluster, reply.headers["Azure-AsyncOperation"])["status"] == "Succeeded"
    assert cluster.names(name) == []


def test_a_refused_node_fails_the_operation_with_the_api_servers_message(
    today: Cluster, pool_name: str
) -> None:
    """The operation never ended, so neither pool nor cluster could be changed or deleted."""
    failed = put(today, pool_name, nodeTaints=TWICE)
    assert failed["status"] == "Failed"
    assert failed["error"]["code"] == "NodesRefused"
    assert "taints must be unique by key and effect" in failed["error"]["message"]
    assert today.pool(pool_name)["provisioningState"] == "Failed"

    assert put(today, pool_name, nodeTaints=TWICE[:1])["status"] == "Succeeded"
    assert len(today.names(pool_name)) == 1
    assert put(today, pool_name, nodeTaints=TWICE)["status"] == "Failed"
    remove(today, pool_name)
    assert today.azure.call("GET", f"{today.path}/agentPools/{pool_name}{V}").status == 404


def test_a_refusal_is_logged_once(today: Cluster, pool_name: str) -> None:
    """The log grew by ten tracebacks a second."""
    log = Home(today.azure.cloud.home).server_log
    put(today, pool_name, nodeTaints=TWICE)
    until(lambda: len(written(log.read_text(), pool_name)) == 1, "it is said")
    # As many looks at the pool as change something in the cluster.
    for number in range(5):
        today.kubectl("create", "configmap", f"{pool_name}-{number}")
    remove(today, pool_name)
    assert len(written(log.read_text(), pool_name)) == 1


def written(log: str, pool: str) -> list[str]:
    return [line for line in log.splitlines() if f"The pool {pool} of" in line]


def is_cordoned(node: Body) -> bool:
    return bool(node["spec"].get("unschedulable"))


def keep_both(today: Cluster, pool_name: str) -> None:
    """Runs two pods on the two nodes of a pool, with a budget that lets none go."""
    labels = {"app": pool_name}
    today.apply(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": pool_name},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {
                        "nodeSelector": {"agentpool": pool_name},
                        "topologySpreadConstraints": [
                            {
                                "maxSkew": 1,
                                "topologyKey": "kubernetes.io/hostname",
                                "whenUnsatisfiable": "DoNotSchedule",
                                "labelSelector": {"matchLabels": labels},
                            }
                        ],
                        "containers": [{"name": "one", "image": "registry.k8s.io/pause:3.10"}],
                    },
                },
            },
        }
    )
    today.kubectl("rollout", "status", f"deployment/{pool_name}", TIMEOUT)
    today.apply(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": pool_name},
            "spec": {"minAvailable": 2, "selector": {"matchLabels": labels}},
        }
    )


def test_a_pod_that_cannot_be_evicted_ends_the_operation(today: Cluster, pool_name: str) -> None:
    """A scale-down waited for ever, and a deletion not at all; AKS gives up after the timeout."""
    timeout = {"drainTimeoutInMinutes": 5}
    put(today, pool_name, count=2, upgradeSettings=timeout)
    keep_both(today, pool_name)
    path = f"{today.path}/agentPools/{pool_name}"
    before = {pod["metadata"]["uid"] for pod in today.objects("pods", "-l", f"app={pool_name}")}
    failed = ended(today, today.azure.call("DELETE", f"{path}{V}").headers["Azure-AsyncOperation"])
    assert (failed["status"], failed["error"]["code"]) == ("Failed", "PodDrainFailure")
    until(lambda: not any(map(is_cordoned, today.nodes(pool_name))), "the nodes take pods again")
    assert len(today.names(pool_name)) == 2
    pods = today.objects("pods", "-l", f"app={pool_name}")
    assert before == {pod["metadata"]["uid"] for pod in pods}

    failed = put(today, pool_name, count=1, upgradeSettings=timeout)
    assert failed["status"] == "Failed"
    assert failed["error"]["code"] == "PodDrainFailure"
    assert "disruption budget" in failed["error"]["message"]

    # The deletion can be told to ignore budgets.
    forced = today.azure.call("DELETE", f"{path}{V}&ignore-pod-disruption-budget=true")
    assert ended(today, forced.headers["Azure-AsyncOperation"])["status"] == "Succeeded"
    assert today.names(pool_name) == []
    today.kubectl("delete", f"deployment/{pool_name}", f"pdb/{pool_name}")
