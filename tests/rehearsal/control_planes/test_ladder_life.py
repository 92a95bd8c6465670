"""A ladder of pools for one kind of pod: what is sold out, what is drained, what comes next."""

import json
from typing import Any

import pytest
import yaml

from aks_catalogue.nodes import SPOT_LABEL
from tests.rehearsal.control_planes.conftest import Body, Cluster
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.long]

SPOT, OTHER = "Standard_D4ds_v5", "Standard_D8ds_v5"
# The first is the best: spot machines, regular ones of that size, and those of another size.
RUNGS: dict[str, Body] = {
    "spot": {"vmSize": SPOT, "scaleSetPriority": "Spot", "availabilityZones": ["1", "2"]},
    "regular": {"vmSize": SPOT, "availabilityZones": ["1", "2"]},
    "other": {"vmSize": OTHER},
}
PRIORITIES = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"},
    "data": {"priorities": "30: [.*-spot-.*]\n20: [.*-regular-.*]\n10: [.*-other-.*]\n"},
}
SPOT_SOLD_OUT = {"size": SPOT, "priority": "spot", "is": "soldOut"}
REGULAR_SOLD_OUT = {"size": SPOT, "priority": "regular", "is": "soldOut"}
OTHER_SOLD_OUT = {"size": OTHER, "is": "soldOut"}


def job(name: str) -> Body:
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "3"}}}
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {
            "nodeSelector": {"ladder": "training"},
            # Not of all taints: such a pod comes back to a node that is drained.
            "tolerations": [{"key": SPOT_LABEL[0], "operator": "Exists"}],
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
        },
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template},
    }


class Ladder:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        cluster.put(
            {
                "agentPoolProfiles": [
                    {"name": "system", "mode": "System", "vmSize": SPOT, "count": 1}
                ],
                "autoScalerProfile": {"expander": "priority"},
            }
        )
        for name, rung in RUNGS.items():
            cluster.put_pool(
                name,
                **rung,
                enableAutoScaling=True,
                count=0,
                minCount=0,
                maxCount=2,
                nodeLabels={"ladder": "training"},
            )
        cluster.apply(PRIORITIES)

    def sell_out(self, *sizes: Body) -> None:
        self.cluster.azure.cloud.offer({"sizes": list(sizes)})

    def rung(self, name: str) -> str | None:
        """The pool on whose node the pod of a job runs."""
        pods = self.cluster.objects(
            "pods", "-l", f"app={name}", "--field-selector=status.phase=Running"
        )
        nodes = [
            pod["spec"]["nodeName"] for pod in pods if "deletionTimestamp" not in pod["metadata"]
        ]
        return nodes[0].split("-")[1] if nodes else None

    def status(self) -> dict[str, Any]:
        """The part of the autoscaler's status about growth, by pool."""
        name = "cluster-autoscaler-status"
        read = json.loads(
            self.cluster.kubectl("get", "configmap", "-n", "kube-system", name, "-o", "json")
        )
        groups = yaml.safe_load(read["data"]["status"])["nodeGroups"]
        return {group["name"].split("-")[1]: group["scaleUp"] for group in groups}

    def told(self, reason: str) -> list[str]:
        events = self.cluster.objects("events", "-A", f"--field-selector=reason={reason}")
        return [event["message"] for event in events]


def test_a_job_goes_down_the_ladder_and_up_again(another: Any) -> None:
    """Of a sold-out pool, no pod ever came to the next, and nothing said why."""
    ladder = Ladder(another())
    cluster = ladder.cluster
    try:
        ladder.sell_out(SPOT_SOLD_OUT)
        cluster.apply(job("first"))
        until(lambda: ladder.rung("first") == "regular", "the job is on the next rung")
        backed_off = ladder.status()["spot"]
        assert backed_off["status"] == "Backoff"
        assert backed_off["backoffInfo"]["errorCode"] == "cloudProviderError"
        assert "SkuNotAvailable" in backed_off["backoffInfo"]["errorMessage"]
        assert any("aks-regular-" in message for message in ladder.told("TriggeredScaleUp"))

        ladder.sell_out(SPOT_SOLD_OUT, REGULAR_SOLD_OUT, OTHER_SOLD_OUT)
        cluster.apply(job("second"))
        why = "pod didn't trigger scale-up: 3 in backoff after failed scale-up"
        until(lambda: why in ladder.told("NotTriggerScaleUp"), "the pod waits, and hears why")
        info = ladder.status()["other"]["backoffInfo"]
        assert info["errorCode"] == "provisioning-state-failed"
        assert {cluster.pool(name)["count"] for name in ("spot", "other")} == {0}

        # Zone 1 stays sold out: the node comes in the other.
        ladder.sell_out({**SPOT_SOLD_OUT, "zones": ["1"]}, REGULAR_SOLD_OUT, OTHER_SOLD_OUT)
        until(lambda: ladder.rung("second") == "spot", "the best rung is taken, open again")
        [node] = cluster.nodes("spot")
        assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "eastus-2"
        until(lambda: ladder.status()["spot"]["status"] == "NoActivity", "nothing is left to do")

        # Somebody takes the spot node away, and Azure has no other.
        ladder.sell_out(SPOT_SOLD_OUT, OTHER_SOLD_OUT)
        cluster.kubectl("drain", node["metadata"]["name"], "--ignore-daemonsets", "--force")
        until(lambda: ladder.rung("second") == "regular", "its pod is on the next rung")
        until(lambda: cluster.nodes("spot") == [], "the drained node is gone")
    finally:
        ladder.sell_out()
        cluster.delete()
