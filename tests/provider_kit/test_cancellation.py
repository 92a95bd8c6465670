import asyncio

import pytest
from azure.core.exceptions import HttpResponseError, ODataV4Format

from provider_kit import conflicts
from provider_kit.cancellation import Cancellation, CancelledUpdateError
from provider_kit.conflicts import wait_out_conflicts


def refusal(status: int, code: str) -> HttpResponseError:
    error = HttpResponseError(code)
    error.status_code = status
    error.error = ODataV4Format({"code": code, "message": code})
    return error


class Answers:
    """A call that gives one answer after the other."""

    def __init__(self, *answers: object) -> None:
        self.left = list(answers)

    async def __call__(self) -> object:
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_gives_the_result_of_what_it_watches() -> None:
    assert asyncio.run(Cancellation().watch(asyncio.sleep(0, "done"))) == "done"


def test_ends_what_it_watches_at_once() -> None:
    async def run() -> bool:
        cancellation = Cancellation()
        ended = asyncio.Event()

        async def work() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()

        asyncio.get_running_loop().call_later(0.01, cancellation.ask)
        with pytest.raises(CancelledUpdateError):
            await cancellation.watch(work())
        await asyncio.wait_for(ended.wait(), 1)
        return True

    assert asyncio.run(run())


def test_waits_while_another_operation_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflicts, "_SECONDS_BETWEEN_TRIES", 0.001)
    call = Answers(refusal(409, "OperationNotAllowed"), refusal(409, "Conflict"), "done")

    assert asyncio.run(wait_out_conflicts(call, Cancellation())) == "done"
    assert call.left == []


@pytest.mark.parametrize("error", [refusal(409, "PropertyChange"), refusal(400, "Conflict")])
def test_other_refusals_are_final(error: HttpResponseError) -> None:
    call = Answers(error, "never asked for")

    with pytest.raises(HttpResponseError):
        asyncio.run(wait_out_conflicts(call, Cancellation()))
    assert call.left == ["never asked for"]


def test_a_cancellation_ends_the_waiting() -> None:
    cancellation = Cancellation()
    cancellation.ask()
    call = Answers(refusal(409, "OperationNotAllowed"), "never asked for")

    with pytest.raises(CancelledUpdateError):
        asyncio.run(wait_out_conflicts(call, cancellation))
