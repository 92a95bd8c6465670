"""aks-preview as people use it, through the real engine: what stands for a promise, once each."""

import os
import re
import signal
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest

from tests.bench import Bench
from tests.faults import Faults
from tests.names import unique
from tests.processes import descendants, is_running
from tests.rehearsal.conftest import Azure, new_cluster, wait_until_made
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.engine, pytest.mark.long]

API = "api-version=2026-08-01"
HEADERS = {"EnableACRTeleport": "false", "AKSHTTPCustomFeatures": "Microsoft.ContainerService/A"}
OTHERS = HEADERS | {"EnableACRTeleport": "true"}
POOLS = "/agentPools/gpu"


@dataclass(frozen=True)
class Aks:
    """A cluster in Azure that no stack has, made with raw HTTP, beside a project."""

    bench: Bench
    azure: Azure
    group: str

    @property
    def path(self) -> str:
        provider = f"/resourceGroups/{self.group}/providers/Microsoft.ContainerService"
        return f"{provider}/managedClusters/c"

    def pool(self, **changes: Any) -> dict[str, Any] | None:
        """A pool as Azure has it, before a change by another client; None if there is none."""
        path = f"{self.path}{POOLS}"
        found = self.azure.call("GET", f"{path}?{API}").body
        if changes:
            body = {"properties": found.get("properties", {}) | changes}
            assert self.azure.call("PUT", f"{path}?{API}", body).status in (200, 201)
            wait_until_made(self.azure, path)
        properties: dict[str, Any] | None = found.get("properties")
        return properties

    def program(self, headers: dict[str, str], more: str = "", **args: Any) -> str:
        """A program with one pool in this cluster."""
        values = {"vm_size": "Standard_NC8as_T4_v3", "count": 1} | args
        arguments = ", ".join(f"{key}={value!r}" for key, value in values.items())
        return (
            "import pulumi\n"
            "from pulumi_azure_native import containerservice as aks\n"
            "from aks_preview.resources import AgentPool\n"
            "AgentPool('pool', aks.AgentPoolArgs("
            f"resource_group_name={self.group!r}, resource_name='c', agent_pool_name='gpu', "
            f"{arguments}), custom_headers={headers!r}{more})\n"
        )

    def puts(self) -> list[dict[str, Any]]:
        return self.bench.requests("PUT", f"{self.path}{POOLS}")

    def settles(self, program: str) -> None:
        """One `up` makes everything as the program says, and nothing is left."""
        self.bench.up(program)
        pool = self.bench.resources()["pool"]
        assert pool["outputs"]["provisioningState"] == "Succeeded"
        assert not pool.get("initErrors")
        assert self.bench.changes("--refresh") == {}


@pytest.fixture
def aks(bench: Bench) -> Aks:
    """A cluster of the test's own, finished."""
    made = Aks(bench, Azure(bench.cloud), unique("preview"))
    group = f"/resourceGroups/{made.group}?api-version=2025-04-01"
    made.azure.call("PUT", group, {"location": "eastus"})
    made.azure.call("PUT", f"{made.path}?{API}", new_cluster())
    wait_until_made(made.azure, made.path)
    return made


def test_a_pool_lives_with_headers_on_each_put_and_on_nothing_else(aks: Aks) -> None:
    bench, labels = aks.bench, {"team": "a"}
    aks.settles(aks.program(HEADERS, node_labels=labels))
    assert bench.resources()["pool"]["id"].endswith(f"/managedClusters/c{POOLS}")

    # Others change it, and a policy tags it: a refresh says what of it is the program's.
    aks.pool(count=3, nodeLabels=labels | {"b": "c"}, tags={"cost": "1"})
    assert bench.changes() == {}
    bench.pulumi("refresh", "--yes", "--skip-preview")
    inputs = bench.resources()["pool"]["inputs"]
    assert (inputs["count"], inputs["nodeLabels"]) == (3, labels)
    assert inputs["customHeaders"] == HEADERS
    assert "tags" not in inputs
    assert bench.changes() == {"pool": "update"}
    aks.settles(aks.program(OTHERS, node_labels=labels))

    changed = aks.program(HEADERS, ", replace_on_header_change=True", node_labels=labels)
    bench.write(changed)
    assert "replace" in bench.changes()["pool"]
    aks.settles(changed)
    assert len(bench.requests("DELETE", f"{aks.path}/agentPools")) == 1
    bench.pulumi("destroy", "--yes", "--skip-preview")
    assert (bench.resources(), aks.pool()) == ({}, None)

    # One put is the other client's.
    sent = [put["headers"].get("EnableACRTeleport") for put in aks.puts()]
    assert sent == ["false", None, "true", "false"]
    for method in ("GET", "POST", "DELETE"):
        assert not [it for it in bench.requests(method) if "EnableACRTeleport" in it["headers"]]


def test_a_pool_created_with_raw_http_is_imported(aks: Aks) -> None:
    bench = aks.bench
    aks.pool(vmSize="Standard_NC8as_T4_v3", count=1, nodeTaints=["sku=gpu:NoSchedule"])
    program = aks.program(HEADERS, node_taints=["sku=gpu:NoSchedule"])
    resource_id = f"{aks.azure.subscription}{aks.path}{POOLS}"
    command = f"pulumi import aks-preview:containerservice:AgentPool pool {resource_id}"
    assert f"`{command}`" in bench.up(program, fails=True)

    bench.pulumi(*command.split()[1:], "--yes", "--generate-code=false", "--protect=false")

    # What AKS has chosen, and the program does not say, is no replacement.
    assert bench.changes() in ({}, {"pool": "update"})
    aks.settles(program)


def test_what_a_killed_engine_began_is_taken_over(aks: Aks, faults: Faults) -> None:
    """Typed as the error says it: imports made a second pool, without parent and headers."""
    bench, program = aks.bench, aks.program(HEADERS)
    faults.script({"method": "PUT", "path": f"{POOLS}$", "operation": "stuck"})
    bench.write(program)
    with bench.updating() as update:
        until(lambda: [put for put in aks.puts() if put["status"] == 201], "Azure makes the pool")
        begun = descendants(update.pid)
        assert any("aks_preview" in line for line in begun.values())
        os.kill(update.pid, signal.SIGKILL)
    # What it has started ends by itself: nobody is left to work for.
    until(lambda: not any(map(is_running, begun)), f"none of {begun} is left")
    faults.lift()

    bench.pulumi("cancel", "--yes")
    output = bench.pulumi("up", "--yes", "--skip-preview", fails=True)
    found = re.search(r"`(AKS_PREVIEW_TAKE_OVER=\S+\s+pulumi up)`", output)
    assert found is not None, output
    ended = subprocess.run(
        ["bash", "-c", f"{found[1]} --yes --skip-preview --stack test"],  # noqa: S607 (the user's)
        cwd=bench.folder / "project",
        env=bench.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert bench.resources()["pool"]["inputs"]["customHeaders"] == HEADERS
    aks.settles(program)
