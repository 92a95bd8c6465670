"""Pools of a test's cluster in the rehearsal cloud, behind the stack's back."""

from tests.bench import Bench
from tests.rehearsal.conftest import Azure, Reply

V = "?api-version=2026-08-01"


def path(name: str) -> str:
    return f"/resourceGroups/{name}/providers/Microsoft.ContainerService/managedClusters/{name}"


def scale(bench: Bench, name: str, pool: str, count: int) -> None:
    """What the autoscaler does behind the stack's back."""
    azure, address = Azure(bench.cloud), f"{path(name)}/agentPools/{pool}{V}"
    body = azure.call("GET", address).body
    body["properties"]["count"] = count
    assert azure.call("PUT", address, body).status == 200

    def is_done(reply: Reply) -> bool:
        return bool(reply.body["properties"]["provisioningState"] == "Succeeded")

    azure.wait(address, is_done)


def live_count(bench: Bench, name: str, pool: str) -> int:
    reply = Azure(bench.cloud).call("GET", f"{path(name)}/agentPools/{pool}{V}")
    count: int = reply.body["properties"]["count"]
    return count
