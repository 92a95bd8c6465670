"""Errors in Azure's words, and what to do next."""

import json
from typing import Any

import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ServiceRequestError
from azure.mgmt.core.exceptions import ARMErrorFormat

from provider_kit.errors import explained, reason_in

INNER = {"code": "QuotaExceeded", "message": "i"}
OUTER = {"code": "Outer", "message": "o", "details": [INNER]}
BODIES = [{"error": OUTER}, {**OUTER, "subcode": ""}]


class Answer:
    """As much of an HTTP answer as an error reads."""

    status_code, reason, headers = 400, "Bad Request", dict[str, str]()

    def __init__(self, body: Any) -> None:
        self._body = body

    def text(self) -> str:
        return self._body if isinstance(self._body, str) else json.dumps(self._body)


def message_of(body: Any) -> str:
    answer: Any = Answer(body)
    return explained(HttpResponseError(response=answer, error_format=ARMErrorFormat))


@pytest.mark.parametrize("body", BODIES)
def test_an_error_of_azure_is_told_with_its_details_and_advice(body: Any) -> None:
    """As ARM and as AKS's own API write it; the cause is looked for in the details."""
    first, second, advice = message_of(body).splitlines()
    assert (first, second) == ("Outer: o", "  QuotaExceeded: i")
    assert "az vm list-usage" in advice


@pytest.mark.parametrize(
    ("code", "message", "next_step"),
    [
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


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"status": "Failed", "error": INNER}, "QuotaExceeded: i"),
        *(
            ({"properties": {"status": {"provisioningError": error}}}, "QuotaExceeded: i")
            for error in (INNER, {"error": INNER})
        ),
        # A pool's `powerState` has a code, which says nothing of why an operation failed.
        ({"properties": {"status": None, "powerState": {"code": "Running"}}}, ""),
        (None, ""),
    ],
)
def test_an_operation_and_a_resource_tell_why_they_failed(content: Any, reason: str) -> None:
    assert reason_in(content) == reason


def test_what_is_no_error_of_azure_is_told_as_it_is() -> None:
    assert "400" in message_of("<html>")
    assert explained(ServiceRequestError("no route")) == "no route"
    assert explained(ClientAuthenticationError("AADSTS1")) == "Cannot sign in to Azure: AADSTS1"
    assert "customTimeouts" in explained(TimeoutError())
