"""Azure's errors in words for people: its own code, message and target, and what to do next."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ODataV4Format,
    ServiceRequestError,
    ServiceResponseError,
)

_QUOTA = (
    "Ask for more quota of this size's family in this region, or take a smaller count or another "
    "size: `az vm list-usage --location REGION --output table` shows what is left, "
    "https://aka.ms/prodquotaincrease is where to ask."
)
_SKU = (
    "Take another size, zone or region: `az vm list-skus --location REGION --size SIZE --all "
    "--output table` shows where this one may be used by this subscription, and why not."
)
_CAPACITY = (
    "The region has too few of these machines right now. Try again later, or without zones, with a "
    "smaller count, another size or another region."
)
_FEATURE = (
    "Register the feature that the message names, with a FeatureRegistration, and let this "
    "resource depend on it."
)

# By Azure's code, or a part of it: AKS puts prefixes before the codes of other services.
_ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "AllocationFailed": _CAPACITY,
        "FeatureNotRegistered": _FEATURE,
        "InsufficientVCPUQuota": _QUOTA,
        "LinkedAuthorizationFailed": "Give the identity that runs Pulumi, or that of the cluster, "
        "the role that the message names.",
        "AuthorizationFailed": "Give the identity that runs Pulumi the role that the message "
        "names: Contributor on the resource group does.",
        "MissingSubscriptionRegistration": "Register the resource provider: `az provider register "
        "--namespace Microsoft.ContainerService`.",
        "NotAvailableForSubscription": _SKU,
        "OverconstrainedZonalAllocationRequest": _CAPACITY,
        "PreviewFeatureNotRegistered": _FEATURE,
        "QuotaExceeded": _QUOTA,
        "SkuNotAvailable": _SKU,
        "VMSizeNotSupported": _SKU,
        "ZonalAllocationFailed": _CAPACITY,
    }
)
_KINDS: Mapping[type[Exception], str] = MappingProxyType(
    {
        ServiceRequestError: "Azure cannot be reached",
        ServiceResponseError: "The connection to Azure broke off",
    }
)


def explained(error: BaseException) -> str:
    """What went wrong: Azure's code, message and target, and no more of the exchange."""
    if isinstance(error, TimeoutError):
        return (
            "It took longer than it may; customTimeouts of the resource says how long that is, "
            "an hour if it says nothing."
        )
    if isinstance(error, HttpResponseError):
        return _answer(error)
    words = next((words for kind, words in _KINDS.items() if isinstance(error, kind)), None)
    if words and isinstance(error, AzureError):
        return f"{words}: {error.message}"
    return str(error)


def words(error: HttpResponseError) -> str:
    """Azure's codes and messages, for those who look for one of them."""
    return "\n".join(_codes(error.error)) if error.error else str(error.message)


def _answer(error: HttpResponseError) -> str:
    if error.error is None:
        if isinstance(error, ClientAuthenticationError):
            # azure-identity's own words; of its exchange with the authority it repeats no secret.
            return f"Azure does not let us in: {error.message}"
        return f"Azure answered {error.status_code} ({error.reason}), and did not say why."
    parts = [*_lines(error.error), *_advice(error.error)]
    return "\n".join(parts)


def _lines(error: ODataV4Format, indent: str = "") -> Iterator[str]:
    target = f" (target: {error.target})" if error.target else ""
    yield f"{indent}{error.code}: {error.message}{target}"
    for detail in error.details:
        yield from _lines(detail, f"{indent}  ")


def _advice(error: ODataV4Format) -> Iterator[str]:
    """What to do next, by the first code that is known: details are often the more telling."""
    for known in _codes(error):
        for part, advice in _ADVICE.items():
            if part in known:
                yield advice
                return


def _codes(error: ODataV4Format) -> Iterator[str]:
    for detail in error.details:
        yield from _codes(detail)
    yield error.code or ""
    # Some codes only stand in the message, as `Code="SkuNotAvailable"`.
    yield error.message or ""
