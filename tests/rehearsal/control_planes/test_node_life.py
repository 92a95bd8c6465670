"""A node's life: agent pools make nodes, change them, replace them and take them away."""

import json
import re
from datetime import datetime, timedelta
from typing import Any

import pytest

from rehearsal.control_planes import nodes
from tests.rehearsal.control_planes.conftest import Body, Cluster, V
from tests.waiting import TIMEOUT, until

pytestmark = [pytest.mark.engine, pytest.mark.long]

LARGE = {"requests": {"cpu": "3"}}


def deployment(name: str, pool: str, replicas: int, **spec: Any) -> Body:
    """Pods that only nodes of one pool will do for; two of them do not fit on one node."""
    labels = {"app": name}
    container = {"name": "main", "image": "busybox", "resources": LARGE}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "nodeSelector": {"agentpool": pool},
                    "containers": [container],
                    **spec,
                },
            },
        },
    }


def ready(cluster: Cluster, pool: str) -> list[str]:
    return [
        node["metadata"]["name"]
        for node in cluster.nodes(pool)
        if any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"]["conditions"])
    ]


def own_taints(node: Body) -> list[Body]:
    """The taints of the pool, without those that Kubernetes gives and takes by itself.

    It does so until it has seen a new node ready.
    """
    return [taint for taint in node["spec"]["taints"] if "node.kubernetes.io/" not in taint["key"]]


