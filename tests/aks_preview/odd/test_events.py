"""What users of AKS meet at a PUT: each ends as it should, and the state has what Azure has."""

from collections.abc import Awaitable
from typing import Any, NamedTuple
from unittest import mock

import pytest

from tests.aks_preview.odd.azure import POOL, Answer, OddAzure, refusal
from tests.aks_preview.odd.driver import POOL_INPUTS, POOL_TYPE, Driver, Outcome, outcome_of, secret

HEADERS = {"X-Key": "swordfish"}
INPUTS = POOL_INPUTS | {"customHeaders": HEADERS}
MADE = INPUTS | {"provisioningState": "Succeeded"}
PENDING = refusal(
    409,
    "OperationNotAllowed",
    "Operation is not allowed: Another agentpool operation (gpu - Creating) is in progress, please "
    "wait for it to finish before starting a new operation.",
)
CONCURRENT = refusal(409, "Conflict", "The request failed due to a conflict with a concurrent one.")
QUOTA = refusal(409, "OperationNotAllowed", "It results in exceeding approved Total Cores quota.")
STOPPED = refusal(409, "OperationNotAllowed", "Managed cluster is in the Stopped state.")
VCPUS = refusal(400, "ErrCode_InsufficientVCPUQuota", "Insufficient regional vcpu quota left.")
POLICY = refusal(403, "RequestDisallowedByPolicy", "Resource 'gpu' was disallowed by policy.")
UNREGISTERED = refusal(
    409,
    "MissingSubscriptionRegistration",
    "The subscription is not registered to use namespace 'Microsoft.ContainerService'. See x.",
)
REGISTERING = Answer(200, {"registrationState": "Registering"})
MISSING = refusal(404, "NotFound", "Could not find it.")
SLOW = refusal(429, "TooManyRequests", "PutAgentPoolHandler: retry again.", **{"Retry-After": "36"})
BROKEN = refusal(500, "InternalServerError", "Something broke.")
DROPPED, CUT = Answer(breaks=True), Answer(breaks=True, is_done=False)
HTML = Answer(502, "<html>Bad gateway</html>", {"Content-Type": "text/html"}, is_done=False)
RUNNING = Answer(200, {"status": "InProgress"}, {"Retry-After": "600"})
INNER = {"code": "AllocationFailed", "message": "No capacity."}
NESTED = {"code": "CreateVMSSAgentPoolFailed", "message": "It broke.", "details": [INNER]}
WHY = {"status": {"provisioningError": {"error": INNER}}}


def pool(state: str, **more: Any) -> Answer:
    return Answer(200, {"id": POOL, "properties": {"provisioningState": state, **more}})


def ended(status: str, **error: Any) -> Answer:
    return Answer(200, {"status": status, **({"error": error} if error else {})})


class Event(NamedTuple):
    """An event, and what becomes of it."""

    bent: dict[str, list[Answer]]
    # What the error says; empty if there is none.
    error: str = ""
    # Whether the state has a new pool afterwards.
    kept: bool = True
    puts: int = 1
    told: str = ""


EVENTS = {
    "201 and an operation": Event({}),
    "201 without one": Event({"put": [Answer(201)], "get": [pool("Creating")] * 3}),
    "another operation": Event({"put": [PENDING, PENDING, CONCURRENT]}, "", True, 4, "gpu - Cre"),
    "quota with the code of another operation": Event({"put": [QUOTA]}, "Total Cores", False),
    "a stopped cluster": Event({"put": [STOPPED]}, "Stopped", False),
    "vcpu quota": Event({"put": [VCPUS]}, "az vm list-usage", False),
    "a policy": Event({"put": [POLICY]}, "disallowed by policy", False),
    "429 with Retry-After": Event({"put": [SLOW]}, "", True, 2, "PutAgentPoolHandler"),
    "500, 503, a proxy's 502": Event(
        {"put": [BROKEN, refusal(503, "Busy"), HTML]}, "", True, 4, "Something broke."
    ),
    "500 for ever": Event({"put": [BROKEN] * 60}, "Something broke.", False, 26),
    "an unregistered provider": Event({"put": [UNREGISTERED], "provider": [REGISTERING]}, puts=2),
    "the same, and the connection drops": Event({"put": [UNREGISTERED, DROPPED]}, puts=3),
    "one that cannot be registered": Event(
        {"put": [UNREGISTERED] * 2, "register provider": [POLICY]}, "az provider register", False
    ),
    "the PUT arrives, the connection drops": Event({"put": [DROPPED]}, puts=2),
    "it drops before the PUT arrives": Event({"put": [CUT]}, puts=2),
    "it drops for ever, the pool is there": Event({"put": [DROPPED] * 60}, "may exist", puts=26),
    "it drops for ever, it is not": Event({"put": [CUT] * 60}, "disconnected", False, 26),
    "the pool is made after an unclear try": Event({"put": [DROPPED, PENDING]}, puts=3),
    "a lost operation": Event({"poll": [MISSING] * 60}),
    "one of a pool in the making": Event({"poll": [MISSING] * 60, "get": [pool("Creating")] * 30}),
    "an operation that may not be read": Event({"poll": [POLICY] * 60}),
    "a broken network at the polls": Event({"poll": [BROKEN, CUT, HTML, CUT, SLOW]}),
    "a cut network": Event({"poll": [CUT] * 60, "get": [CUT] * 60}, "exists, but is not finished"),
    "lag after the end": Event({"get": [MISSING] * 3 + [pool("Updating")] * 2}),
    "it is accepted, and never shown": Event({"get": [MISSING] * 60}, "NotFound: Could not"),
    "an operation fails": Event({"poll": [ended("Failed", **NESTED)]}, "  AllocationFailed: No"),
    "it fails, with advice": Event({"poll": [ended("Failed", **NESTED)]}, "not have enough VMs"),
    "it is canceled": Event({"poll": [ended("Canceled", **INNER)]}, "Canceled: AllocationFailed"),
    "it fails without a reason": Event({"poll": [ended("Failed")]}, "gave no reason"),
    "the pool is Failed": Event({"get": [pool("Failed", **WHY)]}, "Failed: AllocationFailed"),
    "it never ends": Event({"poll": [RUNNING] * 60}, "The operation timed out"),
}


