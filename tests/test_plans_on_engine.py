"""What was approved is what an update does: previews as lines, and the engine's own plans."""

import json
from pathlib import Path
from typing import Any

import pytest

from aksgpu.ci.plan import plan_of
from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.cluster_bench import ClusterBench
from tests.names import unique
from tests.rehearsal.conftest import API_VERSION, Azure

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

POOL = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "count": 0, "minCount": 0, "maxCount": 2}


def lines(bench: ClusterBench, *more: str) -> list[str]:
    return plan_of(json.loads(bench.pulumi("preview", "--json", *more)))


def test_what_is_planned_and_what_has_drifted(
    engine: Engine, whole_cloud: Cloud, tmp_path: Path
) -> None:
    """Approvers agreed to a preview of the pull request, which could be weeks old.

    The engine's own plans (`--save-plan`) are of no use to this program. A first creation violates
    its plan in the middle: the provider `kubernetes` depends on the cluster, whose kubeconfig the
    preview does not know. See docs/decisions/0056-approvals-compare-previews.md.
    """
    bench = ClusterBench(engine, whole_cloud, tmp_path).begin()
    name = unique("plan")
    config: dict[str, Any] = {
        "resourceGroup": {"name": name},
        "cluster": {"name": name, "protect": False},
        "gpuPools": [POOL],
    }
    bench.write_stack(config)
    bench.pulumi("preview", "--save-plan", "plan.json")
    broken = bench.pulumi("up", "--yes", "--skip-preview", "--plan", "plan.json", fails=True)
    assert "violates plan" in broken
    assert "create pulumi:providers:kubernetes kubernetes" in lines(bench)
    bench.pulumi("up", "--yes", "--skip-preview")
    assert lines(bench) == lines(bench, "--refresh") == []

    # What the autoscaler does meanwhile is neither drift nor another plan.
    azure = Azure(whole_cloud)
    path = bench.resources()["gpu"]["id"].partition("/subscriptions/")[2].partition("/")[2]
    pool = f"/{path}?api-version={API_VERSION}"
    body = azure.call("GET", pool).body["properties"]
    changed = {key: body[key] for key in ("vmSize", "mode", "minCount", "maxCount", "nodeTaints")}
    changed |= {"osType": "Linux", "enableAutoScaling": True, "count": 1}
    assert azure.call("PUT", pool, {"properties": changed}).status == 200
    azure.wait(pool, lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded")
    assert lines(bench, "--refresh") == []
    # A hand is.
    by_hand = {"properties": changed | {"maxCount": 5}}
    assert azure.call("PUT", pool, by_hand).status == 200
    azure.wait(pool, lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded")
    [drift] = lines(bench, "--refresh")
    assert drift.startswith("update azure-native:containerservice:AgentPool gpu: ")
    assert "maxCount" in drift
    bench.pulumi("destroy", "--yes", "--skip-preview")