def test_a_pool_makes_nodes_as_aks_does(today: Cluster, pool_name: str) -> None:
    properties: Body = {
        "count": 2,
        "nodeLabels": {"team": "vision"},
        "nodeTaints": ["sku=gpu:NoSchedule"],
        "availabilityZones": ["1", "3"],
        "maxPods": 50,
    }
    today.put_pool(pool_name, vmSize="Standard_NC8as_T4_v3", **properties)
    first, second = today.nodes(pool_name)
    name = first["metadata"]["name"]
    assert re.fullmatch(rf"aks-{pool_name}-\d{{8}}-vmss000000", name)
    assert second["metadata"]["name"] == f"{name.removesuffix('0')}1"
    group = today.azure.call("GET", f"{today.path}{V}").body["properties"]["nodeResourceGroup"]
    scale_set = name.removesuffix("000000")
    assert first["spec"]["providerID"] == (
        f"azure:///subscriptions/{today.azure.cloud.subscription}/resourceGroups/{group}/providers/"
        f"Microsoft.Compute/virtualMachineScaleSets/{scale_set}/virtualMachines/0"
    )
    labels = first["metadata"]["labels"]
    assert (
        labels.items()
        >= {
            "agentpool": pool_name,
            "kubernetes.azure.com/agentpool": pool_name,
            "kubernetes.azure.com/cluster": group,
            "kubernetes.azure.com/mode": "user",
            "kubernetes.azure.com/accelerator": "nvidia",
            "accelerator": "nvidia",
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "node.kubernetes.io/instance-type": "Standard_NC8as_T4_v3",
            "topology.kubernetes.io/region": "eastus",
            "topology.kubernetes.io/zone": "eastus-1",
            "team": "vision",
        }.items()
    )
    assert second["metadata"]["labels"]["topology.kubernetes.io/zone"] == "eastus-3"
    image = today.pool(pool_name)["nodeImageVersion"]
    assert labels["kubernetes.azure.com/node-image-version"] == image
    assert own_taints(first) == [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]
    assert first["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.5"
    assert first["status"]["capacity"]["cpu"] == "8"
    assert first["status"]["allocatable"]["cpu"] == "7820m"
    assert first["status"]["allocatable"]["pods"] == "50"
    until(lambda: len(ready(today, pool_name)) == 2, "both are ready")
    today.delete(f"/agentPools/{pool_name}")
    assert today.nodes(pool_name) == []


def test_a_node_of_the_articles_pool_is_as_in_the_article(article: Cluster, pool_name: str) -> None:
    article.put_pool(pool_name, vmSize="Standard_NC6")
    [node] = article.nodes(pool_name)
    name = node["metadata"]["name"]
    assert re.fullmatch(rf"aks-{pool_name}-\d{{8}}-0", name)
    group = article.azure.call("GET", f"{article.path}{V}").body["properties"]["nodeResourceGroup"]
    assert re.fullmatch(r"MC_group\d+_cluster\d+_eastus", group)
    assert node["spec"]["providerID"] == (
        f"azure:///subscriptions/{article.azure.cloud.subscription}/resourceGroups/{group}"
        f"/providers/Microsoft.Compute/virtualMachines/{name}"
    )
    capacity, allocatable = node["status"]["capacity"], node["status"]["allocatable"]
    assert (capacity["cpu"], allocatable["cpu"]) == ("6", "5916m")
    assert (capacity["memory"], allocatable["memory"]) == ("57713784Ki", "51702904Ki")
    # On an overlay, as of Kubernetes 1.30. The article's own cluster had kubenet, and 110.
    assert (capacity["pods"], allocatable["pods"]) == ("250", "250")
    assert node["metadata"]["labels"]["accelerator"] == "nvidia"
    article.delete(f"/agentPools/{pool_name}")


def test_nodes_of_a_spot_pool_have_its_labels_and_taint(today: Cluster, pool_name: str) -> None:
    today.put_pool(pool_name, scaleSetPriority="Spot")
    [node] = today.nodes(pool_name)
    key = "kubernetes.azure.com/scalesetpriority"
    assert node["metadata"]["labels"][key] == "spot"
    assert own_taints(node) == [{"key": key, "value": "spot", "effect": "NoSchedule"}]
    assert "accelerator" not in node["metadata"]["labels"]
    today.delete(f"/agentPools/{pool_name}")


def test_scaling_adds_and_removes_nodes(today: Cluster, pool_name: str) -> None:
    today.put_pool(pool_name, count=1)
    [first] = today.names(pool_name)
    today.put_pool(pool_name, count=3)
    until(lambda: len(ready(today, pool_name)) == 3, "all three are ready")
    today.apply(deployment(pool_name, pool_name, 1))
    today.put_pool(pool_name, count=0)
    assert today.names(pool_name) == []
    today.put_pool(pool_name, count=1)
    until(lambda: ready(today, pool_name) == [first], "it is ready")
    # What ran on a node that went has found its way to the new one.
    today.kubectl("wait", f"deployment/{pool_name}", "--for=condition=Available", TIMEOUT)
    today.kubectl("delete", "deployment", pool_name)
    today.delete(f"/agentPools/{pool_name}")


def test_labels_and_taints_follow_the_pool(today: Cluster, pool_name: str) -> None:
    properties: Body = {"nodeLabels": {"a": "1", "b": "2"}, "nodeTaints": ["x=1:NoSchedule"]}
    today.put_pool(pool_name, **properties)
    [before] = today.nodes(pool_name)
    today.kubectl("label", "node", before["metadata"]["name"], "mine=kept")
    today.put_pool(pool_name, nodeLabels={"b": "3"}, nodeTaints=["y=1:NoExecute"])

    def has_followed() -> bool:
        [node] = today.nodes(pool_name)
        labels = node["metadata"]["labels"]
        return (labels.get("a"), labels.get("b")) == (None, "3")

    until(has_followed, "the labels are those of the pool")
    [after] = today.nodes(pool_name)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["metadata"]["labels"]["mine"] == "kept"
    assert own_taints(after) == [{"key": "y", "value": "1", "effect": "NoExecute"}]
    today.delete(f"/agentPools/{pool_name}")


def test_an_autoscaled_pool_scales_from_zero_and_back(today: Cluster, pool_name: str) -> None:
    today.put_pool(pool_name, count=0, enableAutoScaling=True, minCount=0, maxCount=2)
    assert today.nodes(pool_name) == []
    # A pod for another pool is no reason to grow.
    today.apply(deployment("elsewhere", "nowhere", 1))
    # Three nodes' worth of pods, and room for two.
    today.apply(deployment(pool_name, pool_name, 3))
    until(lambda: len(ready(today, pool_name)) == 2, "there are two nodes")
    until(lambda: today.pool(pool_name)["count"] == 2, "the pool says so")

    def phases() -> list[str]:
        pods = today.objects("pods", "-l", f"app={pool_name}")
        return sorted(pod["status"]["phase"] for pod in pods)

    until(lambda: phases() == ["Pending", "Running", "Running"], "two pods run, one has no room")

    today.kubectl("scale", "deployment", pool_name, "--replicas=1")
    until(lambda: len(today.nodes(pool_name)) == 1, "one node is left")
    busy = today.objects("pods", "-l", f"app={pool_name}", "--field-selector=status.phase=Running")
    [name] = today.names(pool_name)
    assert {pod["spec"]["nodeName"] for pod in busy} == {name}

    # A node that the autoscaler found idle stays if a pod has come meanwhile: as AKS's own, the
    # autoscaler looks once more. It drained such a node, and a check's job failed with it.
    mark = {"annotations": {nodes.DELETING: nodes.AS_IDLE}}
    going = {"metadata": mark, "spec": {"unschedulable": True}}
    today.kubectl("patch", "node", name, "-p", json.dumps(going))

    def is_taken_back() -> bool:
        [node] = today.nodes(pool_name)
        return not nodes.is_deleting(node) and not node["spec"].get("unschedulable")

    until(is_taken_back, "the node takes pods again")
    assert {pod["metadata"]["uid"] for pod in busy} <= {
        pod["metadata"]["uid"] for pod in today.objects("pods", "-l", f"app={pool_name}")
    }
    until(lambda: today.pool(pool_name)["count"] == 1, "the pool says so")
    today.kubectl("delete", "deployment", pool_name, "elsewhere")
    until(lambda: today.nodes(pool_name) == [], "no node is left")
    until(lambda: today.pool(pool_name)["count"] == 0, "the pool says so")
    today.delete(f"/agentPools/{pool_name}")


def test_an_autoscaled_pool_keeps_its_minimum(today: Cluster, pool_name: str) -> None:
    today.put_pool(pool_name, count=1, enableAutoScaling=True, minCount=1, maxCount=3)
    today.put_pool(pool_name, count=1, enableAutoScaling=True, minCount=2, maxCount=3)
    until(lambda: len(ready(today, pool_name)) == 2, "there are as many as the least")
    today.delete(f"/agentPools/{pool_name}")


def test_an_upgrade_replaces_nodes_one_by_one_with_surge(today: Cluster, pool_name: str) -> None:
    today.put_pool(pool_name, count=2, orchestratorVersion="1.34")
    before = today.nodes(pool_name)
    assert {node["status"]["nodeInfo"]["kubeletVersion"] for node in before} == {"v1.34.12"}
    today.apply(deployment(pool_name, pool_name, 2))
    today.kubectl("wait", f"deployment/{pool_name}", "--for=condition=Available", TIMEOUT)

    body = {"properties": {**today.pool(pool_name), "orchestratorVersion": "1.35"}}
    path = f"{today.path}/agentPools/{pool_name}{V}"
    assert today.azure.call("PUT", path, body).status == 200
    most, fewest_ready = 0, 9

    def is_done() -> bool:
        nonlocal most, fewest_ready
        most = max(most, len(today.nodes(pool_name)))
        fewest_ready = min(fewest_ready, len(ready(today, pool_name)))
        state = today.azure.call("GET", path).body["properties"]["provisioningState"]
        return bool(state == "Succeeded")

    until(is_done, "the upgrade has succeeded")
    after = today.nodes(pool_name)
    assert {node["status"]["nodeInfo"]["kubeletVersion"] for node in after} == {"v1.35.9"}
    assert {node["metadata"]["name"] for node in after} == {
        node["metadata"]["name"] for node in before
    }
    assert not {node["metadata"]["uid"] for node in after} & {
        node["metadata"]["uid"] for node in before
    }
    # One more for the time of it, so that never fewer than before were there to run pods.
    assert (most, fewest_ready) == (3, 2)
    today.kubectl("wait", f"deployment/{pool_name}", "--for=condition=Available", TIMEOUT)
    today.kubectl("delete", "deployment", pool_name)
    today.delete(f"/agentPools/{pool_name}")


def test_a_pod_disruption_budget_delays_the_drain_of_a_node(today: Cluster, pool_name: str) -> None:
    today.put_pool(pool_name, count=1)
    today.apply(deployment(pool_name, pool_name, 1))
    today.kubectl("wait", f"deployment/{pool_name}", "--for=condition=Available", TIMEOUT)
    today.kubectl(
        "create", "poddisruptionbudget", pool_name, f"--selector=app={pool_name}",
        "--min-available=1",
    )  # fmt: skip
    path = f"{today.path}/agentPools/{pool_name}{V}"
    body = {"properties": {"vmSize": "Standard_D4ds_v5", "count": 0}}

    def state() -> str:
        return str(today.azure.call("GET", path).body["properties"]["provisioningState"])

    assert today.azure.call("PUT", path, body).status == 200
    until(lambda: today.nodes(pool_name)[0]["spec"].get("unschedulable"), "it is being emptied")
    assert state() == "Scaling"
    today.kubectl("delete", "poddisruptionbudget", pool_name)
    until(lambda: today.nodes(pool_name) == [], "the node is gone")
    until(lambda: state() == "Succeeded", "the pool is updated")
    today.kubectl("delete", "deployment", pool_name)
    today.delete(f"/agentPools/{pool_name}")


def test_a_node_that_comes_back_at_once_runs_pods_at_once(today: Cluster, pool_name: str) -> None:
    """They waited ten seconds, and sometimes for ever: kwok left the pods of a node alone as long
    as it had no lease for it, and Kubernetes deletes the lease of a node with its namesake."""
    today.put_pool(pool_name)
    today.apply(deployment(pool_name, pool_name, 1))
    pods, of_pool = ("pods", "-l", f"app={pool_name}"), ("nodes", "-l", f"agentpool={pool_name}")

    def there(*what: str) -> dict[str, Body]:
        held = today.objects(*what)
        return {
            each["metadata"]["uid"]: each
            for each in held
            if each["status"].get("phase") != "Pending"
        }

    def next_of(before: dict[str, Body], *what: str) -> dict[str, Body]:
        return until(
            lambda: {uid: each for uid, each in there(*what).items() if uid not in before},
            f"there are other {what[0]}",
        )

    waits = []
    for _ in range(3):
        old_pods, old_nodes = next_of({}, *pods), there(*of_pool)
        today.kubectl("delete", *of_pool, "--wait=false")
        next_of(old_nodes, *of_pool)
        # As Kubernetes does, at this time or a little later.
        today.kubectl("delete", "leases", "-n", "kube-node-lease", "--all")
        today.kubectl("delete", *pods, "--force", "--grace-period=0", "--wait=false")
        [new] = next_of(old_pods, *pods).values()
        made, begun = new["metadata"]["creationTimestamp"], new["status"]["startTime"]
        waits.append(datetime.fromisoformat(begun) - datetime.fromisoformat(made))
    assert min(waits) < timedelta(seconds=8), waits
    today.kubectl("delete", "deployment", pool_name)
    today.delete(f"/agentPools/{pool_name}")
