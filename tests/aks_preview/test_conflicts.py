import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from aks_preview import aks_resource
from aks_preview.aks_resource import once_accepted
from provider_kit.cancellation import Cancellation, CancelledUpdateError
from provider_kit.waiting import begin
from tests.aks_preview.odd.clock import run

PENDING = (
    "Operation is not allowed: Another agentpool operation (gpu - Creating) is in progress, please "
    "wait for it to finish before starting a new operation."
)
CONCURRENT = "The request failed due to conflict with a concurrent request."
QUOTA = "Operation could not be completed as it results in exceeding approved Total Cores quota."
STOPPED = "Managed cluster is in the Stopped state, and only a start is allowed."
FEATURE = "Feature Microsoft.ContainerService/Shiny is not registered."


def refusal(status: int, code: str, message: str = "") -> HttpResponseError:
    return HttpResponseError(response=Answered(status, {"code": code, "message": message}))  # type: ignore[arg-type]


@dataclass
class Answered:
    """As much of an HTTP answer as an error reads."""

    status_code: int
    body: Any
    reason = "Odd"
    headers: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        return self.body if isinstance(self.body, str) else json.dumps(self.body)


class Answers:
    """A call that gives one answer after the other."""

    def __init__(self, *answers: object) -> None:
        self.left = list(answers)

    async def __call__(self) -> object:
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_put_waits_while_another_operation_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aks_resource, "_PAUSES", (0.001, 0.001))
    messages: list[str] = []

    async def tell(message: str) -> None:
        messages.append(message)

    async def wait() -> object:
        begin(tell)
        return await once_accepted(call, Cancellation())

    pending = refusal(409, "OperationNotAllowed", PENDING)
    call = Answers(pending, pending, refusal(409, "Conflict", CONCURRENT), "done")

    assert asyncio.run(wait()) == "done"
    assert call.left == []
    assert [PENDING in messages[0], CONCURRENT in messages[1]] == [True, True]
    assert len(messages) == 2


@pytest.mark.parametrize(
    "error",
    [
        refusal(409, "PropertyChange"),
        refusal(400, "Conflict", PENDING),
        refusal(409, "OperationNotAllowed", QUOTA),
        refusal(409, "OperationNotAllowed", STOPPED),
        refusal(409, "Conflict"),
        refusal(400, "FeatureNotRegistered", FEATURE),
    ],
)
def test_a_refusal_other_than_a_conflict_is_not_retried(error: HttpResponseError) -> None:
    """They were tried again for an hour, without a word."""
    call = Answers(error, "never asked for")

    with pytest.raises(HttpResponseError):
        asyncio.run(once_accepted(call, Cancellation()))
    assert call.left == ["never asked for"]


def test_a_cancellation_ends_the_wait_for_another_operation() -> None:
    call = Answers(refusal(409, "OperationNotAllowed", PENDING), "never asked for")

    async def wait() -> None:
        cancellation = Cancellation()
        cancellation.ask()
        await once_accepted(call, cancellation)

    with pytest.raises(CancelledUpdateError):
        asyncio.run(wait())
    assert call.left == ["never asked for"]


def test_a_feature_that_is_just_registered_may_not_be_known_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Azure's provider is Registered before and after its second registration."""
    monkeypatch.setattr(aks_resource, "_PAUSES", (0.001, 0.001))
    call = Answers(refusal(400, "FeatureNotRegistered", FEATURE), "done")

    assert (
        asyncio.run(once_accepted(call, Cancellation(), lambda message: "Shiny" in message))
        == "done"
    )


def test_requests_to_a_busy_cluster_become_less_frequent() -> None:
    """Without it they asked each two seconds, each of them: ten times as often."""
    asked: list[float] = []

    async def wait() -> None:
        cluster = asyncio.Lock()

        async def put() -> None:
            asked.append(asyncio.get_running_loop().time())
            if cluster.locked():
                raise refusal(409, "OperationNotAllowed", PENDING)
            await cluster.acquire()
            asyncio.get_running_loop().call_later(4, cluster.release)

        await asyncio.gather(*(once_accepted(put, Cancellation()) for _ in range(20)))

    run(wait())

    assert len(asked) < 20 * 15
    assert asked[-1] - asked[0] < 20 * 4 * 3


def test_a_conflict_with_retry_after_is_retried_after_that_time() -> None:
    asked: list[float] = []
    busy = refusal(409, "OperationNotAllowed", PENDING)
    busy.response.headers["Retry-After"] = "77"  # type: ignore[union-attr]

    async def put() -> None:
        asked.append(asyncio.get_running_loop().time())
        if len(asked) == 1:
            raise busy

    run(once_accepted(put, Cancellation()))

    assert 77 <= asked[1] - asked[0] < 78
