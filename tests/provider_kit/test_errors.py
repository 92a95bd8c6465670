"""Errors in Azure's words, and what to do next."""

import json
from typing import Any

import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from azure.mgmt.core.exceptions import ARMErrorFormat

from provider_kit.errors import explained, reason_in


class Answer:
    """As much of an HTTP answer as an error reads."""

    status_code, reason, headers = 400, "Bad Request", dict[str, str]()

    def __init__(self, body: Any) -> None:
        self._body = body

    def text(self) -> str:
        return json.dumps(self._body)


@pytest.mark.parametrize(
    ("code", "message", "next_step"),
    [
        ("ErrCode_InsufficientVCPUQuota", "m", "az vm list-usage"),
        ("CreateVMSSAgentPoolFailed", 'VMSS failed: Code="SkuNotAvailable"', "az vm list-skus"),
        ("ZonalAllocationFailed", "m", "not have enough VMs"),
        ("PreviewFeatureNotRegistered", "m", "FeatureRegistration"),
        ("LinkedAuthorizationFailed", "m", "Assign the role"),
    ],
)
def test_messages_contain_details_and_advice(code: str, message: str, next_step: str) -> None:
    error = {"code": "Outer", "message": "o", "details": [{"code": code, "message": message}]}
    # As ARM and as AKS's own API write it.
    for body in ({"error": error}, {**error, "subcode": ""}):
        answer: Any = Answer(body)
        told = explained(HttpResponseError(response=answer, error_format=ARMErrorFormat))
        assert told.startswith(f"Outer: o\n  {code}: {message}\n")
        assert next_step in told


def test_what_is_no_error_of_azure_is_told_as_it_is() -> None:
    assert explained(ClientAuthenticationError("AADSTS1")) == "Cannot sign in to Azure: AADSTS1"
    assert "customTimeouts" in explained(TimeoutError())
    # A pool's `powerState` has a code, which says nothing of why an operation failed.
    assert reason_in({"properties": {"status": None, "powerState": {"code": "Running"}}}) == ""
