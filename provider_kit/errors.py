"""Azure's errors in words for people: what it says of the reason, and what to do next."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
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
# Where a reason stands: the names that Azure's services, its directory and gateways have for them,
# as `_name` writes them.
_CODES = ("code", "errorcode", "error")
_MESSAGES = (
    "message",
    "errordescription",
    "errormessage",
    "exceptionmessage",
    "detail",
    "title",
    "description",
    "faultstring",
    "reason",
    "value",
)
# What is in these is about the reason, all of it.
_REASONS = (
    *_CODES,
    *_MESSAGES,
    "errors",
    "details",
    "innererror",
    "additionalinfo",
    "info",
    "statusmessage",
    "provisioningerror",
    "fault",
)
# These may hold one, among other things.
_AROUND = ("properties", "status", "response")
_POLICY = (
    ("policy assignment", ("policyassignmentdisplayname", "policyassignmentname")),
    ("policy definition", ("policydefinitiondisplayname", "policydefinitionname")),
    ("policy set", ("policysetdefinitiondisplayname", "policysetdefinitionname")),
)
_EVALUATED = "evaluationdetails"
_NAMESPACE = re.compile(r".*[.:](?=.)", re.DOTALL)
_NO_LETTER = re.compile(r"[\W_]")
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
    return "\n".join(reasons(body_of(error.response), is_refusal=True))


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


def reasons(said: Any, *, is_refusal: bool = False) -> Iterator[str]:
    """Lines with each code and message in an answer, those further in indented.

    All of a refusal is about the reason; an operation or a resource has it somewhere.
    """
    told = set()
    left = [(0, said, is_refusal)]
    while left:
        indent, value, is_reason = left.pop()
        match value:
            case str():
                line, inner = _of_text(value, is_reason=is_reason)
            case Mapping():
                line, inner = _of_object(value, is_reason=is_reason)
            case list():
                line, inner = "", [(item, is_reason) for item in value]
            case _:
                continue
        if line and line not in told:
            told.add(line)
            yield f"{'  ' * min(indent, 10)}{line}"
        left += [(indent + bool(line), *part) for part in reversed(inner)]


# A part of an answer, and whether all of it is about the reason.
_Part = tuple[Any, bool]


def _of_text(text: str, *, is_reason: bool) -> tuple[str, list[_Part]]:
    """What a text says; some of them hold JSON, or are a page of a proxy."""
    text = masked(text.strip())
    if text[:1] in ("{", "[", '"'):
        try:
            return "", [(json.loads(text), is_reason)]
        except (ValueError, RecursionError):
            pass
    if text.startswith("<"):
        title = _TITLE.search(text)
        page = " ".join(html.unescape(_MARKUP.sub(" ", text)).split())
        said = [" ".join(html.unescape(title[1]).split())] if title else []
        text = ": ".join([*said, *([page[:300]] if page else [])])
    return text, []


def _of_object(value: Mapping[str, Any], *, is_reason: bool) -> tuple[str, list[_Part]]:
    """What an object says in one line, and its other parts that may say more."""
    info = next((held for name, held in value.items() if _name(name) == "info"), None)
    if isinstance(info, Mapping) and (policy := _policy(info)):
        return policy, [(held, True) for name, held in info.items() if _name(name) == _EVALUATED]
    left = {name: held for name, held in value.items() if held}
    code = _first(left, _CODES)
    message = _first(left, _MESSAGES)
    says = [_text(left.get(name)) for name in (code, message)]
    is_json = says[1][:1] in ("{", "[")
    line = ": ".join(filter(None, says[: 1 if is_json else 2]))
    if line and (target := _first(left, ("target",))):
        line = f"{line} (target: {_text(left.pop(target))})"
    for name in (code, *([] if is_json else [message])):
        left.pop(name, None)
    inner = []
    for original, held in sorted(left.items(), key=lambda part: _order(_name(part[0]))):
        name = _name(original)
        if not isinstance(held, str):
            if is_reason or name in _REASONS or name in _AROUND:
                inner.append((held, is_reason or name in _REASONS))
        # A word of these is a state.
        elif name in _REASONS or (name in _AROUND and " " in held.strip()):
            inner.append((held, True))
        elif is_reason and not message and name not in _AROUND:
            inner.append((f"{original}: {held}", True))
    return line, inner


def _name(name: str) -> str:
    """The name of a part as they are compared: `odata.error` and `Error` are one."""
    return _NO_LETTER.sub("", _NAMESPACE.sub("", str(name))).lower()


def _order(name: str) -> int:
    known = (*_REASONS, *_AROUND)
    return known.index(name) if name in known else len(known)


def _first(held: Mapping[str, Any], names: Iterable[str]) -> str:
    """The part with a text that has the first of these names; nothing if there is none."""
    texts = [part for part, text in held.items() if _text(text)]
    return next((part for name in names for part in texts if _name(part) == name), "")


def _policy(info: Mapping[str, Any]) -> str:
    """Which policy forbids it, if one is named."""
    named = [
        f"{kind} {_text(info[part])}" for kind, names in _POLICY if (part := _first(info, names))
    ]
    return f"Forbidden by {', '.join(named)}." if named else ""


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _answer(error: HttpResponseError) -> str:
    if isinstance(error, ClientAuthenticationError) and error.error is None:
        # azure-identity's own words; of its exchange with the authority it repeats no secret.
        return f"Azure does not let us in: {error.message}"
    said = body_of(error.response)
    lines = list(reasons(said, is_refusal=True))
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
