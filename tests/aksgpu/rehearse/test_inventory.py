"""What the cloud has of a stack is what ARM answers, whatever the state says."""

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from aksgpu.rehearse import inventory
from aksgpu.rehearse.state import State
from aksgpu.report import ReportConsole
from kube_client.kubeconfig import parse
from rehearsal.cloud import Cloud

CLUSTER = "azure-native:containerservice:ManagedCluster"


def resource(kind: str, path: str) -> dict[str, Any]:
    return {"type": kind, "id": path, "outputs": {"provisioningState": "Succeeded"}}


def state_of(cloud: Cloud) -> State:
    group = f"/subscriptions/{cloud.subscription}/resourceGroups/nobody-made-this"
    cluster = f"{group}/providers/Microsoft.ContainerService/managedClusters/c"
    plugin = {**resource("kubernetes:apps/v1:DaemonSet", "gpu-resources/plugin"), "outputs": {}}
    return State(
        [
            resource("azure-native:resources:ResourceGroup", group),
            resource(CLUSTER, cluster),
            resource("azure-native:containerservice:AgentPool", f"{cluster}/agentPools/gpu"),
            plugin,
        ]
    )


def test_a_deleted_resource_is_not_shown_as_existing(engine_cloud: Cloud) -> None:
    """The table was the state's: a DaemonSet stood in it that somebody had deleted."""
    rows = inventory.resources(state_of(engine_cloud), engine_cloud, None, {})
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("ResourceGroup", "nobody-made-this", "does not exist"),
        ("ManagedCluster", "c", "does not exist"),
        ("AgentPool", "gpu", "does not exist"),
        ("DaemonSet", "plugin", "unknown: the cluster does not answer"),
    ]


def test_inline_pools_are_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Size and nodes were empty for programs whose pools are all inline, as most are."""
    cluster = "/subscriptions/s/resourcegroups/g/providers/managedClusters/c"
    state = State(
        [
            resource(CLUSTER, cluster),
            resource("azure-native:containerservice:AgentPool", f"{cluster}/agentPools/gpu"),
        ]
    )
    system = {"name": "system", "vmSize": "Standard_D4ds_v5", "count": 2}
    pool = {"vmSize": "Standard_NC8as_T4_v3", "count": 1, "provisioningState": "Succeeded"}
    listed = [system | {"provisioningState": "Succeeded"}, {**pool, "name": "gpu"}]
    bodies = [
        {"properties": {"agentPoolProfiles": listed, "provisioningState": "Succeeded"}},
        {"properties": pool},
    ]
    monkeypatch.setattr(inventory, "_read", lambda *_: bodies)
    assert inventory.resources(state, cast("Cloud", None), None, {}) == [
        ["ManagedCluster", "c", "", "", "Succeeded"],
        ["inline pool", "system", "Standard_D4ds_v5", "2", "Succeeded"],
        ["AgentPool", "gpu", "Standard_NC8as_T4_v3", "1", "Succeeded"],
    ]


def test_a_cluster_that_another_client_deleted_is_recognized(engine_cloud: Cloud) -> None:
    """What was on it could not be asked for, and no rehearsal went on from there."""
    assert inventory.has_lost_clusters(state_of(engine_cloud), engine_cloud)
    assert not inventory.has_lost_clusters(State(), engine_cloud)


class Secrets:
    """An API server with the secrets in which Helm keeps the revisions of its releases."""

    def __init__(self, *labels: dict[str, str]) -> None:
        self._items = [{"metadata": {"labels": each}} for each in labels]

    async def list(self, path: str, labelSelector: str) -> list[Any]:  # noqa: N803 (Kubernetes' name)
        assert path == "/api/v1/namespaces/gpu-operator/secrets"
        assert labelSelector == "owner=helm,name=operator"
        return self._items


@pytest.mark.parametrize(
    ("revisions", "state"),
    [([("9", "superseded"), ("10", "deployed")], "deployed"), ([], "does not exist")],
)
def test_a_helm_release_has_the_state_of_its_newest_revision(
    engine_cloud: Cloud,
    monkeypatch: pytest.MonkeyPatch,
    revisions: list[tuple[str, str]],
    state: str,
) -> None:
    """It has no apiVersion: each rehearsal of a stack with the GPU Operator ended in a KeyError."""
    labels = [{"version": number, "status": status} for number, status in revisions]

    @asynccontextmanager
    async def opened(*_: object) -> AsyncIterator[Secrets]:
        yield Secrets(*labels)

    monkeypatch.setattr(inventory, "opened", opened)
    release = resource("kubernetes:helm.sh/v3:Release", "gpu-operator/operator")
    (row,) = inventory.resources(State([release]), engine_cloud, parse("{}"), {})
    assert row == ["Release", "operator", "", "", state]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({"replicas": 2, "readyReplicas": 2}, "2 of 2 ready"),
        ({"replicas": 2}, "0 of 2 ready"),
        ({}, "Progressing"),
    ],
)
def test_a_deployment_has_the_state_of_its_replicas(status: dict[str, Any], state: str) -> None:
    """One with all its pods was "Progressing", the last condition that holds."""
    conditions = [{"type": kind, "status": "True"} for kind in ("Available", "Progressing")]
    assert inventory._short_state({**status, "conditions": conditions}) == state


def test_the_last_table_fits_a_terminal_of_80_columns() -> None:
    """It was 93 columns wide for dev, and fell apart into 75 lines."""
    rows = [
        ["ManagedCluster", "aks-gpu-dev", "", "", "Succeeded"],
        ["AgentPool", "training", "Standard_NC24ads_A100_v4", "1 (0 to 1)", "Succeeded"],
        ["DaemonSet", "nvidia-device-plugin-daemonset", "", "", "1 of 1 ready"],
    ]
    out = io.StringIO()
    ReportConsole(file=out, width=80).print(inventory.as_table("The stack dev", rows))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert lines == [
        "The stack dev",
        "type            name, size and nodes                            state",
        "ManagedCluster  aks-gpu-dev                                     Succeeded",
        "AgentPool       training  Standard_NC24ads_A100_v4  1 (0 to 1)  Succeeded",
        "DaemonSet       nvidia-device-plugin-daemonset                  1 of 1 ready",
    ]
