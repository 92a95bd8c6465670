import asyncio

import pytest
from azure.core.exceptions import HttpResponseError, ODataV4Format

from aks_preview import aks_resource
from aks_preview.aks_resource import wait_out_conflicts
from provider_kit.cancellation import Cancellation, CancelledUpdateError


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


def test_waits_while_another_operation_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aks_resource, "_SECONDS_BETWEEN_TRIES", 0.001)
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
