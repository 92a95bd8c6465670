"""An Azure in this process, which writes down each request before it answers."""

import asyncio
import json
import re
import ssl
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from unittest import mock

from aiohttp import web

from rehearsal.certificates import ADDRESS
from rehearsal.control_planes.desired_state import Era
from tests.aks_preview.odd.azure import certificates
from tests.rehearsal.arm.in_process import SUBSCRIPTION, Arm
from tests.rehearsal.conftest import API_VERSION, Reply, new_cluster

Result = TypeVar("Result")

# What the libraries of clients add: it has their versions in it, or is another one each time.
_OF_LIBRARIES = frozenset(
    {
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
        "x-ms-client-request-id",
    }
)
# Another one each time.
_ETAG = "If-Match"
_HOST = re.compile(r"https://[^/]+(?=/subscriptions/)")
# Who waits asks for operations, and how often says nothing.
_OPERATION = re.compile(r"/(operations|operationresults)/", re.IGNORECASE)
_KUBECONFIG = {"kubeconfigs": [{"name": "user", "value": "YQ=="}]}


@dataclass(frozen=True)
class Request:
    """A request as Azure gets it."""

    method: str
    # With the query.
    path: str
    headers: dict[str, str]
    body: Any

    def as_document(self) -> dict[str, Any]:
        more = {"headers": self.headers, "body": self.body}
        return {self.method: self.path} | {name: part for name, part in more.items() if part}

    def repeats(self, before: "Request") -> bool:
        """Whether it reads the same again: in answers, Azure writes ids in another case."""
        is_read = self.method == before.method == "GET"
        return is_read and self.path.lower() == before.path.lower()


class RecordingAzure:
    """One cloud, in an event loop of its own. The providers run there, too."""

    def __init__(self, era: Era) -> None:
        self._loop = asyncio.new_event_loop()
        self._requests: list[Request] = []
        # The paths of the pools that were made or changed.
        self._pools: set[str] = set()
        self._url = ""
        self._era = era

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serves meanwhile. Nobody waits: an operation has ended when somebody asks for it."""
        thread = threading.Thread(target=self._loop.run_forever)
        thread.start()
        runner, sleep = self.run(self._start()), asyncio.sleep
        try:
            with mock.patch.object(asyncio, "sleep", lambda _, result=None: sleep(0, result)):
                yield
        finally:
            self.run(runner.cleanup())
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
            self._loop.close()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs work in the event loop of this Azure, from another thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @property
    def environment(self) -> dict[str, str]:
        """How providers find this Azure, and sign in there."""
        return {
            "ARM_METADATA_HOSTNAME": self._url.removeprefix("https://"),
            "ARM_SUBSCRIPTION_ID": SUBSCRIPTION,
            "ARM_TENANT_ID": "tenant",
            "ARM_CLIENT_ID": "client",
            "ARM_CLIENT_SECRET": "a client's secret",
        }

    def taken(self) -> list[Request]:
        """The requests since this was last asked."""
        taken, self._requests = self._requests, []
        return taken

    def make_cluster(self, group: str, cluster: str) -> None:
        """Makes a cluster, as if it had been there for long."""
        path = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}"
        self._put(path, {"location": "eastus"})
        clusters = f"{path}/providers/Microsoft.ContainerService/managedClusters"
        self._put(f"{clusters}/{cluster}", new_cluster())

    def scale_pools(self) -> None:
        """Adds a node to each pool that can have one more, as the autoscaler does."""
        for path in sorted(self._pools):
            properties = self._call("GET", path).body["properties"]
            if properties["count"] < properties.get("maxCount", 0):
                self._put(path, {"properties": properties | {"count": properties["count"] + 1}})

    def _put(self, path: str, body: Any) -> None:
        answer = self._call("PUT", path, body)
        assert answer.status in (200, 201), answer

    def _call(self, method: str, path: str, body: Any = None) -> Reply:
        async def call() -> Reply:
            return self._arm.call(method, path, body, API_VERSION)

        return self.run(call())

    async def _start(self) -> web.AppRunner:
        # Its database is for one thread.
        self._arm = Arm(self._era)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificates() / "certificate", certificates() / "key")
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, ADDRESS, 0, ssl_context=context).start()
        self._url = f"https://{ADDRESS}:{runner.addresses[0][1]}"
        return runner

    async def _answer(self, request: web.Request) -> web.Response:
        content = await request.read()
        reply = self._of_the_sign_in(request.path)
        if reply is None:
            body = json.loads(content) if content else None
            self._note(request, body)
            version = request.query.get("api-version", "")
            reply = self._arm.call(request.method, request.path, body, version)
        if request.path.endswith("/listClusterUserCredential"):
            # It has no control plane.
            reply = Reply(200, {}, _KUBECONFIG)
        return web.Response(
            status=reply.status,
            headers={name: _HOST.sub(self._url, value) for name, value in reply.headers.items()},
            text="" if reply.body is None else json.dumps(reply.body),
            content_type="application/json",
        )

    def _of_the_sign_in(self, path: str) -> Reply | None:
        if path == "/metadata/endpoints":
            login = {"loginEndpoint": f"{self._url}/tenant", "audiences": [self._url]}
            return Reply(200, {}, {"resourceManager": self._url, "authentication": login})
        if path.endswith("/token"):
            token = {"access_token": "a token", "expires_in": 3600, "token_type": "Bearer"}
            return Reply(200, {}, token)
        return None

    def _note(self, request: web.Request, body: Any) -> None:
        if _OPERATION.search(request.path):
            return
        own = {
            str(name): "{etag}" if name == _ETAG else value
            for name, value in request.headers.items()
            if name.lower() not in _OF_LIBRARIES
        }
        made = Request(request.method, request.path_qs, own, body)
        if not any(map(made.repeats, self._requests[-1:])):
            self._requests.append(made)
        if made.method == "PUT" and "/agentPools/" in request.path:
            self._pools.add(request.path)
