"""Scaling, drift, refreshes, updates and kills in any order: an empty preview is at the end."""

import os
import random
import signal
from collections.abc import Callable

import pytest

from tests import azure_pools
from tests.azure_pools import V, live_count, path
from tests.bench import Bench
from tests.components.test_live_pools_on_engine import program
from tests.names import unique
from tests.rehearsal.conftest import Azure
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.engine, pytest.mark.long]

STEPS = 6
# The pools that AKS scales, with their limits in any program.
SCALED = {"gpu": (0, 5), "spot": (0, 4), "system": (3, 5)}


class Life:
    """A stack, what its program says, and the counts that the autoscaler has chosen."""

    def __init__(self, bench: Bench, seed: int) -> None:
        self.bench, self.name, self.any = bench, unique("sequence"), random.Random(seed)  # noqa: S311
        self.says: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.up()

    def up(self) -> None:
        self.bench.up(program(self.name, **self.says))

    def change(self) -> None:
        self.says[self.any.choice(["tag", "t4", "gpu", "spot"])] = self.any.choice("abc")

    def scale(self) -> None:
        pool = self.any.choice(list(SCALED))
        self.counts[pool] = self.any.randint(*SCALED[pool])
        azure_pools.scale(self.bench, self.name, pool, self.counts[pool])

    def drift(self) -> None:
        """Somebody changes the label of the fixed pool."""
        azure, address = Azure(self.bench.cloud), f"{path(self.name)}/agentPools/t4{V}"
        body = azure.call("GET", address).body
        body["properties"]["nodeLabels"] = {"team": "another"}
        assert azure.call("PUT", address, body).status == 200
        self.settle()

    def refresh(self) -> None:
        self.bench.pulumi("refresh", "--yes", "--skip-preview")

    def update(self) -> None:
        self.change()
        self.up()

    def kill(self) -> None:
        """The engine dies while Azure works on an update, if there is something to do."""
        before = self.puts()
        self.change()
        self.bench.write(program(self.name, **self.says))
        with self.bench.updating() as update:
            until(lambda: self.puts() > before or update.poll() is not None, "it has begun")
            if update.poll() is None:
                os.kill(update.pid, signal.SIGKILL)
                update.communicate(timeout=PATIENCE)
        self.settle()
        self.bench.pulumi("cancel", "--yes")
        self.up()

    def puts(self) -> int:
        return len(self.bench.requests("PUT", "managedClusters"))

    def settle(self) -> None:
        azure = Azure(self.bench.cloud)
        for address in (path(self.name), *(f"{path(self.name)}/agentPools/{p}" for p in SCALED)):
            azure.wait(f"{address}{V}", lambda reply: "ing" not in _state(reply.body))


def _state(body: dict[str, dict[str, str]]) -> str:
    return body["properties"]["provisioningState"]


NIGHTLY = [pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3)]


@pytest.mark.parametrize("seed", [1, *NIGHTLY])
def test_any_sequence_ends_with_an_empty_preview(bench: Bench, seed: int) -> None:
    """Each of these was right by itself, and two of them together lost a count, or a label."""
    life = Life(bench, seed)
    steps: list[Callable[[], None]] = [life.scale, life.drift, life.refresh, life.update, life.kill]
    taken = [life.any.choice(steps) for _ in range(STEPS)]
    for step in taken:
        step()

    story = [step.__name__ for step in taken]
    life.refresh()
    life.up()
    assert bench.changes() == {}, story
    life.refresh()
    assert bench.changes() == {}, story
    live = {pool: live_count(bench, life.name, pool) for pool in life.counts}
    assert live == life.counts, story
    label = Azure(bench.cloud).call("GET", f"{path(life.name)}/agentPools/t4{V}")
    assert label.body["properties"]["nodeLabels"]["team"] == life.says.get("t4", "a"), story
