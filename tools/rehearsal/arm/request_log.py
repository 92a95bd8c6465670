"""A log of all requests, one JSON line each, without credentials."""

import datetime
import errno
import itertools
import json
import os
import re
import time
from collections import deque
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from aks_catalogue import secrecy
from aks_catalogue.headers import CLIENTS_OWN, CUSTOM_FEATURES
from rehearsal.arm import bodies, errors
from rehearsal.files import log_line

SECRET_HEADERS = frozenset(
    ("authorization", "cookie", "proxy-authorization", "x-ms-authorization-auxiliary")
)
# An unknown header or query may hold a secret, unless its value is a plain switch.
_SWITCHES = frozenset({"0", "1", "false", "true"})
_SHOWN = CLIENTS_OWN | {
    CUSTOM_FEATURES.lower(),
    # Listed by name: any client may send a header that begins with x-ms-.
    "x-ms-client-session-id",
    "x-ms-command-name",
    "x-ms-date",
    "x-ms-effective-locale",
    "x-ms-parameter-set-name",
    "x-ms-request-id",
    "x-ms-useragent",
    "x-ms-version",
}
_SHOWN_IN_QUERIES = frozenset(
    {"api-version", "audience", "$expand", "$filter", "$select", "$skip", "$top", "format"}
    | {"forcedeletiontypes", "ignore-pod-disruption-budget", "location", "public", "resourcetype"}
)
# The namespaces that the rehearsal plays, and what resources of all others have in clear.
_PLAYED = frozenset({"microsoft.compute", "microsoft.containerservice", "microsoft.features"})
_PLAIN_FIELDS = frozenset({"identity", "kind", "location", "sku", "tags"})
# How many reads and how many others the page can show, and the longest body that it shows.
RECENT, MOST_BYTES = 100, 64 << 10
MASK = "[secret]"
SECRET_FIELDS = frozenset(map(str.lower, secrecy.CREDENTIALS | secrecy.CAN_CONTAIN_SECRETS)) | {
    # Fields of sign-in requests.
    "assertion",
    "client_assertion",
    "client_secret",
    "clientsecret",
    "refresh_token",
}


Line = dict[str, Any]


class RequestLog:
    """requests.jsonl. A failed write does not fail the request; it is reported once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)
        self._last_complaint = ""
        # Larger after a restart.
        self._numbers = itertools.count(time.time_ns() // 1_000_000)
        # Apart, as polls are many.
        self._reads, self._others = deque[Line](maxlen=RECENT), deque[Line](maxlen=RECENT)

    @property
    def recent(self) -> list[Line]:
        """Returns the last lines, each with its number, newest first."""
        return sorted([*self._reads, *self._others], key=lambda line: -line["number"])

    def close(self) -> None:
        self._file.close()

    def write(
        self, request: web.Request, content: bytes, status: int, note: str | None = None
    ) -> None:
        body = _body(request.content_type, content)
        line = {
            "time": datetime.datetime.now(datetime.UTC).isoformat(),
            "method": request.method,
            "path": request.path,
            "query": {
                name: _shown(name, value, _SHOWN_IN_QUERIES)
                for name, value in request.query.items()
            },
            "headers": _headers(request),
            # Names only.
            "withheld": sorted(SECRET_HEADERS & set(map(str.lower, request.headers))),
            "body": body if _is_played(request.path) else _of_others(body),
            "status": status,
            **({"note": note} if note else {}),
        }
        encoded = json.dumps(line).encode() + b"\n"
        if len(encoded) > MOST_BYTES:
            line["body"] = f"({len(content)} bytes, which are in {self._path.name})"
        recent = self._reads if request.method == "GET" else self._others
        recent.append({"number": next(self._numbers), **line})
        try:
            self._append(encoded)
        except OSError as error:
            if str(error) != self._last_complaint:
                self._last_complaint = str(error)
                log_line(
                    f"{self._path.name} cannot be written; requests will be missing in it: {error}"
                )

    def _append(self, line: bytes) -> None:
        """Writes the whole line or nothing."""
        before = os.fstat(self._file.fileno()).st_size
        if self._file.write(line) != len(line):
            self._file.truncate(before)
            raise OSError(errno.ENOSPC, "no space left on the disk")


def _headers(request: web.Request) -> dict[str, str]:
    """Returns the headers in the case in which they were sent, without secrets."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in request.raw_headers:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        if name.lower() not in SECRET_HEADERS:
            value = _shown(name, value, _SHOWN)
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _shown(name: str, value: str, known: Collection[str]) -> str:
    """Returns a value, or a mask in its place if its name is unknown and it is no switch."""
    return value if name.lower() in known or value.lower() in _SWITCHES else MASK


def _body(content_type: str, content: bytes) -> Any:
    if not content:
        return None
    text = content.decode("utf-8", "replace")
    if content_type == "application/x-www-form-urlencoded":
        return without_secrets(dict(parse_qsl(text)))
    try:
        return without_secrets(bodies.parse(content))
    except errors.ArmError:
        # A body that cannot be parsed may hold a secret anywhere.
        return f"({len(content)} bytes that are not JSON)"


def _is_played(path: str) -> bool:
    """Whether a request is about what the rehearsal plays, whose secrets it knows."""
    namespaces = re.findall("/providers/([^/]+)", path.lower())
    return not namespaces or namespaces[-1] in _PLAYED


def _of_others(body: Any) -> Any:
    """Returns a body of another kind by its names: nobody knows which of its values are secret."""
    if not isinstance(body, dict):
        return None if body is None else MASK
    return {name: value if name in _PLAIN_FIELDS else MASK for name, value in body.items()}


def without_secrets(value: Any) -> Any:
    """Returns a value without the fields that hold secrets."""
    if isinstance(value, dict):
        return {
            name: without_secrets(inner)
            for name, inner in value.items()
            if name.lower() not in SECRET_FIELDS
        }
    if isinstance(value, list):
        return [without_secrets(inner) for inner in value]
    return value
