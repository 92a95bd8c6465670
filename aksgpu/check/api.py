"""The API server of the cluster that is checked."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from kubernetes.aio.client import ApiClient

from aksgpu.check.causes import Cause, CheckError
from aksgpu.check.kubeconfig import Kubeconfig, connect

Json = dict[str, Any]

_SECONDS_FOR_A_REQUEST = 20
_TRIES = 3
_SECONDS_BETWEEN_TRIES = 1.0
_PAGE = 500
_REFUSALS = (401, 403)


class ApiError(Exception):
    """A refusal of one request, in the API server's own words."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Api:
    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def list(self, path: str, **query: str) -> list[Json]:
        """All objects of a collection, page by page: clusters can be large."""
        items: list[Json] = []
        query["limit"] = str(_PAGE)
        while True:
            page = await self.get(path, **query)
            items += page["items"]
            query["continue"] = page["metadata"].get("continue", "")
            if not query["continue"]:
                return items

    async def get(self, path: str, **query: str) -> Json:
        found: Json = json.loads(await self._tried("GET", path, query))
        return found

    async def text(self, path: str, **query: str) -> str:
        return (await self._tried("GET", path, query)).decode("utf-8", "replace")

    async def post(self, path: str, body: Json) -> None:
        await self._request("POST", path, {}, body)

    async def delete(self, path: str, **query: str) -> None:
        await self._tried("DELETE", path, query)

    async def _tried(self, method: str, path: str, query: Mapping[str, str]) -> bytes:
        """Tried again where the server does not answer: it may be on the move."""
        for _ in range(_TRIES - 1):
            try:
                return await self._request(method, path, query)
            except CheckError as error:
                if error.finding.cause is not Cause.CLUSTER_UNREACHABLE:
                    raise
                await asyncio.sleep(_SECONDS_BETWEEN_TRIES)
        return await self._request(method, path, query)

    async def _request(
        self, method: str, path: str, query: Mapping[str, str], body: Json | None = None
    ) -> bytes:
        serialized = await self._client.param_serialize(
            method,
            path,
            query_params=list(query.items()),
            header_params={"Accept": "*/*", "Content-Type": "application/json"},
            body=body,
            auth_settings=["BearerToken"],
        )
        try:
            answer = await self._client.call_api(
                *serialized, _request_timeout=_SECONDS_FOR_A_REQUEST
            )
            content: bytes = await answer.read()  # type: ignore[no-untyped-call]
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise CheckError(
                Cause.CLUSTER_UNREACHABLE,
                f"the API server does not answer: {_reason(error)}",
                "is the cluster started, and may this address reach it (authorizedIpRanges, "
                "private)?",
            ) from None
        if answer.status in _REFUSALS:
            raise CheckError(
                Cause.CREDENTIALS_REFUSED,
                f"the API server refuses {method} {path}: {_message(content)}",
                "ask for new credentials (pulumi refresh, az aks get-credentials), or for the "
                "rights to do so",
            )
        if not 200 <= answer.status < 300:
            raise ApiError(answer.status, _message(content))
        return content


@asynccontextmanager
async def opened(config: Kubeconfig) -> AsyncIterator[Api]:
    """The API server that a kubeconfig names; whether it answers shows at the first request."""
    client = await connect(config)
    try:
        yield Api(client)
    finally:
        await client.close()  # type: ignore[no-untyped-call]


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"nothing came within {_SECONDS_FOR_A_REQUEST} s"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"its certificate is not the kubeconfig's cluster's ({error.certificate_error})"
    if isinstance(error, aiohttp.ClientConnectorError):
        number = error.os_error.errno
        words = os.strerror(number) if number and number > 0 else str(error.os_error)
        return f"{error.host}:{error.port}: {words}"
    return str(error) or type(error).__name__


def _message(content: bytes) -> str:
    try:
        message: str = json.loads(content)["message"]
    except (ValueError, KeyError, TypeError):
        message = content.decode("utf-8", "replace").strip()
    return message
