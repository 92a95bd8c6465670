"""Pools become rungs of a capacity, and leave it again: what is in Azure stays."""

from typing import Any

import pytest

from aks_catalogue.capacity import CONFIG_MAP
from tests.bench import Bench
from tests.cluster_bench import ClusterBench
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.long]

SCALED = {"minCount": 0, "maxCount": 2, "count": 0}
SPOT = {"name": "spot", "vmSize": "Standard_NC8as_T4_v3", "spot": True, **SCALED}
WATCHED = ("spot", "regular", "autoscaler-priorities")
REGULAR = {"name": "regular", "vmSize": "Standard_NC8as_T4_v3", "protect": True, **SCALED}


def ladder(name: str, *rungs: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "rungs": [*rungs]}


def test_pools_stay_when_they_come_to_a_capacity_and_go(whole_bench: Bench) -> None:
    """Pulumi knows a resource by its parent: it created the pool anew, which Azure refused."""
    name = unique("capacity")
    stack: dict[str, Any] = {
        "resourceGroup": {"name": name},
        "cluster": {"name": name, "protect": False},
        "gpuStack": "none",
    }

    def up(**more: Any) -> dict[str, str]:
        whole_bench.write_stack(stack | more)
        done = whole_bench.update()
        return {name: change for name, change in done.items() if name in WATCHED}

    up(gpuPools=[SPOT, REGULAR])
    assert up(gpuCapacity=[ladder("training", SPOT, REGULAR)]) == {
        "spot": "update",
        "regular": "update",
        "autoscaler-priorities": "create",
    }
    assert whole_bench.changes() == {}
    placed = whole_bench.resources()["regular"]["inputs"]
    assert placed["nodeLabels"] == {"aks-gpu/capacity": "training"}
    whole_bench.write_stack(stack | {"gpuCapacity": [ladder("training", SPOT)]})
    assert "protect" in whole_bench.pulumi("preview", fails=True)

    # The autoscaler has no order while its ConfigMap is replaced.
    assert up(gpuCapacity=[ladder("other", REGULAR, SPOT)]) == {
        "spot": "update",
        "regular": "update",
        "autoscaler-priorities": "update",
    }
    cluster = ClusterBench(whole_bench.engine, whole_bench.cloud, whole_bench.folder)
    order = cluster.kubectl("get", "configmap", "-n", "kube-system", CONFIG_MAP, "-o", "yaml")
    assert order.index("^aks-regular-") < order.index("^aks-spot-")
    profile = whole_bench.resources()["cluster"]["inputs"]["autoScalerProfile"]
    assert profile["expander"] == "priority"

    assert up(gpuPools=[REGULAR], gpuCapacity=[ladder("other", SPOT)]) == {
        "regular": "update",
        "autoscaler-priorities": "update",
    }
    assert up(gpuPools=[REGULAR, SPOT]) == {"spot": "update", "autoscaler-priorities": "delete"}
    assert whole_bench.requests("DELETE", "agentPools") == []
    assert whole_bench.resources()["regular"]["inputs"]["nodeLabels"] == {}
    unprotected = {**REGULAR, "protect": False}
    assert up(gpuPools=[unprotected]) == {"spot": "delete"}
    whole_bench.pulumi("destroy", "--yes", "--skip-preview")
