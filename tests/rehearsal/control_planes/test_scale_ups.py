"""What becomes of pods when Azure has no machines for a pool."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, patch

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rehearsal.control_planes import scale_ups
from rehearsal.control_planes.autoscaler import PoolState
from rehearsal.control_planes.cluster import PRIORITIES, Cluster
from rehearsal.control_planes.desired_state import (
    DesiredCluster,
    DesiredPool,
    Era,
    Limits,
    Refusal,
)

NOW = SimpleNamespace(seconds=1000.0)
NOW.monotonic = lambda: NOW.seconds
TOLERATED = [{"operator": "Exists"}]


@contextmanager
def clock() -> Iterator[SimpleNamespace]:
    """The time as the test says; that of the event loop stays."""
    NOW.seconds = 1000.0
    with patch("kube_client.backoff.time", NOW):
        yield NOW


def rung(number: int, **more: Any) -> DesiredPool:
    limits = Limits(least=0, most=1)
    given: dict[str, Any] = {"vm_size": "Standard_D4s_v3", "version": "1", "count": 0}
    return DesiredPool(id=f"/{number}", name=f"rung{number}", limits=limits, **(given | more))


def pod(uid: str, **spec: Any) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    container = {"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "3"}}}
    return {
        "metadata": {"name": uid, "namespace": "default", "uid": uid},
        "spec": {"containers": [container], "tolerations": TOLERATED, **spec},
        "status": {"phase": "Pending", "conditions": [condition]},
    }


class Ladder:
    """A cluster whose rungs are pools, the first the best, of which some are sold out."""

    def __init__(self, sold_out: list[bool], code: str = "AllocationFailed") -> None:
        self.sold_out, self.code = sold_out, code
        self.asked: list[str] = []
        self.events: list[dict[str, Any]] = []
        self.written = 0
        self.status = ""
        rungs = tuple(map(rung, range(len(sold_out))))
        self.desired = DesiredCluster(
            uid="u",
            name="c",
            group="g",
            location="eastus",
            subscription="s",
            node_group="n",
            expander="priority",
            pools=rungs,
        )
        self.cluster = Cluster(MagicMock(), self, self.desired, self, Era.TODAY, 1.0)  # type: ignore[arg-type]
        priorities = "\n".join(
            f"{100 - number}: [.*-{each.name}-.*-vmss]" for number, each in enumerate(rungs)
        )
        namespace, name = PRIORITIES
        item = {
            "metadata": {"name": name, "namespace": namespace, "uid": "m"},
            "data": {"priorities": priorities},
        }
        self.cluster._config_maps._objects["m"] = item

    # -- what a cluster asks Azure and the API server

    def resize(self, pool_id: str, count: int) -> Refusal | None:
        self.asked.append(pool_id)
        number = int(pool_id.removeprefix("/"))
        if self.sold_out[number]:
            return Refusal(self.code, "none left")
        pools = list(self.desired.pools)
        pools[number] = replace(pools[number], count=count)
        self.desired = replace(self.desired, pools=tuple(pools))
        return None

    async def post(self, _path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.events.append(body)
        return body

    async def patch(self, path: str, body: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        assert path.endswith("/namespaces/kube-system/configmaps/cluster-autoscaler-status")
        self.written += 1
        self.status = body["data"]["status"]
        return body

    # -- what a test does

    def step(self, *pods: dict[str, Any], times: int = 1) -> None:
        self.cluster._pods._objects = {each["metadata"]["uid"]: each for each in pods}
        for _ in range(times):
            asyncio.run(self.cluster._scale(self.desired))

    def counts(self) -> list[int]:
        return [each.count for each in self.desired.pools]

    def told(self, reason: str) -> list[str]:
        return [each["message"] for each in self.events if each["reason"] == reason]

    def scale_ups(self) -> list[str]:
        return [group["scaleUp"]["status"] for group in yaml.safe_load(self.status)["nodeGroups"]]


@settings(max_examples=40, deadline=None)
@given(
    sold_out=st.lists(st.booleans(), min_size=1, max_size=4),
    code=st.sampled_from(["AllocationFailed", "SkuNotAvailable", "OperationNotAllowed"]),
)
def test_a_pod_takes_the_best_rung_that_is_left(sold_out: list[bool], code: str) -> None:
    """It waited for ever for the best, which was asked for at every step."""
    with clock():
        ladder = Ladder(sold_out, code)
        ladder.step(pod("a"), times=len(sold_out) + 3)
        best = sold_out.index(False) if False in sold_out else len(sold_out)
        assert ladder.counts() == [int(number == best) for number in range(len(sold_out))]
        # Each rung is asked once, and nothing is told twice.
        assert ladder.asked == [f"/{number}" for number in range(min(best + 1, len(sold_out)))]
        expected = ["Backoff"] * best + ["InProgress"] + ["NoActivity"] * len(sold_out)
        assert ladder.scale_ups() == expected[: len(sold_out)]
        waiting = ladder.told("NotTriggerScaleUp")
        if best == len(sold_out):
            why = f"{best} in backoff after failed scale-up"
            assert waiting == [f"pod didn't trigger scale-up: {why}"]
        else:
            assert waiting == []
            assert "rung" in ladder.told("TriggeredScaleUp")[-1]
        written, events = ladder.written, len(ladder.events)
        ladder.step(pod("a"), times=3)
        assert (ladder.written, len(ladder.events)) == (written, events)


@settings(max_examples=20, deadline=None)
@given(sold_out=st.lists(st.booleans(), min_size=1, max_size=3))
def test_a_rung_that_is_open_again_is_taken_after_its_back_off(sold_out: list[bool]) -> None:
    with clock() as time:
        ladder = Ladder([True, *sold_out])
        ladder.step(pod("a"), times=len(sold_out) + 3)
        ladder.sold_out[0] = False
        # One pod for each rung.
        pods = [pod(str(number)) for number in range(len(sold_out) + 1)]
        ladder.step(*pods, times=2)
        assert ladder.counts()[0] == 0
        time.seconds += scale_ups.FIRST * 0.1
        ladder.step(*pods, times=2)
        assert ladder.counts()[0] == 1


def test_the_pause_doubles_up_to_the_longest_and_is_forgotten() -> None:
    why = scale_ups.Failure("code", "message")
    with clock() as time:
        back_offs = scale_ups.BackOffs(10.0)
        pauses = []
        for _ in range(5):
            back_offs.fail("p", why)
            start = time.seconds
            while back_offs.failures():
                time.seconds += 10
            pauses.append(time.seconds - start)
        assert pauses == [300, 600, 1200, 1800, 1800]
        back_offs.fail("p", why)
        assert back_offs.failures() == {"p": why}
        back_offs.succeed("p")
        assert not back_offs.failures()
        back_offs.fail("p", why)
        time.seconds += scale_ups.FIRST
        assert not back_offs.failures()


@pytest.mark.parametrize("time_scale", [0.001, 0.1, 1.0])
def test_a_pause_can_be_seen_at_any_time_scale(time_scale: float) -> None:
    with clock() as time:
        back_offs = scale_ups.BackOffs(time_scale)
        back_offs.fail("p", scale_ups.Failure("code", "message"))
        time.seconds += scale_ups.SHORTEST - 0.1
        assert back_offs.failures()


def test_a_waiting_pod_hears_the_reasons_of_all_pools() -> None:
    cluster = Ladder([]).desired
    gpu = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    waiting = pod("a", tolerations=[], containers=[{"name": "c", "image": "i", **gpu}])
    waiting["spec"]["nodeSelector"] = {"a": "b"}
    labels = {"a": "b"}
    pools = {
        "in backoff": (rung(0), True),
        "full": (rung(1, count=1), False),
        "other label": (rung(2), False),
        "tainted": (rung(3, labels=labels, taints=("sku=gpu:NoSchedule",)), False),
        "no GPU": (rung(4, labels=labels), False),
    }
    states = [PoolState(cluster, pool, [], [], is_off) for pool, is_off in pools.values()]
    assert scale_ups.why_not(waiting, [*states, states[0]]) == (
        "2 in backoff after failed scale-up, 1 max node group size reached, "
        "1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), "
        "1 Insufficient nvidia.com/gpu"
    )


def test_the_growth_of_a_pool_keeps_the_time_since_when_it_is_so() -> None:
    states = [PoolState(Ladder([]).desired, rung(0), [], [])]
    first = scale_ups.status(states, {}, {}, "1")
    assert scale_ups.status(states, {}, first, "2") == first
    failures = {"rung0": scale_ups.Failure("cloudProviderError", "none")}
    off = scale_ups.status(states, failures, first, "2")
    assert scale_ups.status(states, failures, off, "3") == off
    [group] = off["nodeGroups"]
    assert group["scaleUp"] == {
        "status": "Backoff",
        "backoffInfo": {"errorCode": "cloudProviderError", "errorMessage": "none"},
        "lastTransitionTime": "2",
    }
    assert group["health"]["cloudProviderTarget"] == 0
