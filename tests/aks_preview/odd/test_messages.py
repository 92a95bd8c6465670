"""Errors say why, wherever Azure has put the reason; nothing told or sent has a secret in it."""

import html
import json
from typing import Any
from unittest import mock

import pytest
from grpc.aio import AioRpcError
from hypothesis import given
from hypothesis import strategies as st

from tests.aks_preview.odd.azure import OPERATION, POOL, Answer, OddAzure, refusal, texts
from tests.aks_preview.odd.driver import POOL_TYPE, Driver, Outcome, secret
from tests.aks_preview.odd.test_accepted import A_FEW, create, exchanged, some_fast
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

WHY = "A budget forbids it."
INNER = {"code": "Inner", "message": WHY}
POLICY = {
    "type": "PolicyViolation",
    "info": {
        "policyDefinitionDisplayName": "No GPUs",
        "policyAssignmentDisplayName": WHY,
        "policyAssignmentName": "a1",
    },
}
# As ARM and AKS write errors.
ERRORS: list[dict[str, Any]] = [
    {"error": INNER},
    INNER,
    {"error": {"code": "Outer", "message": "o", "details": [INNER]}},
    {"error": {"code": "Outer", "details": [{"details": [{"details": [INNER]}]}]}},
    {"error": {"code": "Outer", "message": "o", "innererror": {"innererror": INNER}}},
    {"error": {"code": "RequestDisallowedByPolicy", "message": "No.", "additionalInfo": [POLICY]}},
    {"error": {"code": "Outer", "message": json.dumps({"error": INNER})}},
    {"error": {"code": "Outer", "message": "o", "additionalInfo": [{"info": {"message": WHY}}]}},
    {"properties": {"error": INNER}},
    {"properties": {"status": {"provisioningError": INNER}}},
]
# What else refuses: Entra ID, a proxy, a gateway, another service.
OTHERS: list[Any] = [
    {"Message": WHY},
    {"error": "unauthorized_client", "error_description": WHY},
    {"errors": [INNER]},
    [INNER],
    json.dumps(json.dumps(INNER)),
    WHY,
    f"<html><head><title>{WHY}</title><style>x</style></head><body>y</body></html>",
    f"<html><body><h1>502</h1><p>{html.escape(WHY)}</p></body></html>",
    {"odata.error": {"code": "Outer", "message": {"lang": "en", "value": WHY}}},
    {"title": "Some are invalid.", "errors": {"count": [WHY]}},
    {"Message": "An error has occurred.", "ExceptionMessage": WHY},
    {"code": "Outer", "reason": WHY},
    {"fault": {"faultstring": WHY}},
]


@pytest.mark.parametrize("body", [*ERRORS, *OTHERS])
def test_a_refused_put_reports_azures_reason(body: Any) -> None:
    azure = OddAzure()
    azure.bend("put", for_ever=Answer(400, body, is_done=False))

    outcome = exchanged(azure, create)

    assert (outcome.id, WHY in outcome.error) == ("", True), outcome.error
    assert "<" not in outcome.error


@pytest.mark.parametrize("body", ERRORS)
def test_a_failed_operation_reports_azures_reason(body: dict[str, Any]) -> None:
    azure = OddAzure()
    azure.bend("poll", Answer(200, {"status": "Failed", **body}))

    outcome = exchanged(azure, create)

    assert (outcome.id, WHY in outcome.error) == (POOL, True), outcome.error


@pytest.mark.parametrize("failed", ["Failed", "Canceled"])
def test_a_failed_operation_without_a_reason_reports_the_resources_error(failed: str) -> None:
    azure = OddAzure()
    status = {"provisioningError": {"error": INNER}}
    azure.bend("poll", Answer(200, {"status": failed}))
    azure.bend("get", Answer(200, {"id": POOL, "properties": {"status": status}}))

    assert WHY in exchanged(azure, create).error


@pytest.mark.parametrize("status", some_fast([429, 503, 408, 500, 502, 504], 2))
def test_temporary_errors_are_reported_while_they_last_and_at_the_timeout(status: int) -> None:
    azure = OddAzure()
    azure.bend("look", for_ever=Answer(status, {"error": INNER}))

    async def impatient(provider: Driver) -> Outcome:
        outcome = await create(provider)
        assert any(WHY in message for message in provider.log)
        return outcome

    assert WHY in exchanged(azure, impatient).error
    assert 3 < azure.phases().count("look") < 12


@A_FEW
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.integers(400, 407))
def test_messages_contain_no_terminal_control_sequences(text: str, status: int) -> None:
    azure = OddAzure()
    long = {"error": {"code": text, "message": text * 300, "details": [text, {"message": text}]}}
    azure.bend("put", for_ever=Answer(status, long, is_done=False))

    assert exchanged(azure, create).error


