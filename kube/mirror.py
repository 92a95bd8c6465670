"""A copy of a list of objects that follows its changes."""

import asyncio

from kube.client import EXPIRED, ApiError, Client, Json

_PAUSE_SECONDS = 0.2


class Mirror:
    """The objects of one list, kept up to date by a watch; `changed` is set at every change."""

    def __init__(self, client: Client, path: str, changed: asyncio.Event) -> None:
        self._client = client
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
                listed = await self._client.get(self._path)
                self._objects = {item["metadata"]["uid"]: item for item in listed["items"]}
                self.filled.set()
                self._changed.set()
                await self._follow(listed["metadata"]["resourceVersion"])
            except ApiError as error:
                # The list is read anew, also where the server no longer knows its version.
                if not error.is_temporary and error.status != EXPIRED:
                    raise
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _follow(self, version: str) -> None:
        async for event in self._client.watch(self._path, version):
            item = event["object"]
            if event["type"] == "ERROR":
                raise ApiError(item.get("code", 0), item)
            if event["type"] == "BOOKMARK":
                continue
            if event["type"] == "DELETED":
                self._objects.pop(item["metadata"]["uid"], None)
            else:
                self.put(item)
            self._changed.set()


def _version(item: Json) -> int:
    return int(item["metadata"]["resourceVersion"])
