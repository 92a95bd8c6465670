"""Error messages for people: the reason that Azure gives, and what to do next."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ServiceRequestError,
    ServiceResponseError,
)

from provider_kit.secrecy import LONGEST_READ, legible, masked

_QUOTA = (
    "Request more quota for this VM family in this region (https://aka.ms/prodquotaincrease), or "
    "use a smaller count or another size. `az vm list-usage --location REGION --output table` "
    "shows the remaining quota."
)
_SKU = (
    "Use another size, zone or region. `az vm list-skus --location REGION --size SIZE --all "
    "--output table` shows where your subscription can use this size, and why not."
)
_CAPACITY = (
    "The region does not have enough VMs of this size right now. Try again later, or use no zones, "
    "a smaller count, another size or another region."
)
_FEATURE = (
    "Register the feature that the message names with a FeatureRegistration, and make this "
    "resource depend on it."
)

# By Azure's error code, or a part of it: AKS adds prefixes to the codes of other services.
_ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "AllocationFailed": _CAPACITY,
        "FeatureNotRegistered": _FEATURE,
        "InsufficientVCPUQuota": _QUOTA,
        "LinkedAuthorizationFailed": "Assign the role that the message names to the identity that "
        "runs Pulumi, or to the identity of the cluster.",
        "AuthorizationFailed": "Assign the role that the message names to the identity that runs "
        "Pulumi. Contributor on the resource group is enough.",
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
# What is nested in an error, in ARM's order.
_INSIDE = ("error", "details", "innererror", "additionalInfo", "info")
_POLICY = (
    ("policy assignment", ("policyAssignmentDisplayName", "policyAssignmentName")),
    ("policy definition", ("policyDefinitionDisplayName", "policyDefinitionName")),
    ("policy set", ("policySetDefinitionDisplayName", "policySetDefinitionName")),
)
_DEEPEST = 20
# Of an answer that is no error of ARM.
_LONGEST_OTHER = 500
# Whatever has no end goes on to the end of the text, so that a page is read once.
_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|head)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>",
    re.DOTALL | re.IGNORECASE,
)
_TITLE = re.compile(r"<title[^<>]*>([^<]*)", re.IGNORECASE)
_KINDS: Mapping[type[Exception], str] = MappingProxyType(
    {
        ServiceRequestError: "Azure cannot be reached",
        ServiceResponseError: "The connection to Azure was lost",
    }
)


class FailedError(HttpResponseError):
    """An operation failed."""

    def __init__(self, text: str, response: Any = None) -> None:
        super().__init__(text, response)
        self.text = text


def explained(error: BaseException) -> str:
    """Returns what went wrong: only the codes and messages of Azure."""
    if isinstance(error, TimeoutError):
        return (
            "The operation timed out. Set a longer time in customTimeouts of the resource; the "
            "default is one hour."
        )
    if isinstance(error, FailedError):
        return legible(error.text)
    if isinstance(error, HttpResponseError):
        return legible(_answer(error))
    words = next((words for kind, words in _KINDS.items() if isinstance(error, kind)), None)
    if words and isinstance(error, AzureError):
        return legible(f"{words}: {error.message}")
    return legible(str(error) or type(error).__name__)


def words(error: HttpResponseError) -> str:
    """Returns Azure's codes and messages as one text to search in."""
    return said(body_of(error.response))


def said(body: str) -> str:
    """Returns what the body of an answer says: ARM's error, or else its text."""
    return "\n".join(reasons(_json(body))) or _other(body)


def official(response: Any) -> str:
    """Returns the code and message of an error in the format of ARM and AKS; else nothing."""
    body = _json(body_of(response))
    error = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return ""
    code, message = _text(error.get("code")), _text(error.get("message"))
    return f"{code}: {message}" if code and message else ""


