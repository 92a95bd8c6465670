"""A copy of a list of objects that follows its changes."""

import asyncio

from kube_client.backoff import Backoff
from kube_client.client import EXPIRED, REQUEST_TIMEOUT, TOO_MANY_REQUESTS, ApiError, Client, Json

# How long to wait before the list is read anew: twice as long each time that brings nothing.
_PAUSE_SECONDS, _LONGEST_PAUSE = 0.1, 3.2
# Client errors that are worth another try.
_PASSING = (REQUEST_TIMEOUT, EXPIRED, TOO_MANY_REQUESTS)


class Mirror:
    """The objects of one list, kept up to date by a watch; `changed` is set at every change."""

    def __init__(self, client: Client, path: str, changed: asyncio.Event) -> None:
        self._client = client
        self._path = path
        self._changed = changed
        self._objects: dict[str, Json] = {}
        # The resource version that the watch has reached.
        self._version = 0
        self._backoff = Backoff(_PAUSE_SECONDS, _LONGEST_PAUSE)
        self.filled = asyncio.Event()

    @property
    def objects(self) -> list[Json]:
        return list(self._objects.values())

    def put(self, item: Json) -> None:
        """Takes over what the API server answered to a write, ahead of the watch."""
        key, version = item["metadata"]["uid"], _version(item)
        known = self._objects.get(key)
        # What a later list or the watch lacks was deleted.
        if version > (self._version if known is None else _version(known)):
            self._objects[key] = item

    async def run(self) -> None:
        """Follows the list until it is cancelled, whatever becomes of the API server meanwhile.

        ApiError is raised for what can never go right.
        """
        while True:
            try:
                await self._fill()
                await self._follow()
            except ApiError as error:
                if 400 <= error.status < 500 and error.status not in _PASSING:
                    raise
            except (AttributeError, LookupError, TypeError, ValueError):
                # An answer that broke off, or is none of an API server's.
                pass
            await asyncio.sleep(self._backoff.fail())

    async def _fill(self) -> None:
        listed = await self._client.get(self._path)
        objects = {item["metadata"]["uid"]: item for item in listed["items"]}
        self._version = _version(listed)
        self._objects = objects
        self.filled.set()
        self._changed.set()

    async def _follow(self) -> None:
        async for event in self._client.watch(self._path, str(self._version)):
            item = event["object"]
            if event["type"] == "ERROR":
                raise ApiError(item.get("code", 0), item)
            if event["type"] == "DELETED":
                self._objects.pop(item["metadata"]["uid"], None)
            elif event["type"] != "BOOKMARK":
                self.put(item)
            self._version = _version(item)
            self._backoff.reset()
            if event["type"] != "BOOKMARK":
                self._changed.set()


def _version(item: Json) -> int:
    return int(item["metadata"]["resourceVersion"])
