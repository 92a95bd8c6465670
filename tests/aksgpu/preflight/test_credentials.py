"""Who may not ask, or cannot: a clear word, an exit code, and no trace of what would let one in."""

import io
import json
from dataclasses import replace
from types import MappingProxyType

import pytest
from rich.console import Console

from aksgpu.outcome import Cause
from aksgpu.preflight.access import Access
from aksgpu.preflight.preflight import Preflight
from aksgpu.preflight.report import render
from tests.aksgpu.preflight.conftest import T4, Place


def reported(result: Preflight) -> str:
    """All that anybody gets to see."""
    page = io.StringIO()
    render(result, Console(file=page, width=200), "go on")
    return page.getvalue() + json.dumps(result.to_json())


def access_with(place: Place, **given: str) -> Access:
    known = place.access
    configuration = replace(
        known.configuration, given=MappingProxyType({**known.configuration.given, **given})
    )
    return Access(configuration, known.authorities, known.prices)


def test_an_expired_token_is_reported(place: Place) -> None:
    error = {
        "code": "ExpiredAuthenticationToken",
        "message": "The access token expiry UTC time is earlier than current UTC time.",
    }
    headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
    answer = {"status": 401, "headers": headers, "body": {"error": error}}
    place.fault({"path": "/subscriptions/", **answer})
    result = place.ask(gpuPools=[T4])
    assert result.verdict is Cause.CREDENTIALS_REFUSED
    text = reported(result)
    assert "ExpiredAuthenticationToken" in text
    assert "Bearer" not in text
    assert place.azure.cloud.client_secret not in text
    # A token of this cloud begins so.
    assert "eyJ" not in text


def test_an_expired_secret_is_reported(place: Place) -> None:
    body = {
        "error": "invalid_client",
        "error_description": "AADSTS7000222: The provided client secret keys for app are expired.",
    }
    place.fault({"path": "/token$", "status": 401, "body": body})
    result = place.ask(gpuPools=[T4])
    assert result.exit_code == Cause.CREDENTIALS_REFUSED.exit_code
    (row,) = result.rows
    assert "AADSTS7000222" in row.what
    assert row.advice.startswith("run `az login`.")
    assert place.azure.cloud.client_secret not in reported(result)


def test_a_missing_subscription_setting_is_named(place: Place) -> None:
    result = place.ask(access=access_with(place, subscriptionId=""))
    assert result.verdict is Cause.CREDENTIALS_REFUSED
    assert "ARM_SUBSCRIPTION_ID" in result.rows[0].what


@pytest.mark.parametrize(
    ("path", "question"),
    [
        ("/skus", "size"),
        ("/usages", "quota"),
        ("/kubernetesVersions", "version"),
        ("/resourcegroups/", "resource group"),
        ("/managedClusters/", "cluster"),
        ("/providers/Microsoft.Network", "provider"),
    ],
)
def test_a_forbidden_request_does_not_hide_other_answers(
    place: Place, path: str, question: str
) -> None:
    body = {"error": {"code": "AuthorizationFailed", "message": "You may not read this."}}
    place.fault({"path": f"{path}[^/]*$", "status": 403, "body": body})
    result = place.ask(gpuPools=[T4], cluster={"kubernetesVersion": "1.35"})
    assert result.verdict is Cause.UNANSWERED
    unknown = [row for row in result.rows if row.answer == "unknown"]
    assert {row.question for row in unknown if "AuthorizationFailed" in row.what} == {question}
    assert len({row.question for row in result.rows if row.answer == "ok"}) > 3


def test_a_subscription_that_does_not_exist_is_reported(place: Place) -> None:
    """It was five rows of SubscriptionNotFound, and the advice to look for the resource group."""
    stranger = "00000000-0000-0000-0000-000000000000"
    result = place.ask(access=access_with(place, subscriptionId=stranger))
    # That nobody is there to ask does not make a name free: nothing at all is answered.
    (row,) = result.rows
    assert (row.question, row.cause) == ("azure", Cause.CREDENTIALS_REFUSED)
    assert "az account list" in row.advice


def test_temporary_errors_are_retried(place: Place) -> None:
    busy = {"status": 429, "headers": {"Retry-After": "0"}, "body": {}, "times": 2}
    place.fault({"path": "/skus", **busy})
    assert place.ask(gpuPools=[T4]).exit_code == 0
