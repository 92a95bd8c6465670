"""What users of AKS meet at a PUT: each ends as it should, and the state has what Azure has."""

from collections.abc import Awaitable
from typing import Any, NamedTuple
from unittest import mock

import pytest

from tests.aks_preview.odd.azure import OPERATION, POOL, Answer, OddAzure, refusal, texts
from tests.aks_preview.odd.driver import (
    POOL_TYPE,
    Driver,
    Outcome,
    RefusedError,
    outcome_of,
    secret,
)
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

HEADERS = {"customHeaders": {"X-Key": "swordfish"}}
INPUTS = POOL_INPUTS | HEADERS
MORE = INPUTS | {"count": 2}
PENDING = refusal(
    409,
    "OperationNotAllowed",
    "Operation is not allowed: Another agentpool operation (gpu - Creating) is in progress, please "
    "wait for it to finish before starting a new operation.",
)
CONCURRENT = refusal(409, "Conflict", "The request failed due to conflict with a concurrent request.")
QUOTA = refusal(409, "OperationNotAllowed", "It results in exceeding approved Total Cores quota.")
STOPPED = refusal(409, "OperationNotAllowed", "Managed cluster is in the Stopped state.")
VCPUS = refusal(400, "ErrCode_InsufficientVCPUQuota", "Insufficient regional vcpu quota left.")
POLICY = refusal(403, "RequestDisallowedByPolicy", "Resource 'gpu' was disallowed by policy.")
INNER = {"code": "AllocationFailed", "message": "No capacity."}
# As AKS's own API writes errors, with its advice and without.
NESTED = {"code": "CreateVMSSAgentPoolFailed", "message": "It broke.", "details": [INNER]}
UNREGISTERED = refusal(
    409,
    "MissingSubscriptionRegistration",
    "The subscription is not registered to use namespace 'Microsoft.ContainerService'. See x.",
)
REGISTERING = Answer(200, {"registrationState": "Registering"})
NOT_SHOWN = refusal(404, "NotFound", "Could not find the agent pool.")
SLOW = refusal(429, "TooManyRequests", "PutAgentPoolHandler: retry again.", **{"Retry-After": "36"})
BROKEN = refusal(500, "InternalServerError", "Something broke.")
DROPPED, CUT = Answer(breaks=True), Answer(breaks=True, is_done=False)
HTML = Answer(502, "<html>Bad gateway</html>", {"Content-Type": "text/html"})


def pool(state: str, **more: Any) -> Answer:
    properties = {"vmSize": "a", "provisioningState": state, **more}
    return Answer(200, {"id": POOL, "name": "gpu", "properties": properties})


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


def for_ever(answer: Answer) -> list[Answer]:
    return [answer] * 60


WHY = {"status": {"provisioningError": {"error": INNER}}}
EVENTS = {
    "201 and an operation": Event({}),
    "201 without one": Event({"put": [Answer(201)], "get": [pool("Creating")] * 3}),
    "another operation": Event(
        {"put": [PENDING, PENDING, CONCURRENT]}, puts=4, told="gpu - Creating"
    ),
    "quota with the code of another operation": Event({"put": [QUOTA]}, "Total Cores", False),
    "a stopped cluster": Event({"put": [STOPPED]}, "Stopped", False),
    "vcpu quota": Event({"put": [VCPUS]}, "az vm list-usage", False),
    "a policy": Event({"put": [POLICY]}, "disallowed by policy", False),
    "429 with Retry-After": Event({"put": [SLOW]}, puts=2, told="PutAgentPoolHandler"),
    "500, then 503, then a proxy's 502": Event(
        {"put": [BROKEN, refusal(503, "Busy"), HTML]}, puts=4, told="Something broke."
    ),
    "500 for ever": Event({"put": for_ever(BROKEN)}, "Something broke.", False, 26),
    "a provider that is not registered": Event(
        {"put": [UNREGISTERED], "provider": [REGISTERING] * 2}, puts=2
    ),
    "one that cannot be registered": Event(
        {"put": for_ever(UNREGISTERED), "register provider": [refusal(403, "No")]},
        "az provider register",
        False,
    ),
    "the PUT arrives, and the connection drops": Event({"put": [DROPPED]}, puts=2),
    "it drops before the PUT arrives": Event({"put": [CUT]}, puts=2),
    "it drops for ever, and the pool is there": Event(
        {"put": for_ever(DROPPED)}, "may exist", puts=26
    ),
    "it drops for ever, and it is not": Event({"put": for_ever(CUT)}, "disconnected", False, 26),
    "the pool is made after a refused try": Event({"put": [DROPPED, PENDING]}, puts=3),
    "a lost operation": Event({"poll": for_ever(refusal(404, "NotFound"))}),
    "a lost operation of a pool that is made": Event(
        {"poll": for_ever(refusal(404, "NotFound")), "get": [pool("Creating")] * 30}
    ),
    "an operation that may not be read": Event({"poll": for_ever(POLICY)}),
    "500 and a cut network at the polls": Event({"poll": [BROKEN, CUT, HTML, CUT, SLOW]}),
    "a cut network for ever": Event(
        {"poll": for_ever(CUT), "get": for_ever(CUT)}, "exists, but is not finished"
    ),
    "lag after the end": Event({"get": [NOT_SHOWN] * 3 + [pool("Updating")] * 2}),
    "it is accepted, and never shown": Event({"get": for_ever(NOT_SHOWN)}, "NotFound: Could not"),
    "an operation fails": Event({"poll": [ended("Failed", **NESTED)]}, "  AllocationFailed: No"),
    "with advice": Event({"poll": [ended("Failed", **NESTED)]}, "not have enough VMs"),
    "it is canceled": Event({"poll": [ended("Canceled", **INNER)]}, "Canceled: AllocationFailed"),
    "it fails without a reason": Event({"poll": [ended("Failed")]}, "gave no reason"),
    "it succeeds, and the pool is Failed": Event(
        {"get": [pool("Failed", **WHY)]}, "It ended as Failed: AllocationFailed"
    ),
    "it never ends": Event(
        {"poll": for_ever(Answer(200, {"status": "InProgress"}, {"Retry-After": "600"}))},
        "The operation timed out",
    ),
}


