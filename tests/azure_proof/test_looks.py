"""How often the proof looks is not what Azure did: the comparison once told a slow day apart."""

import asyncio
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from azure_proof.azure import Arm

POOL = "/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c/agentPools/gpu"


def arm(answers: Iterator[dict[str, Any]]) -> Arm:
    async def send_request(_: Any) -> Any:
        text = json.dumps({"properties": next(answers)})
        return SimpleNamespace(status_code=200, text=lambda: text)

    clients: Any = SimpleNamespace(
        subscription="s", compute=SimpleNamespace(send_request=send_request)
    )
    return Arm(clients, asyncio.run, is_rehearsal=True, poll_seconds=0)


def test_of_a_wait_for_nodes_only_the_last_look_is_evidence() -> None:
    counts = [0, 0, 0, 1]
    states = ["Scaling", "Succeeded"]
    here = arm({"count": count, "provisioningState": it} for count in counts for it in states)
    here.call("GET", POOL)

    here.until(lambda: here.settled(POOL)["properties"]["count"] == 1, "nothing was scaled")

    kept = [exchange.answer["properties"] for exchange in here.exchanges]
    assert kept == [
        {"count": 0, "provisioningState": "Scaling"},
        {"count": 1, "provisioningState": "Succeeded"},
    ]