@pytest.mark.parametrize("method", ["diff", "update"])
def test_an_unexpected_error_is_reported_as_internal_without_secrets(method: str) -> None:
    """What Diff and Update did not foresee was told raw, and with the secrets in it."""

    async def live(provider: Driver) -> Outcome:
        broken = mock.Mock(side_effect=KeyError("not swordfish"))
        handler = provider.provider.handler(POOL_TYPE)
        known = {"olds": POOL_INPUTS, "old_inputs": POOL_INPUTS, "news": SECRETS}
        urn = f"urn:pulumi:test::odd::{POOL_TYPE}::subject"
        with mock.patch.object(handler, method, broken), pytest.raises(AioRpcError) as raised:
            await provider.ask(method.title(), urn=urn, id=POOL, **known)
        return Outcome(error=raised.value.details() or "")

    words = exchanged(OddAzure(), live).error
    assert words.startswith("Internal error of the provider (mock.py:")
    assert "swordfish" not in words


SECRET = 'hunter2 & "friends"/ä'
SECRETS = POOL_INPUTS | {
    "customHeaders": {"X-Key": secret("swordfish")},
    "tags": secret({"owner": SECRET}),
}


@pytest.mark.parametrize("phase", ["look", "put", "poll", "get"])
@pytest.mark.parametrize("status", [200, 400, 429])
@pytest.mark.parametrize("is_page", [True, False])
def test_a_secret_that_azure_repeats_is_masked(phase: str, status: int, is_page: bool) -> None:
    azure = OddAzure()
    words = f"swordfish, {SECRET}"
    error = {"code": "No", "message": f"Not {words}.", "details": [{"message": words}]}
    body = f"<p>{html.escape(words)}</p>" if is_page else {"status": "Failed", "error": error}
    azure.bend(phase, for_ever=Answer(status, body))

    async def impatient(provider: Driver) -> Outcome:
        outcome = await provider.create(SECRETS, seconds=50)
        messages = "\n".join([*provider.log, outcome.error, *outcome.reasons])
        for hidden in ("swordfish", "hunter2"):
            assert hidden not in messages
        return outcome

    outcome = exchanged(azure, impatient)

    if outcome.id:
        kept = outcome.raw["properties"]
        assert kept["tags"] == SECRETS["tags"]
        assert kept["customHeaders"] == SECRETS["customHeaders"]


@pytest.mark.parametrize("status", some_fast([307, 302, 301, 303, 308], 1))
@pytest.mark.parametrize("phase", ["look", "put", "poll", "get", "delete"])
@pytest.mark.parametrize(
    "to", ["{other}/elsewhere", "http://127.0.0.1:1/x", "https://u@127.0.0.1/"]
)
def test_redirects_to_another_host_are_not_followed(status: int, phase: str, to: str) -> None:
    azure = OddAzure()
    azure.bend(phase, for_ever=Answer(status, b"", {"Location": to}))

    async def live(provider: Driver) -> Outcome:
        await provider.create(SECRETS, seconds=50)
        return await provider.delete(POOL, POOL_INPUTS, seconds=50)

    exchanged(azure, live)

    assert {made.host.partition(":")[0] for made in azure.requests} == {"127.0.0.1"}


@pytest.mark.parametrize("header", [OPERATION, "Location"])
@pytest.mark.parametrize("to", ["{other}/operations/poll", "http://127.0.0.1:1/x", "//localhost/"])
def test_an_operation_url_at_another_host_is_not_polled(header: str, to: str) -> None:
    azure = OddAzure()
    azure.bend("put", Answer(202, b"", {header: to}))

    outcome = exchanged(azure, create)

    assert outcome.id == POOL
    assert {made.host.partition(":")[0] for made in azure.requests} == {"127.0.0.1"}


def test_custom_headers_are_sent_only_with_the_put() -> None:
    azure = OddAzure()
    azure.bend("put", refusal(429, "Slow"))

    async def live(provider: Driver) -> Outcome:
        return await provider.create(SECRETS)

    assert exchanged(azure, live).id == POOL
    puts = [made for made in azure.requests if made.phase == "put"]
    assert [made.headers["X-Key"] for made in puts] == ["swordfish"] * 2
    assert "swordfish" not in texts(made for made in azure.requests if made not in puts)


def test_requests_accept_gzip_alone() -> None:
    """With deflate as servers mean it, the reason of a refusal was an internal error."""
    azure = OddAzure()

    exchanged(azure, create)

    asked = [made for made in azure.requests if made.phase not in ("metadata", "token")]
    assert {made.headers["Accept-Encoding"] for made in asked} == {"gzip"}
