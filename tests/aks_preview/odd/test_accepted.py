"""What Azure accepted is in the state, whatever its answers look like; what it refused is not."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.aks_preview.odd.azure import (
    FEATURE,
    OPERATION,
    POOL,
    PROVIDER,
    Answer,
    OddAzure,
    refusal,
    serving,
)
from tests.aks_preview.odd.clock import run
from tests.aks_preview.odd.driver import FEATURE_TYPE, Driver, Outcome, driving
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

FEATURE_INPUTS = {"providerNamespace": "Microsoft.ContainerService", "featureName": "New"}
MORE = POOL_INPUTS | {"count": 2}
NOT_YET = {"code": "NotFound", "message": "Could not find the agent pool."}
READY = {"id": POOL, "properties": {**POOL_INPUTS, "provisioningState": "Succeeded"}}

Work = Callable[[Driver], Awaitable[Outcome]]

_BODIES: list[Any] = [
    b"",
    b"\xff\xfe\x00",
    "null",
    '"a text"',
    "[]",
    "{",
    "<html><title>Bad gateway</title></html>",
    {"id": None},
    {"id": f"{POOL}2"},
    {"id": POOL, "properties": []},
    {"id": POOL, "properties": {"provisioningState": ["Succeeded"]}},
    {"status": None},
    {"status": "Failed"},
    {"status": "Canceled", "error": None},
    {"error": "a text"},
    {"error": {"code": None, "message": None, "details": [None, {}]}},
]
_RETRY_AFTER = [
    "Wed, 21 Oct 2099 07:28:00 GMT",
    "Wed, 21 Oct 2015 07:28:00 GMT",
    "0",
    "-1",
    "soon",
    "",
]
_HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "Retry-After": st.sampled_from(_RETRY_AFTER),
        "x-ms-retry-after-ms": st.sampled_from(["1", "-5", "1e12", "x"]),
        "Content-Type": st.sampled_from(["text/html", "image/png", "application/json; charset=x"]),
        "Content-Encoding": st.sampled_from(["gzip", "deflate", "br", "x"]),
        OPERATION: st.sampled_from(
            [
                "{url}/operations/poll",
                "{other}/operations/poll",
                "/operations/poll",
                "?",
                "http://[",
            ]
        ),
        "Location": st.sampled_from(["{url}/operations/poll", "{other}/x", "{url}/nothing", "::"]),
    },
)


_REFUSALS = [400, 403, 404, 407, 409, 429, 401, 402, 405, 410, 412, 413, 422, 424, 431, 451, 499]


def odd(statuses: st.SearchStrategy[int]) -> st.SearchStrategy[Answer]:
    bodies = st.sampled_from(_BODIES) | st.recursive(
        st.none() | st.text(max_size=5) | st.integers(),
        lambda inner: st.dictionaries(
            st.sampled_from(["id", "properties", "status", "error", "code", "message"]), inner
        ),
        max_leaves=4,
    )
    breaks: Any = st.sampled_from(["", "", "", "before", "within"])
    return st.builds(Answer, statuses, bodies, _HEADERS, st.just(True), breaks)


def some_fast(values: Sequence[Any], fast: int) -> list[Any]:
    """All values as parameters; those beyond the first ones belong to the long tests."""
    return [*values[:fast], *(pytest.param(each, marks=pytest.mark.long) for each in values[fast:])]


def exchanged(azure: OddAzure, work: Work) -> Outcome:
    async def ask() -> Outcome:
        async with serving(azure), driving(azure) as provider:
            return await work(provider)

    outcome = run(ask())
    for word in ("Traceback", 'File "', "None (None)", "object at 0x"):
        assert word not in outcome.error
    assert len(outcome.error) < 10000
    assert not any(ord(character) < 32 and character != "\n" for character in outcome.error)
    return outcome


def create(provider: Driver) -> Awaitable[Outcome]:
    return provider.create(POOL_INPUTS, seconds=50)


def update(provider: Driver) -> Awaitable[Outcome]:
    return provider.update(POOL, POOL_INPUTS, POOL_INPUTS, MORE, seconds=50)


def register(provider: Driver) -> Awaitable[Outcome]:
    return provider.create(FEATURE_INPUTS, kind=FEATURE_TYPE, seconds=50)


def kept(phase: str, answer: Answer, *, for_ever: bool) -> None:
    azure = OddAzure()
    azure.bend(phase, answer, for_ever=answer if for_ever else None)

    made = exchanged(azure, create)

    assert made.id == POOL, made.error
    assert made.outputs["vmSize"] == POOL_INPUTS["vmSize"]
    assert bool(made.error) is bool(made.reasons)

    azure = OddAzure()
    azure.put(POOL, {"properties": {"count": 1, "provisioningState": "Succeeded"}})
    azure.bend(phase, answer, for_ever=answer if for_ever else None)

    changed = exchanged(azure, update)

    assert changed.outputs.get("count") == 2, changed.error
    assert bool(changed.error) is bool(changed.reasons)


ACCEPTED = odd(st.sampled_from([200, 200, 201, 202, 203, 204, 206, 226, 299]))
ANY_STATUS = odd(
    st.sampled_from([200, 200, 201, 202, 204, 301, 304, 307, 400, 401, 403, 404, 410])
    | st.sampled_from([408, 429, 500, 501, 503, 599, 600, 799])
)
A_FEW = settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@A_FEW
@given(ACCEPTED)
@example(Answer(201, "<html>"))
@example(Answer(201, b"no gzip", {"Content-Encoding": "gzip", OPERATION: "{url}/operations/poll"}))
@example(Answer(202, b"", {"Location": "{url}/operations/poll", "Retry-After": _RETRY_AFTER[0]}))
@example(Answer(201, b"", breaks="within"))
def test_a_pool_is_kept_after_an_odd_answer_to_its_put(answer: Answer) -> None:
    kept("put", answer, for_ever=False)


@A_FEW
@given(st.sampled_from(["poll", "get"]), ANY_STATUS, st.booleans())
@example("poll", Answer(410, b""), True)
@example("poll", Answer(200, "<html>"), True)
@example("get", Answer(200, "null"), True)
@example("get", refusal(404, "ResourceNotFound", "gpu is not there"), True)
def test_a_pool_is_kept_after_odd_answers_to_its_polls(
    phase: str, answer: Answer, for_ever: bool
) -> None:
    kept(phase, answer, for_ever=for_ever)


@pytest.mark.parametrize("work", [create, update])
@pytest.mark.parametrize("has_operation", [True, False])
def test_a_pool_that_azure_does_not_show_yet_is_asked_for_again(
    work: Work, has_operation: bool
) -> None:
    """Azure had accepted the PUT, and one 404 after it was the end of the update."""
    azure = OddAzure()
    if work is update:
        azure.put(POOL, {"properties": {"provisioningState": "Succeeded", "count": 1}})
    if not has_operation:
        azure.bend("put", Answer(202))
        azure.bend("get", *[Answer(404, NOT_YET)] * 3, Answer(200, READY))
    else:
        azure.bend("get", *[Answer(404, NOT_YET)] * 3)

    outcome = exchanged(azure, work)

    assert (outcome.id, outcome.error) == (POOL, "")


@pytest.mark.parametrize("status", some_fast(_REFUSALS, 6))
@pytest.mark.parametrize(
    "body", some_fast([{"error": {"code": "No", "message": "No."}}, "<html>", b""], 1)
)
def test_a_refused_resource_is_not_in_the_state(status: int, body: Any) -> None:
    azure = OddAzure()
    azure.bend("put", for_ever=Answer(status, body, is_done=False))

    outcome = exchanged(azure, create)

    assert outcome.id == ""
    assert str(status) in outcome.error or "No" in outcome.error
    assert azure.phases().count("put") == 1 or status == 429


@pytest.mark.parametrize(
    ("phase", "answer"),
    [
        ("register", Answer(200, "<html>")),
        ("register", Answer(202, b"")),
        ("register", Answer(500, b"", breaks="before")),
        ("feature", Answer(200, "null")),
        ("feature", Answer(404, b"")),
        ("feature", Answer(200, {"id": FEATURE, "properties": {"state": None}})),
        ("register provider", Answer(403, json.dumps({"error": {"code": "Forbidden"}}))),
        ("provider", Answer(200, "[]")),
    ],
)
def test_a_registration_that_azure_accepted_is_kept(phase: str, answer: Answer) -> None:
    azure = OddAzure()
    azure.bend(phase, for_ever=answer)

    outcome = exchanged(azure, register)

    assert outcome.id == FEATURE
    assert bool(outcome.error) is (phase != "register" or bool(answer.breaks))


def test_a_registration_that_azure_refused_is_not_kept() -> None:
    azure = OddAzure()
    azure.bend("register", for_ever=refusal(403, "AuthorizationFailed"))

    outcome = exchanged(azure, register)

    assert (outcome.id, "AuthorizationFailed" in outcome.error) == ("", True)


def test_the_timeout_of_a_resource_ends_a_wait_of_years() -> None:
    azure = OddAzure()
    azure.bend("poll", for_ever=Answer(200, {"status": "InProgress"}, {"Retry-After": "1e9"}))

    outcome = exchanged(azure, create)

    assert outcome.id == POOL
    assert "The operation timed out" in outcome.error


@pytest.mark.parametrize("phase", ["put", "poll", "get", "delete", "delete poll", "gone"])
@pytest.mark.parametrize("status", some_fast([200, 429, 202, 503], 2))
def test_a_retry_after_beyond_the_timeout_ends_with_a_last_get(phase: str, status: int) -> None:
    """It slept the whole hour in silence, and failed; what it waited for had long been there."""
    azure, day = OddAzure(), {"Retry-After": "86400"}
    is_delete = phase in ("delete", "delete poll", "gone")
    if is_delete:
        azure.put(POOL, {"properties": {"provisioningState": "Succeeded"}})
    waiting: dict[str, Answer] = {
        "put": Answer(201, {"id": POOL}, day | {OPERATION: "{url}/operations/poll"}),
        "delete": Answer(202, b"", day | {OPERATION: "{url}/operations/delete-poll"}),
        "get": Answer(200, {"id": POOL, "properties": {"provisioningState": "Updating"}}, day),
        "gone": Answer(200, {"id": POOL, "properties": {"provisioningState": "Deleting"}}, day),
    }
    running = Answer(status, {"status": "InProgress"}, day)
    answer = waiting.get(phase, running) if status < 300 else refusal(status, "Slow", **day)
    azure.bend(phase, answer)

    async def live(provider: Driver) -> Outcome:
        if is_delete:
            return await provider.delete(POOL, POOL_INPUTS, seconds=1800)
        return await provider.create(POOL_INPUTS, seconds=1800)

    outcome = exchanged(azure, live)

    assert (outcome.id, outcome.error) == ("" if is_delete else POOL, "")


def test_a_date_to_wait_for_counts_from_the_servers_own() -> None:
    """A clock two hours off waited for the whole time of the resource."""
    azure = OddAzure()
    dates = {
        "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
        "Retry-After": "Wed, 21 Oct 2015 07:33:00 GMT",
    }
    azure.bend("look", refusal(429, "Slow", **dates))

    assert exchanged(azure, lambda odd: odd.create(POOL_INPUTS)).error == ""

    first, second = (made.time for made in azure.requests if made.phase == "look")
    assert 300 <= second - first < 400


@pytest.mark.parametrize("method", ["delete", "put", "register", "unregister"])
def test_no_request_starts_after_a_cancellation(method: str) -> None:
    """A deletion was still sent, in the seconds that are for the answers to come."""
    azure = OddAzure()
    azure.put(POOL, {"properties": {"provisioningState": "Succeeded", "count": 1}})
    feature = FEATURE_INPUTS | {"unregisterOnDelete": True}

    async def live(provider: Driver) -> Outcome:
        # Signed in, it could send at once.
        await provider.read(POOL, POOL_INPUTS, POOL_INPUTS)
        await provider.provider.cancel()
        match method:
            case "delete":
                return await provider.delete(POOL, POOL_INPUTS)
            case "put":
                return await update(provider)
            case "register":
                return await register(provider)
        return await provider.delete(FEATURE, feature, kind=FEATURE_TYPE)

    outcome = exchanged(azure, live)

    assert "cancelled" in outcome.error
    assert method not in azure.phases()


def test_a_cancellation_between_two_attempts_ends_the_operation() -> None:
    """The second try comes at once; it was sent all the same."""
    azure = OddAzure()
    azure.put(POOL, {"properties": {"provisioningState": "Succeeded", "count": 1}})
    azure.bend("delete", for_ever=refusal(503, "Busy"))

    async def live(provider: Driver) -> Outcome:
        deleting = asyncio.create_task(provider.delete(POOL, POOL_INPUTS))
        while "delete" not in azure.phases():  # noqa: ASYNC110 (Azure says nothing of itself)
            await asyncio.sleep(0)
        await provider.provider.cancel()
        return await deleting

    outcome = exchanged(azure, live)

    assert (outcome.id, azure.phases().count("delete")) == (POOL, 1)


UNREGISTERED = refusal(
    409,
    "MissingSubscriptionRegistration",
    "The subscription is not registered to use namespace 'Microsoft.ContainerService'. See x's.",
)
REGISTERING = Answer(200, {"id": PROVIDER, "registrationState": "Registering"})


@pytest.mark.parametrize("phase", ["put", "look"])
@pytest.mark.parametrize("work", [create, update])
def test_a_provider_that_is_not_registered_is_registered_and_waited_for(
    work: Work, phase: str
) -> None:
    azure = OddAzure()
    if work is update:
        azure.put(POOL, {"properties": {"provisioningState": "Succeeded", "count": 1}})
    azure.bend(phase, UNREGISTERED)
    azure.bend("provider", *[REGISTERING] * 3)

    async def messages(provider: Driver) -> Outcome:
        outcome = await work(provider)
        assert any("Microsoft.ContainerService is Registering" in line for line in provider.log)
        return outcome

    outcome = exchanged(azure, messages)

    assert (outcome.id, outcome.error) == (POOL, "")
    assert azure.phases().count("register provider") == 1
    if (work, phase) == (create, "put"):
        puts = [made.headers for made in azure.requests if made.phase == "put"]
        assert [headers["If-None-Match"] for headers in puts] == ["*", "*"]
        assert len({headers["x-ms-client-request-id"] for headers in puts}) == 2


def test_a_provider_that_stays_unregistered_is_registered_once() -> None:
    azure = OddAzure()
    azure.bend("put", for_ever=UNREGISTERED)

    outcome = exchanged(azure, create)

    assert (outcome.id, "az provider register" in outcome.error) == ("", True)
    assert azure.phases().count("register provider") == 1


def test_a_cancellation_ends_the_wait_for_a_provider_at_once() -> None:
    """It took the five seconds that are for answers."""
    azure = OddAzure()
    azure.bend("put", UNREGISTERED)
    azure.bend("provider", for_ever=REGISTERING)

    async def live(provider: Driver) -> Outcome:
        making = asyncio.create_task(provider.create(POOL_INPUTS))
        while "provider" not in azure.phases():  # noqa: ASYNC110 (Azure says nothing of itself)
            await asyncio.sleep(0)
        cancelled = asyncio.get_running_loop().time()
        await provider.provider.cancel()
        outcome = await making
        assert asyncio.get_running_loop().time() - cancelled < 3
        return outcome

    outcome = exchanged(azure, live)

    assert (outcome.id, "cancelled" in outcome.error) == ("", True)
