"""What the fleet does with clusters that end by themselves."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kube_client.client import ApiError, NoAnswerError
from rehearsal.control_planes import fleet
from rehearsal.control_planes.control_plane import ControlPlaneError
from rehearsal.control_planes.desired_state import DesiredCluster, Era
from rehearsal.control_planes.fleet import ATTEMPTS, Fleet, Health, Settings
from tests.waiting import PATIENCE

ENDS = st.sampled_from(
    [
        ControlPlaneError("etcd ended"),
        ApiError(403, {"message": "forbidden"}),
        ApiError(500, {"message": "etcdserver: no space"}),
        NoAnswerError(ConnectionResetError()),
        OSError(28, "No space left on device"),
        ExceptionGroup("", [ApiError(401, {"message": "unauthorized"}), ControlPlaneError("etcd")]),
        RuntimeError("a fault of the rehearsal"),
    ]
)


class Wishes:
    """Wants one cluster, as it is set."""

    def __init__(self) -> None:
        self.cluster = DesiredCluster(
            uid="one", name="c", group="g", location="l", subscription="s", node_group="n"
        )

    def clusters(self) -> list[DesiredCluster]:
        return [self.cluster]

    def resize(self, _pool_id: str, _count: int) -> None:
        pass


def made(folder: Path, wishes: Wishes) -> Fleet:
    """A fleet whose binaries lie in the folder."""
    (folder / "authority.pem").touch()
    clusters = folder / "kubernetes"
    clusters.mkdir(exist_ok=True)
    authority = folder / "authority.pem"
    return Fleet(
        Settings(clusters, folder, Era.TODAY, 1.0, lambda _: "https://a", authority), wishes
    )


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 (what is awaited is no event)
            await asyncio.sleep(0.001)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ends=st.lists(ENDS, max_size=6))
def test_a_cluster_restarts_after_any_failure(
    ends: list[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first refused watch was the last thing that was ever done for a cluster."""
    monkeypatch.setattr(fleet, "LONGEST_PAUSE", 0.0)
    monkeypatch.setattr(fleet, "LOOK_SECONDS", 0.001)
    left, messages = list(ends), []

    async def live(self: Fleet, desired: DesiredCluster) -> None:
        messages.append(self.failure(desired.uid))
        if left:
            raise left.pop(0)
        self._running[desired.uid] = MagicMock()
        self._ready[desired.uid].set()
        try:
            await asyncio.Event().wait()
        finally:
            self._running.pop(desired.uid)

    monkeypatch.setattr(Fleet, "_live", live)

    async def work() -> None:
        clusters = made(tmp_path, Wishes())
        await clusters.start()
        await until(lambda: clusters.health() == [Health("c", "g", "Running")])
        assert clusters.failure("one") is None
        await clusters.stop()

    asyncio.run(work())
    # It is told when it has failed some times, and why.
    assert len(messages) == len(ends) + 1
    assert [reason is not None for reason in messages] == [
        n >= ATTEMPTS for n in range(len(messages))
    ]


def test_the_cleanup_of_a_failed_cluster_is_not_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server stopped while a failed cluster was cleaned up: its etcd went on without it."""
    steps: list[str] = []

    class Broken:
        def __init__(self, *_: object, **__: object) -> None:
            pass

        async def start(self, _: object) -> None:
            raise ControlPlaneError("It does not start.")

        async def stop(self) -> None:
            steps.append("stopping")
            await asyncio.sleep(0.01)
            steps.append("stopped")

        async def close(self) -> None:
            await asyncio.sleep(0)

    async def at_once(*_: object) -> None:
        pass

    for name in ("settle_in", "ask_about_tokens", "choose", "read"):
        monkeypatch.setattr(fleet, name, lambda *_: MagicMock())
    for name, stub in (("ControlPlane", Broken), ("Client", Broken)):
        monkeypatch.setattr(fleet, name, stub)
    monkeypatch.setattr(fleet, "connect", at_once)
    monkeypatch.setattr(fleet, "START_SECONDS", 0.0)

    async def work() -> None:
        clusters = made(tmp_path, Wishes())
        await clusters.start()
        await until(lambda: bool(steps))
        await clusters.stop()

    asyncio.run(work())
    assert steps[-2:] == ["stopping", "stopped"]
