"""Error messages for people: what Azure says, and what to do next."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ODataV4Format,
)
from azure.mgmt.core.exceptions import ARMErrorFormat

from provider_kit.secrecy import legible

_QUOTA = (
    "Use a smaller count or another size, or request more quota: `az vm list-usage --location "
    "REGION --output table` shows what is left."
)
_SKU = (
    "Use another size, zone or region: `az vm list-skus --location REGION --size SIZE --all "
    "--output table` shows where your subscription can use this size."
)
_CAPACITY = (
    "The region does not have enough VMs of this size right now: try again later, or use no zones, "
    "a smaller count, another size or another region."
)
# By Azure's error code, or a part of it: AKS adds prefixes to the codes of other services.
_ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "AllocationFailed": _CAPACITY,
        "FeatureNotRegistered": "Register the feature with a FeatureRegistration, and make this "
        "resource depend on it.",
        "InsufficientVCPUQuota": _QUOTA,
        "AuthorizationFailed": "Assign the role that the message names to who runs Pulumi, or to "
        "the identity of the cluster.",
        "MissingSubscriptionRegistration": "Register the resource provider: `az provider register "
        "--namespace Microsoft.ContainerService`.",
        "NotAvailableForSubscription": _SKU,
        "OverconstrainedZonalAllocationRequest": _CAPACITY,
        "QuotaExceeded": _QUOTA,
        "SkuNotAvailable": _SKU,
        "VMSizeNotSupported": _SKU,
    }
)
_TIMED_OUT = (
    "The operation timed out. Set a longer time in customTimeouts of the resource; the default is "
    "one hour."
)


class FailedError(HttpResponseError):
    """An operation failed."""

    def __init__(self, text: str, response: Any = None) -> None:
        super().__init__(text, response)
        self.text = text


def explained(error: BaseException) -> str:
    """Returns what went wrong, in Azure's words, and what to do next."""
    if isinstance(error, FailedError):
        return error.text
    if isinstance(error, TimeoutError):
        return _TIMED_OUT
    if isinstance(error, ClientAuthenticationError) and error.error is None:
        return legible(f"Cannot sign in to Azure: {error.message}")
    if isinstance(error, HttpResponseError):
        told = error.error
        return advised(
            reason_of(told) or ": ".join(filter(None, (str(error.status_code or ""), str(error))))
        )
    return legible(str(error) or type(error).__name__)


def advised(text: str) -> str:
    """Adds what to do next: nested codes are more precise, and come last."""
    text = legible(text)
    for line in reversed(text.splitlines()):
        for code, advice in _ADVICE.items():
            if code in line:
                return f"{text}\n{advice}"
    return text


def code_of(error: HttpResponseError) -> str:
    """Returns the code of Azure's error; empty if there is none."""
    return str(error.error.code or "") if error.error else ""


def reason_of(error: ODataV4Format | None) -> str:
    """Returns the codes and messages of an error; nested ones are indented."""
    return "\n".join(
        "  " * depth + ": ".join(filter(None, (each.code, each.message)))
        for each, depth in _told(error)
    )


def reason_in(content: Any) -> str:
    """Returns the error of an operation or a resource; empty if there is none."""
    if not isinstance(content, Mapping):
        return ""
    status = (content.get("properties") or {}).get("status") or {}
    try:
        return reason_of(ARMErrorFormat(content.get("error") or status["provisioningError"]))
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""


def _told(error: ODataV4Format | None, depth: int = 0) -> Iterator[tuple[ODataV4Format, int]]:
    if error is not None:
        yield error, depth
        for inner in error.details:
            yield from _told(inner, depth + 1)
