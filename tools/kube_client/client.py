"""A client of one API server: the official client's connection, with objects as plain JSON.

The official dynamic client is not used. It keeps what it discovers in a file in /tmp, by the
server's address, and clusters on loopback take each other's addresses.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import aiohttp

from aks_catalogue.shapes import mapping

if TYPE_CHECKING:
    from kubernetes.aio.client import ApiClient

Json = dict[str, Any]

JSON = "application/json"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"

NO_ANSWER = 0
OK = 200
UNAUTHORIZED = 401
FORBIDDEN = 403
NOT_FOUND = 404
REQUEST_TIMEOUT = 408
CONFLICT = 409
EXPIRED = 410
TOO_MANY_REQUESTS = 429

# Temporary: the server is starting, busy, or waiting for etcd.
_TEMPORARY = frozenset({NO_ANSWER, TOO_MANY_REQUESTS, 503, 504})

_SECONDS = 30.0
_LIMIT = aiohttp.ClientTimeout(total=_SECONDS)
_NO_LIMIT = aiohttp.ClientTimeout(total=None, sock_connect=_SECONDS)
_PAGE = "500"
# Methods that can be sent twice without doing anything twice.
_REPEATABLE = frozenset({"GET", "DELETE"})
# How long to wait before a request is sent again. The server may be restarting.
_PAUSES = (1.0, 1.0)


class ApiError(Exception):
    """An error, with the message of the API server."""

    def __init__(self, status: int, answer: Json) -> None:
        super().__init__(answer.get("message") or f"the API server answered {status}")
        self.status = status
        self.reason: str = answer.get("reason") or ""
        self.details: Mapping[str, Any] = answer.get("details") or {}

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.status in _TEMPORARY


class NoAnswerError(ApiError):
    """The API server does not answer."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(
            NO_ANSWER, {"message": f"the API server does not answer: {_reason(error)}"}
        )


class Client:
    """A client of one API server."""

    def __init__(self, connection: "ApiClient", pauses: Sequence[float] = _PAUSES) -> None:
        self._connection = connection
        self._pauses = pauses

    async def close(self) -> None:
        await self._connection.close()  # type: ignore[no-untyped-call]

    async def get(self, path: str, **query: str) -> Json:
        return _json(await self.request("GET", path, query))

    async def text(self, path: str, **query: str) -> str:
        return (await self.request("GET", path, query)).decode("utf-8", "replace")

    async def list(self, path: str, **query: str) -> list[Json]:
        """Returns all objects of a collection, read page by page: clusters can be large."""
        items: list[Json] = []
        query["limit"] = _PAGE
        while True:
            page = await self.get(path, **query)
            # Go writes an empty list as null.
            found = page.get("items", False)
            if not isinstance(found, list | None):
                raise ApiError(OK, {"message": "the response is not a list"})
            items += [item for item in found or () if isinstance(item, dict)]
            query["continue"] = str(mapping(page.get("metadata")).get("continue") or "")
            if not query["continue"]:
                return items

    async def post(self, path: str, body: Json, **query: str) -> Json:
        return _json(await self.request("POST", path, query, body))

    async def patch(self, path: str, body: Json, kind: str = MERGE, **query: str) -> Json:
        return _json(await self.request("PATCH", path, query, body, kind))

    async def delete(self, path: str, **query: str) -> None:
        """Deletes an object or a collection. An object that is gone already is no error."""
        try:
            await self.request("DELETE", path, query)
        except ApiError as error:
            if error.status != NOT_FOUND:
                raise

    async def watch(self, path: str, version: str) -> AsyncIterator[Json]:
        """Yields the changes of a list since a version, until the connection ends."""
        query = {"watch": "1", "resourceVersion": version, "allowWatchBookmarks": "true"}
        with _connection_errors_as_api_errors():
            answer = await self._send("GET", path, query, limit=_NO_LIMIT)
            try:
                async for line in answer.content:
                    yield json.loads(line)
            finally:
                answer.close()

    async def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Json | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Sends a request and returns the content of the answer.

        A read or a deletion that fails for the moment is sent again.
        """
        for seconds in self._pauses if method in _REPEATABLE else ():
            try:
                return await self._content(method, path, query)
            except ApiError as error:
                if not error.is_temporary:
                    raise
            await asyncio.sleep(seconds)
        return await self._content(method, path, query, body, content_type)

    async def _content(self, method: str, path: str, *more: Any) -> bytes:
        with _connection_errors_as_api_errors():
            return await (await self._send(method, path, *more)).read()

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Json | None = None,
        content_type: str = JSON,
        limit: aiohttp.ClientTimeout = _LIMIT,
    ) -> aiohttp.ClientResponse:
        serialized = await self._connection.param_serialize(
            method,
            path,
            query_params=list(query.items()),
            header_params={"Accept": "*/*", "Content-Type": content_type},
            body=body,
            auth_settings=["BearerToken"],
        )
        called = await self._connection.call_api(*serialized, _request_timeout=limit)
        answer: aiohttp.ClientResponse = called.response
        if not answer.ok:
            raise ApiError(answer.status, _status(await answer.read()))
        return answer


@contextmanager
def _connection_errors_as_api_errors() -> Iterator[None]:
    try:
        yield
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise NoAnswerError(error) from error


def _json(content: bytes) -> Json:
    try:
        parsed = json.loads(content)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        # A proxy's page, for example.
        raise ApiError(OK, {"message": "the response is not a JSON object"})
    return parsed


def _status(content: bytes) -> Json:
    """Returns the Status in a refusal; proxies and health checks answer with plain text."""
    try:
        parsed = json.loads(content)
    except ValueError:
        return {"message": content.decode("utf-8", "replace").strip()}
    return parsed if isinstance(parsed, dict) else {}


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no response within {_SECONDS:.0f} s"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"its certificate does not match the kubeconfig ({error.certificate_error})"
    if isinstance(error, aiohttp.ClientConnectorError):
        number = error.os_error.errno
        words = os.strerror(number) if number and number > 0 else str(error.os_error)
        return f"{error.host}:{error.port}: {words.lower()}"
    return str(error) or type(error).__name__
