import json
import time
from typing import Any

import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ServiceRequestError

from provider_kit.errors import because, explained
from provider_kit.secrecy import hide
from tests.aks_preview.odd.driver import secret as marked
from tests.provider_kit.test_secrecy import of


class Answer:
    """As much of an HTTP answer as an error reads."""

    status_code, reason = 400, "Bad Request"

    def __init__(self, body: Any) -> None:
        self._body = body

    def text(self) -> str:
        return self._body if isinstance(self._body, str) else json.dumps(self._body)


def message_of(body: Any) -> str:
    return explained(HttpResponseError(response=Answer(body)))  # type: ignore[arg-type]


ERROR = {"code": "InvalidParameter", "message": "It is invalid.", "target": "count"}


@pytest.mark.parametrize(
    "body",
    [
        {"error": ERROR},
        ERROR | {"details": None, "subcode": ""},
        {"status": "Failed", "error": ERROR},
    ],
)
def test_every_error_format_gives_the_same_message(body: dict[str, Any]) -> None:
    assert message_of(body) == "InvalidParameter: It is invalid. (target: count)"


def test_details_are_part_of_the_message() -> None:
    body = {
        "error": {"code": "Outer", "message": "o", "details": [{"code": "Inner", "message": "i"}]}
    }

    assert message_of(body) == "Outer: o\n  Inner: i"


@pytest.mark.parametrize(
    ("code", "message", "next_step"),
    [
        ("QuotaExceeded", "m", "az vm list-usage"),
        ("ErrCode_InsufficientVCPUQuota", "m", "az vm list-usage"),
        ("SkuNotAvailable", "m", "az vm list-skus"),
        ("CreateVMSSAgentPoolFailed", 'VMSS failed: Code="SkuNotAvailable"', "az vm list-skus"),
        ("ZonalAllocationFailed", "m", "not have enough VMs"),
        ("PreviewFeatureNotRegistered", "m", "FeatureRegistration"),
        ("AuthorizationFailed", "m", "Contributor"),
    ],
)
def test_messages_contain_advice(code: str, message: str, next_step: str) -> None:
    assert next_step in message_of({"error": {"code": code, "message": message}})


def test_the_cause_is_looked_for_in_the_details() -> None:
    inner = {"code": "QuotaExceeded", "message": "i"}

    assert "az vm list-usage" in message_of(
        {"error": {"code": "Outer", "message": "o", "details": [inner]}}
    )


def test_an_answer_without_a_reason_is_reported_by_its_status() -> None:
    assert message_of("<html>") == "Azure answered 400 (Bad Request) and gave no reason."


def test_a_resource_in_the_body_is_no_reason() -> None:
    """A pool's `powerState` has a code, which says nothing of why an operation failed."""
    properties = {"provisioningState": "Failed", "powerState": {"code": "Running"}}
    resource = {"id": "/a", "name": "gpu", "status": "Failed", "properties": properties}

    assert because("It failed", resource) == "It failed. Azure gave no reason."


def test_a_body_that_is_no_error_has_no_reason() -> None:
    assert explained(ServiceRequestError("no route")) == "Azure cannot be reached: no route"
    assert (
        explained(ClientAuthenticationError("AADSTS1: no"))
        == "Cannot sign in to Azure: AADSTS1: no"
    )
    assert "customTimeouts" in explained(TimeoutError())


@pytest.mark.parametrize(
    "body",
    [
        "%" + "25" * 6_000,
        f"<html><p>{'a &amp; %2525 ' * 80_000}</p></html>",
        "<html>" + "<script>" * 20_000,
        {"error": {"code": "No", "message": "No.", "a" * 100_000: "b"}},
    ],
)
@pytest.mark.parametrize("secret", [[], ["swordfish" * 3, "hunter2 &/"]])
def test_a_long_error_takes_no_time(body: Any, secret: list[str]) -> None:
    """12 kB of `%25` took nine seconds: no other resource moved, and nobody heard Ctrl-C."""
    hide(of(secrets=[marked(one) for one in secret]))
    began = time.process_time()
    message = message_of(body)
    seconds = time.process_time() - began
    hide()

    assert message
    assert seconds < 0.3
