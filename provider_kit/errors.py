"""Azure's errors in words for people: what it says of the reason, and what to do next."""

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

from provider_kit.secrecy import legible, masked

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
# Where a reason stands: the names that Azure's services, its directory and gateways have for them.
_CODES = ("code", "errorcode", "error")
_MESSAGES = ("message", "error_description", "errormessage", "detail", "title")
# What may hold one further in, and which parts of it do.
_INNER = (
    "error",
    "errors",
    "details",
    "innererror",
    "additionalinfo",
    "statusmessage",
    "provisioningerror",
    "properties",
    "status",
    "response",
)
_POLICY = (
    ("policy assignment", ("policyassignmentdisplayname", "policyassignmentname")),
    ("policy definition", ("policydefinitiondisplayname", "policydefinitionname")),
    ("policy set", ("policysetdefinitiondisplayname", "policysetdefinitionname")),
)
_MARKUP = re.compile(
    r"<!--.*?-->|<(script|style|head)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.DOTALL | re.IGNORECASE)
_KINDS: Mapping[type[Exception], str] = MappingProxyType(
    {
        ServiceRequestError: "Azure cannot be reached",
        ServiceResponseError: "The connection to Azure broke off",
    }
)


class FailedError(HttpResponseError):
    """An operation ended, and not well."""

    def __init__(self, told: str, response: Any = None) -> None:
        super().__init__(told, response)
        self.told = told


def explained(error: BaseException) -> str:
    """What went wrong: Azure's codes and messages, and no more of the exchange."""
    if isinstance(error, TimeoutError):
        return (
            "It took longer than it may; customTimeouts of the resource says how long that is, "
            "an hour if it says nothing."
        )
    if isinstance(error, FailedError):
        return legible(error.told)
    if isinstance(error, HttpResponseError):
        return legible(_answer(error))
    words = next((words for kind, words in _KINDS.items() if isinstance(error, kind)), None)
    if words and isinstance(error, AzureError):
        return legible(f"{words}: {error.message}")
    return legible(str(error) or type(error).__name__)


def words(error: HttpResponseError) -> str:
    """Azure's codes and messages, for those who look for one of them."""
    return "\n".join(reasons(body_of(error.response)))


def official(response: Any) -> str:
    """The code and message of an error as ARM and AKS write them; else nothing."""
    try:
        said = json.loads(body_of(response))
    except (ValueError, RecursionError):
        return ""
    error = said.get("error", said) if isinstance(said, Mapping) else None
    if not isinstance(error, Mapping):
        return ""
    code, message = _text(error.get("code")), _text(error.get("message"))
    return f"{code}: {message}" if code and message else ""


def because(what: str, said: Any) -> str:
    """What happened, with the reason in what Azure has said."""
    lines = list(reasons(said))
    if not lines:
        return f"{what}, and Azure did not say why."
    return "\n".join([f"{what}: {lines[0]}", *lines[1:], *_advice(lines)])


def body_of(response: Any) -> str:
    """The text of an answer, or nothing where it has none that can be read."""
    try:
        return str(response.text())
    # A body may be broken in as many ways as there are encodings of one.
    except Exception:
        return ""


def reasons(said: Any) -> Iterator[str]:
    """Lines with each code and message in an answer, those further in indented."""
    told = set()
    left = [(0, said)]
    while left:
        indent, value = left.pop()
        match value:
            case str():
                line, inner = _of_text(value)
            case Mapping():
                line, inner = _of_object({str(name).lower(): held for name, held in value.items()})
            case list():
                line, inner = "", value
            case _:
                continue
        if line and line not in told:
            told.add(line)
            yield f"{'  ' * min(indent, 10)}{line}"
        left += [(indent + bool(line), part) for part in reversed(inner)]


def _of_text(text: str) -> tuple[str, list[Any]]:
    """What a text says; some of them hold JSON, or are a page of a proxy."""
    text = masked(text.strip())
    if text[:1] in ("{", "["):
        try:
            return "", [json.loads(text)]
        except (ValueError, RecursionError):
            pass
    if text.startswith("<"):
        title = _TITLE.search(text)
        page = " ".join(html.unescape(_MARKUP.sub(" ", text)).split())
        said = [" ".join(html.unescape(title[1]).split())] if title else []
        text = ": ".join([*said, *([page[:300]] if page else [])])
    return text, []


def _of_object(held: Mapping[str, Any]) -> tuple[str, list[Any]]:
    if (policy := _policy(held)) is not None:
        return policy, []
    message = next((text for name in _MESSAGES if (text := _text(held.get(name)))), "")
    code = next((text for name in _CODES if (text := _text(held.get(name)))), "")
    inner = [held[name] for name in _INNER if isinstance(held.get(name), Mapping | list)]
    if status := _text(held.get("statusmessage")):
        inner.append(status)
    if message[:1] in ("{", "["):
        inner, message = [message, *inner], ""
    target = _text(held.get("target"))
    line = ": ".join(filter(None, [code, message]))
    return f"{line} (target: {target})" if line and target else line, inner


def _policy(held: Mapping[str, Any]) -> str | None:
    """Which policy forbids it; None where none is named."""
    info = held.get("info")
    if not isinstance(info, Mapping):
        return None
    lower = {str(name).lower(): value for name, value in info.items()}
    named = [
        f"{kind} {text}"
        for kind, names in _POLICY
        if (text := next((text for name in names if (text := _text(lower.get(name)))), ""))
    ]
    return f"Forbidden by {', '.join(named)}." if named else None


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _answer(error: HttpResponseError) -> str:
    if isinstance(error, ClientAuthenticationError) and error.error is None:
        # azure-identity's own words; of its exchange with the authority it repeats no secret.
        return f"Azure does not let us in: {error.message}"
    said = body_of(error.response)
    lines = list(reasons(said))
    if error.response is None:
        return "\n".join([str(error.message), *_advice(lines)])
    reason = f" ({error.reason})" if error.reason else ""
    answered = f"Azure answered {error.status_code}{reason}"
    if not lines:
        return f"{answered}, and did not say why."
    if not said.lstrip().startswith("{"):
        lines[0] = f"{answered}: {lines[0]}"
    return "\n".join([*lines, *_advice(lines)])


def _advice(lines: list[str]) -> Iterator[str]:
    """What to do next, by the first code that is known: details are often the more telling.

    Some codes only stand in a message, as `Code="SkuNotAvailable"`.
    """
    for line in reversed(lines):
        for part, advice in _ADVICE.items():
            if part in line:
                yield advice
                return
