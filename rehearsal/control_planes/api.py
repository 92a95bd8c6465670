"""Speaking to one cluster's API server."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp

from rehearsal.control_planes.authority import Certificates

Json = dict[str, Any]

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
REQUEST_SECONDS = 15.0
GONE = 404
CONFLICT = 409
EXPIRED = 410


class ApiError(Exception):
    """The API server refuses, or is not there; then the status is 0."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class Api:
    """A client of one API server, with everything allowed."""

    def __init__(self, server: str, files: Certificates) -> None:
        context = ssl.create_default_context(cafile=str(files.authority))
        context.load_cert_chain(files.certificate("nodes"), files.key("nodes"))
        self._session = aiohttp.ClientSession(
            server, connector=aiohttp.TCPConnector(ssl=context, limit=20)
        )

    async def close(self) -> None:
        await self._session.close()

    async def text(self, path: str) -> str:
        return (await self._request("GET", path)).decode()

    async def get(self, path: str) -> Json:
        return _json(await self._request("GET", path))

    async def post(self, path: str, body: Json) -> Json:
        return _json(await self._request("POST", path, body))

    async def patch(self, path: str, body: Json, kind: str = MERGE) -> Json:
        return _json(await self._request("PATCH", path, body, kind))

    async def delete(self, path: str, grace_seconds: int | None = None) -> None:
        body = {"gracePeriodSeconds": grace_seconds} if grace_seconds is not None else {}
        try:
            await self._request("DELETE", path, body)
        except ApiError as error:
            if error.status != GONE:
                raise

    async def watch(self, path: str, version: str) -> AsyncIterator[Json]:
        """The changes of a list since a version, until the connection ends."""
        query = {"watch": "1", "resourceVersion": version, "allowWatchBookmarks": "true"}
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=REQUEST_SECONDS)
        try:
            async with self._session.get(path, params=query, timeout=timeout) as answer:
                if answer.status != 200:
                    raise ApiError(answer.status, await answer.text())
                # Not by aiohttp's own lines: an object may be longer than those can be.
                pending = b""
                async for piece in answer.content.iter_any():
                    *lines, pending = (pending + piece).split(b"\n")
                    for line in filter(None, lines):
                        yield json.loads(line)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ApiError(0, repr(error)) from error

    async def _request(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        data = None if body is None else json.dumps(body)
        headers: Mapping[str, str] = {"Content-Type": content_type} if body is not None else {}
        timeout = aiohttp.ClientTimeout(total=REQUEST_SECONDS)
        try:
            async with self._session.request(
                method, path, data=data, headers=headers, timeout=timeout
            ) as answer:
                content = await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ApiError(0, repr(error)) from error
        if answer.status >= 400:
            raise ApiError(answer.status, content.decode(errors="replace"))
        return content


class Mirror:
    """The objects of one list, kept up to date by a watch; `changed` is set at every change."""

    def __init__(self, api: Api, path: str, changed: asyncio.Event) -> None:
        self._api = api
        self._path = path
        self._changed = changed
        self._objects: dict[str, Json] = {}
        self.filled = asyncio.Event()

    @property
    def objects(self) -> list[Json]:
        return list(self._objects.values())

    def put(self, item: Json) -> None:
        """Takes over what the API server answered to a write, ahead of the watch."""
        key = item["metadata"]["uid"]
        known = self._objects.get(key)
        if known is None or _version(known) < _version(item):
            self._objects[key] = item

    async def run(self) -> None:
        while True:
            try:
                listed = await self._api.get(self._path)
                self._objects = {item["metadata"]["uid"]: item for item in listed["items"]}
                self.filled.set()
                self._changed.set()
                await self._follow(listed["metadata"]["resourceVersion"])
            except ApiError as error:
                # An API server that is being started again, or a version it no longer knows.
                if error.status not in (0, EXPIRED):
                    raise
                await asyncio.sleep(0.2)

    async def _follow(self, version: str) -> None:
        async for event in self._api.watch(self._path, version):
            item = event["object"]
            if event["type"] == "ERROR":
                raise ApiError(item.get("code", 0), item.get("message", ""))
            if event["type"] == "BOOKMARK":
                continue
            if event["type"] == "DELETED":
                self._objects.pop(item["metadata"]["uid"], None)
            else:
                self.put(item)
            self._changed.set()


def _version(item: Json) -> int:
    return int(item["metadata"]["resourceVersion"])


def _json(content: bytes) -> Json:
    parsed: Json = json.loads(content)
    return parsed
