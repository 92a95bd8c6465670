"""Azure's resource manager, asked with the credentials of this shell. Exchanges are recorded."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from azure.core.rest import AsyncHttpResponse, HttpRequest

from aks_preview.configuration import PACKAGE, SETTINGS
from aksgpu.preflight.access import Access, Clients, connected
from aksgpu.preflight.pages import pages
from aksgpu.running import ProgramError
from provider_kit.configuration import Configuration

API = "2026-08-01"
GROUPS_API = "2025-04-01"
# Longer than AKS has ever taken for one operation on a cluster of this size.
OPERATION_SECONDS = 45 * 60
_POLL_SECONDS, _REHEARSED_POLL_SECONDS = 10.0, 0.2
_REFUSED, _GONE = 400, 404
Json = Any


@dataclass(frozen=True)
class Exchange:
    """A request for a cluster or a pool, and the answer."""

    # What it was about: "cluster" or "pool".
    of: str
    method: str
    api: str
    said: Json
    status: int
    answer: Json


@dataclass
class Arm:
    clients: Clients
    _run: Callable[..., Any]
    is_rehearsal: bool
    # Between two looks at an operation; Azure asks for ten seconds and more.
    poll_seconds: float
    exchanges: list[Exchange] = field(default_factory=list)

    def call(
        self, method: str, path: str, said: Json = None, *, api: str = API
    ) -> tuple[int, Json]:
        """The status and the JSON of an answer; `path` begins after the subscription."""
        url = f"/subscriptions/{self.clients.subscription}{path}"
        request = HttpRequest(method, url, params={"api-version": api}, json=said)
        response = self._run(self._sent(request))
        answer = json.loads(response.text() or "null")
        of = {"managedClusters": "cluster", "agentPools": "pool"}.get(path.split("/")[-2], "")
        if of:
            self.exchanges.append(Exchange(of, method, api, said, response.status_code, answer))
        return response.status_code, answer

    async def _sent(self, request: HttpRequest) -> AsyncHttpResponse:
        # Any client of the SDK signs in, and repeats what is worth it.
        return await self.clients.compute.send_request(request)

    def settled(self, path: str) -> Json:
        """A resource once AKS has ended its operation."""

        def has_ended() -> bool:
            status, answer = self.call("GET", path)
            state = (answer or {}).get("properties", {}).get("provisioningState")
            return status == _GONE or state in ("Succeeded", "Failed", "Canceled")

        self.until(has_ended, "AKS did not end its operation")
        return self.exchanges[-1].answer

    def until(self, is_so: Callable[[], bool], otherwise: str) -> None:
        """Looks again and again, and keeps the exchanges of the last look.

        Raises ProgramError if that takes longer than any operation.
        """
        deadline = time.monotonic() + OPERATION_SECONDS
        kept = len(self.exchanges)
        while not is_so():
            del self.exchanges[kept:]
            if time.monotonic() > deadline:
                raise ProgramError(f"{otherwise} in {OPERATION_SECONDS // 60} minutes")
            time.sleep(self.poll_seconds)

    def group(self, name: str) -> Json:
        """A resource group; None if there is none."""
        status, answer = self.call("GET", f"/resourcegroups/{name}", api=GROUPS_API)
        return None if status == _GONE else answer

    def groups_with(self, tag: str) -> list[Json]:
        """The resource groups that have a tag."""
        url = f"/subscriptions/{self.clients.subscription}/resourcegroups"
        request = HttpRequest("GET", url, params={"api-version": GROUPS_API})

        async def listed() -> list[Json]:
            found = pages(self.clients.compute, request, "nextLink")
            return [group async for page in found for group in page["value"]]

        return [group for group in self._run(listed()) if tag in (group.get("tags") or {})]

    def remove_group(self, name: str) -> None:
        """Deletes a resource group with all that is in it, and waits until it is gone."""
        status, answer = self.call("DELETE", f"/resourcegroups/{name}", api=GROUPS_API)
        if status >= _REFUSED and status != _GONE:
            raise ProgramError(f"Azure does not delete the resource group {name}: {answer}")
        self.until(lambda: self.group(name) is None, f"Azure did not delete the group {name}")


def access() -> Access:
    """The Azure of this shell: its variables, or who is signed in to the Azure CLI."""
    return Access(Configuration({}, PACKAGE, SETTINGS))


@contextmanager
def signed_in() -> Iterator[Arm]:
    """Raises ProviderError or AzureError if Azure refuses the credentials."""
    here = access()
    poll_seconds = _REHEARSED_POLL_SECONDS if here.is_rehearsal else _POLL_SECONDS
    with asyncio.Runner() as runner:
        opened = AsyncExitStack()
        try:
            clients = runner.run(opened.enter_async_context(connected(here)))
            yield Arm(clients, runner.run, here.is_rehearsal, poll_seconds)
        finally:
            runner.run(opened.aclose())
