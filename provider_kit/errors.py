"""Error messages for people: the reason that Azure gives, and what to do next."""

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
# The names that Azure services, Entra ID and gateways use for error codes and messages, as `_name`
# writes them.
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
# Everything in these describes the error.
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
# These can contain an error, among other things.
_AROUND = ("properties", "status", "response")
_POLICY = (
    ("policy assignment", ("policyassignmentdisplayname", "policyassignmentname")),
    ("policy definition", ("policydefinitiondisplayname", "policydefinitionname")),
    ("policy set", ("policysetdefinitiondisplayname", "policysetdefinitionname")),
)
_EVALUATED = "evaluationdetails"
_NAMESPACE = re.compile(r"\A.*[.:](?=.)", re.DOTALL)
_NO_LETTER = re.compile(r"[\W_]")
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
    return "\n".join(reasons(body_of(error.response), is_refusal=True))


def official(response: Any) -> str:
    """Returns the code and message of an error in the format of ARM and AKS; else nothing."""
    try:
        body = json.loads(body_of(response))
    except (ValueError, RecursionError):
        return ""
    error = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return ""
    code, message = _text(error.get("code")), _text(error.get("message"))
    return f"{code}: {message}" if code and message else ""


def because(what: str, response: Any) -> str:
    """Returns what happened, with the reason in the response."""
    lines = list(reasons(response))
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


def reasons(response: Any, *, is_refusal: bool = False) -> Iterator[str]:
    """Yields each code and message in a response as a line; nested ones are indented.

    The whole body of a refusal describes the error; an operation or resource contains it somewhere.
    """
    seen = set()
    left = [(0, response, is_refusal)]
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
        if line and line not in seen:
            seen.add(line)
            yield f"{'  ' * min(indent, 10)}{line}"
        left += [(indent + bool(line), *part) for part in reversed(inner)]


# A part of a response, and whether all of it describes the error.
_Part = tuple[Any, bool]


def _of_text(text: str, *, is_reason: bool) -> tuple[str, list[_Part]]:
    """Returns the line of a text. Some texts contain JSON, or are a proxy's HTML page."""
    text = text.strip()
    if text[:1] in ("{", "[", '"'):
        try:
            return "", [(json.loads(text), is_reason)]
        except (ValueError, RecursionError):
            pass
    text = text[:LONGEST_READ]
    if text.startswith("<"):
        title = _TITLE.search(text)
        page = masked(" ".join(html.unescape(_MARKUP.sub(" ", text)).split()))
        titles = [" ".join(html.unescape(title[1]).split())] if title else []
        text = ": ".join([*titles, *([page[:300]] if page else [])])
    return text, []


def _of_object(value: Mapping[str, Any], *, is_reason: bool) -> tuple[str, list[_Part]]:
    """Returns the line of an object, and its nested parts."""
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
        # A single word is a state.
        elif name in _REASONS or (name in _AROUND and " " in held.strip()):
            inner.append((held, True))
        elif is_reason and not message and name not in _AROUND:
            inner.append((f"{original}: {held}", True))
    return line, inner


def _name(name: str) -> str:
    """Normalizes the name of a part: `odata.error` and `Error` are equal."""
    return _NO_LETTER.sub("", _NAMESPACE.sub("", str(name))).lower()


def _order(name: str) -> int:
    known = (*_REASONS, *_AROUND)
    return known.index(name) if name in known else len(known)


def _first(held: Mapping[str, Any], names: Iterable[str]) -> str:
    """Returns the first of these names that has a text; empty if none has."""
    texts = [part for part, text in held.items() if _text(text)]
    return next((part for name in names for part in texts if _name(part) == name), "")


def _policy(info: Mapping[str, Any]) -> str:
    """Returns the policy that forbids the request, if one is named."""
    named = [
        f"{kind} {_text(info[part])}" for kind, names in _POLICY if (part := _first(info, names))
    ]
    return f"Forbidden by {', '.join(named)}." if named else ""


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _answer(error: HttpResponseError) -> str:
    if isinstance(error, ClientAuthenticationError) and error.error is None:
        # The message of azure-identity contains no secret.
        return f"Cannot sign in to Azure: {error.message}"
    body = body_of(error.response)
    lines = list(reasons(body, is_refusal=True))
    if error.response is None:
        return "\n".join([str(error.message), *_advice(lines)])
    reason = f" ({error.reason})" if error.reason else ""
    answered = f"Azure answered {error.status_code}{reason}"
    if not lines:
        return f"{answered} and gave no reason."
    if not body.lstrip().startswith("{"):
        lines[0] = f"{answered}: {lines[0]}"
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