def create(provider: Driver) -> Awaitable[Outcome]:
    return provider.create(INPUTS)


def update(provider: Driver) -> Awaitable[Outcome]:
    return provider.update(POOL, MADE, INPUTS, INPUTS | {"count": 2})


@pytest.mark.parametrize("work", [create, update])
@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_an_event_at_a_put_ends_as_it_should(event: Event, work: Any) -> None:
    """What Azure accepted is in the state, what it refused is not; no PUT makes a second pool."""
    azure, log, answers = OddAzure(), list[str](), event.bent.get("put", [])
    if work is update:
        azure.put(**POOL_INPUTS)
    for phase, bent in event.bent.items():
        azure.bend(phase, *bent)

    async def live(provider: Driver) -> Outcome:
        outcome: Outcome = await work(provider)
        log.extend(provider.log)
        return outcome

    outcome = outcome_of(azure, live)

    assert (event.error in outcome.error, bool(outcome.error)) == (True, bool(event.error))
    assert outcome.id == (POOL if event.kept or work is update else "")
    # What is in the state and not finished goes on with the next `up`.
    may_have_come = event.kept or (work is update and event.puts == 26)
    assert bool(outcome.reasons) is bool(event.error and may_have_come)
    if outcome.reasons or not event.error:
        assert outcome.outputs["customHeaders"] == HEADERS
    assert any(event.told in line for line in log) or not event.told

    puts = [made for made in azure.requests if made.phase == "put"]
    assert len(puts) == event.puts
    assert {made.headers["X-Key"] for made in puts} == {"swordfish"}
    assert not [made for made in azure.requests if made not in puts and "X-Key" in made.headers]
    assert ("register provider" in azure.phases()) is (UNREGISTERED in answers)
    # Somebody else may have made it, unless a try of ours may have.
    unclear = [number for number, it in enumerate(answers) if it.breaks or it.status >= 500]
    first = min(unclear, default=99) if work is create else -1
    only_new = ["If-None-Match" in made.headers for made in puts]
    assert only_new == [number <= first for number in range(event.puts)]
    if SLOW in answers:
        assert 36 <= puts[1].time - puts[0].time < 37


@pytest.mark.parametrize("seconds", [50, 5000])
def test_another_operation_is_waited_for_until_the_timeout_less_and_less_often(
    seconds: float,
) -> None:
    azure = OddAzure()
    azure.bend("put", for_ever=PENDING)

    outcome = outcome_of(azure, lambda provider: provider.create(INPUTS, timeout=seconds))

    assert (outcome.id, "timed out" in outcome.error) == ("", True)
    assert azure.phases().count("put") < 12 + seconds / 24


def test_an_unexpected_error_is_told_without_a_traceback_and_secrets() -> None:
    """What Update did not foresee was told raw, and with the secrets in it."""

    async def live(provider: Driver) -> Any:
        broken = mock.AsyncMock(side_effect=KeyError("not swordfish"))
        news = POOL_INPUTS | {"customHeaders": {"X-Key": secret("swordfish")}}
        with mock.patch.object(provider.provider.handler(POOL_TYPE), "update", broken):
            return await provider.update(POOL, MADE, INPUTS, news)

    words = outcome_of(OddAzure(), live).error
    assert words.startswith("Internal error of the provider (mock.py:")
    assert "swordfish" not in words