def because(what: str, content: Any) -> str:
    """Returns what happened, with the reason in an operation or a resource."""
    lines = reasons(content)
    if not lines:
        return f"{what}. Azure gave no reason."
    return "\n".join([f"{what}: {lines[0]}", *lines[1:], *_advice(lines)])


def body_of(response: Any) -> str:
    """Returns the text of a response; empty if it cannot be read."""
    try:
        return str(response.text())
    # Each encoding has its own exceptions.
    except Exception:
        return ""


def reasons(content: Any) -> list[str]:
    """Returns each code and message of ARM's error in a JSON body; nested ones are indented."""
    return list(dict.fromkeys(_told(_error_in(content))))


def _error_in(content: Any) -> Any:
    """Returns the error of a refusal, an operation or a resource; None if there is none."""
    if not isinstance(content, Mapping):
        return None
    properties = content.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    status = properties.get("status")
    places = (
        content.get("error"),
        properties.get("error"),
        status.get("provisioningError") if isinstance(status, Mapping) else None,
        content if _text(content.get("message")) else None,
    )
    return next((error for error in places if isinstance(error, Mapping)), None)


def _told(error: Any, indent: int = 0, depth: int = 0) -> Iterator[str]:
    if isinstance(error, list):
        for item in error:
            yield from _told(item, indent, depth)
    if not isinstance(error, Mapping) or depth > _DEEPEST:
        return
    message = _text(error.get("message"))
    nested = _json(message) if message.startswith("{") else None
    line = _policy(error) or _line(error, "" if nested else message)
    if line:
        yield f"{'  ' * indent}{line}"
    for inner in (nested, *(error.get(name) for name in _INSIDE)):
        yield from _told(inner, indent + bool(line), depth + 1)


def _line(error: Mapping[str, Any], message: str) -> str:
    line = ": ".join(filter(None, [_text(error.get("code")), message]))
    target = _text(error.get("target"))
    return f"{line} (target: {target})" if line and target else line


def _policy(info: Mapping[str, Any]) -> str:
    """Returns the policy that forbids the request, if one is named."""
    named = [
        f"{kind} {name}"
        for kind, names in _POLICY
        if (name := next(filter(None, (_text(info.get(each)) for each in names)), ""))
    ]
    return f"Forbidden by {', '.join(named)}." if named else ""


def _other(body: str) -> str:
    """Returns what refuses a request and is not ARM: a proxy's page, Entra ID, a plain text."""
    text = body.strip()[:LONGEST_READ]
    if text.startswith("<"):
        title = _TITLE.search(text)
        page = " ".join(html.unescape(_MARKUP.sub(" ", text)).split())
        text = ": ".join(filter(None, [html.unescape(title[1]).strip() if title else "", page]))
    return masked(text)[:_LONGEST_OTHER]


def _json(text: str) -> Any:
    """Returns the JSON in a text, and in a text in it; None if there is none."""
    try:
        content = json.loads(text)
        return json.loads(content) if isinstance(content, str) else content
    except (ValueError, RecursionError):
        return None


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _answer(error: HttpResponseError) -> str:
    if isinstance(error, ClientAuthenticationError) and error.error is None:
        # The message of azure-identity contains no secret.
        return f"Cannot sign in to Azure: {error.message}"
    body = body_of(error.response)
    lines = reasons(_json(body))
    if error.response is None:
        return "\n".join([str(error.message), *_advice(lines)])
    if not lines:
        reason = f" ({error.reason})" if error.reason else ""
        told = f": {other}" if (other := _other(body)) else " and gave no reason."
        lines = [f"Azure answered {error.status_code}{reason}{told}"]
    return "\n".join([*lines, *_advice(lines)])


def _advice(lines: list[str]) -> Iterator[str]:
    """Yields what to do next, by the last known code: nested details are more precise.

    Some codes occur only inside a message: `Code="SkuNotAvailable"`.
    """
    for line in reversed(lines):
        for part, advice in _ADVICE.items():
            if part in line:
                yield advice
                return
