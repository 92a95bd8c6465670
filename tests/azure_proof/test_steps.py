"""What a step leaves to the next ones."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aksgpu.outcome import Cause, StoppedError, stopped
from azure_proof import steps
from azure_proof.choice import Choice
from azure_proof.steps import Proof


class Stack:
    """Remembers the pools of the last update; one with a pool of that name fails."""

    def __init__(self, refused: str) -> None:
        self.refused = refused
        self.pools: list[str] = []

    def up(self, settings: dict[str, Any]) -> None:
        self.pools = [pool["name"] for pool in settings["gpuPools"]]
        if self.refused in self.pools:
            raise stopped(Cause.UPDATE_FAILED, "no", "try again")


@pytest.mark.parametrize("refused", ["header", "no-pool"])
def test_the_pool_with_a_header_is_gone_before_the_next_step(refused: str) -> None:
    """Half of all times the sample job got a node of it, as both pools fit: an update that adds
    the job had already taken the pool from the device plugin, so the job waited for ever."""
    pool = {"properties": {"provisioningState": "Succeeded"}}
    arm: Any = SimpleNamespace(settled=lambda _: pool)
    stack: Any = Stack(refused)
    choice = Choice("eastus2", "Standard_NC4as_T4_v3")
    proof = Proof(choice, "g", "2026-11-28", arm, stack, Path("kubectl"))

    with pytest.raises(StoppedError) if refused == "header" else nullcontext():
        outcome = steps.header(proof)
        assert outcome.actual == outcome.expected

    assert stack.pools == ["gpu"]