def create(provider: Driver) -> Awaitable[Outcome]:
    return provider.create(INPUTS)


def update(provider: Driver) -> Awaitable[Outcome]:
    made = INPUTS | {"provisioningState": "Succeeded"}
    return provider.update(POOL, made, INPUTS, MORE)


@pytest.mark.parametrize("work", [create, update])
@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_an_event_at_a_put_ends_as_it_should(event: Event, work: Any) -> None:
    """What Azure accepted is in the state, what it refused is not; no PUT makes a second pool."""
    azure, log = OddAzure(), list[str]()
    if work is update:
        azure.put(POOL, {"properties": POOL_INPUTS | {"provisioningState": "Succeeded"}})
    for phase, answers in event.bent.items():
        azure.bend(phase, *answers)

    async def live(provider: Driver) -> Outcome:
        outcome: Outcome = await work(provider)
        log.extend(provider.log)
        return outcome

    outcome = outcome_of(azure, live)

    assert event.error in outcome.error
    assert bool(outcome.error) is bool(event.error)
    assert outcome.id == (POOL if event.kept or work is update else "")
    # What is in the state and not finished goes on with the next `up`.
    may_have_come = event.kept or (work is update and event.puts == 26)
    assert bool(outcome.reasons) is bool(event.error and may_have_come)
    if outcome.reasons or not event.error:
        assert outcome.outputs["customHeaders"] == HEADERS["customHeaders"]
    assert any(event.told in line for line in log) or not event.told

    answers = event.bent.get("put", [])
    puts = [made for made in azure.requests if made.phase == "put"]
    assert len(puts) == event.puts
    assert {made.headers["X-Key"] for made in puts} == {"swordfish"}
    assert "swordfish" not in texts(made for made in azure.requests if made not in puts)
    assert ("register provider" in azure.phases()) is (UNREGISTERED in answers)
    # Somebody else may have made it, unless a try of ours may have.
    unclear = [number for number, it in enumerate(answers) if it.breaks or it.status >= 500]
    only_new = ["If-None-Match" in made.headers for made in puts]
    first = min(unclear, default=99) if work is create else -1
    assert only_new == [number <= first for number in range(len(puts))]
    if SLOW in answers:
        assert 36 <= puts[1].time - puts[0].time < 37


@pytest.mark.parametrize("seconds", [50, 5000])
def test_another_operation_is_waited_for_until_the_timeout(seconds: float) -> None:
    """Twenty pools of one cluster come one after another; each asks less and less often."""
    azure = OddAzure()
    azure.bend("put", for_ever=PENDING)

    outcome = outcome_of(azure, lambda provider: provider.create(INPUTS, seconds=seconds))

    assert (outcome.id, "timed out" in outcome.error) == ("", True)
    assert azure.phases().count("put") < 12 + seconds / 24


def test_an_operation_at_another_address_is_read_without_the_headers() -> None:
    azure = OddAzure()
    azure.bend("put", Answer(201, b"", {OPERATION: "{url}/operations/poll?t=1&c=a%2Fb"}))

    assert outcome_of(azure, create).error == ""
    assert azure.phases() == ["look", "put", "poll", "get"]


@pytest.mark.parametrize("method", ["diff", "update"])
def test_an_unexpected_error_is_reported_as_internal_without_its_text(method: str) -> None:
    """What Diff and Update did not foresee was told raw, and with the secrets in it."""

    async def live(provider: Driver) -> Outcome:
        broken = mock.Mock(side_effect=KeyError("not swordfish"))
        handler = provider.provider.handler(POOL_TYPE)
        news = POOL_INPUTS | {"customHeaders": {"X-Key": secret("swordfish")}}
        known = {"olds": INPUTS, "old_inputs": INPUTS, "news": news}
        urn = f"urn:pulumi:test::odd::{POOL_TYPE}::subject"
        with mock.patch.object(handler, method, broken), pytest.raises(RefusedError) as raised:
            await provider.ask(method.title(), urn=urn, id=POOL, **known)
        return Outcome(error=str(raised.value))

    words = outcome_of(OddAzure(), live).error
    assert words.startswith("Internal error of the provider (mock.py:")
    assert "swordfish" not in words
