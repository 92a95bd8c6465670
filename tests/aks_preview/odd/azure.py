"""An Azure whose every answer a test can bend; the rehearsal's answers as Azure does.

It has one cluster and its pools, knows features, minds If-Match and If-None-Match, and does what it
is told. For a phase of the exchange `bend` gives the answers that stand in the place of its own. It
runs in the event loop of the test, over TLS.
"""

import asyncio
import atexit
import functools
import itertools
import json
import shutil
import ssl
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp.connector
from aiohttp import web

from rehearsal.certificates import ADDRESS, Authority, subject, write_certificate, write_key

SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
PLACE = f"/subscriptions/{SUBSCRIPTION}"
GROUP = f"{PLACE}/resourceGroups/group"
CLUSTER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/cluster"
POOL = f"{CLUSTER}/agentPools/gpu"
PROVIDER = f"{PLACE}/providers/Microsoft.ContainerService"
FEATURE = f"{PLACE}/providers/Microsoft.Features/providers/Microsoft.ContainerService/features/New"
# The header that names an operation, to be asked for until it ends.
OPERATION = "Azure-AsyncOperation"
MADE = "Creating"

_OTHERS = {
    ("GET", FEATURE): "feature",
    ("POST", f"{FEATURE}/register"): "register",
    ("POST", f"{FEATURE}/unregister"): "unregister",
    ("GET", PROVIDER): "provider",
    ("POST", f"{PROVIDER}/register"): "register provider",
}


@dataclass(frozen=True)
class Answer:
    """An answer as it goes over the wire; in its headers, {url} stands for this Azure."""

    status: int = 200
    # Bytes and texts go as they are; anything else as JSON.
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    # Whether what was asked for is done, whatever the answer says.
    is_done: bool = True
    # Whether the connection breaks before it.
    breaks: bool = False


def refusal(status: int, code: str, message: str = "No.", **headers: str) -> Answer:
    """An error as ARM has it, to a request that did nothing."""
    body = {"error": {"code": code, "message": message}}
    return Answer(status, body, headers, is_done=False)


@dataclass(frozen=True)
class Request:
    """A request as it came."""

    phase: str
    headers: Mapping[str, str]
    body: bytes
    # By the clock of the event loop.
    time: float


class OddAzure:
    """The resources by their paths, and the requests that came. A test is about its subject."""

    def __init__(self, subject: str = POOL) -> None:
        self.url = ""
        self.requests: list[Request] = []
        self._subject = subject
        self._bent: dict[str, Iterator[Answer]] = {}
        self._resources: dict[str, dict[str, Any]] = {}
        self._tags = itertools.count()
        self._looks = "look"
        self._feature = "NotRegistered"
        for path in (PLACE, GROUP, *([CLUSTER] if subject == POOL else [])):
            self.put(path, {"properties": {"provisioningState": "Succeeded"}})

    def bend(self, phase: str, *answers: Answer, for_ever: Answer | None = None) -> None:
        """Gives these answers in a phase, and after them its own, or that one."""
        self._bent[phase] = itertools.chain(answers, itertools.repeat(for_ever) if for_ever else ())

    def put(self, path: str, body: Mapping[str, Any]) -> None:
        """Has a resource, as if it had been there for long."""
        made = {"id": path, "name": path.rpartition("/")[2], **body}
        made["properties"] = {**body.get("properties", {}), "eTag": f"of-change-{next(self._tags)}"}
        self._resources[path.lower()] = made

    def get(self, path: str) -> dict[str, Any] | None:
        return self._resources.get(path.lower())

    def take_away(self, path: str) -> None:
        """Takes a resource away, and what is in it."""
        inner = f"{path}/".lower()
        for there in [there for there in self._resources if f"{there}/".startswith(inner)]:
            del self._resources[there]

    def phases(self) -> list[str]:
        """The phase of each request, but for those that sign in.

        Those of the subject are look, put, poll, get, delete, delete poll and gone: a GET is a look
        before its first PUT or DELETE, then get or gone.
        """
        return [made.phase for made in self.requests if made.phase not in ("metadata", "token")]

    def _phase(self, method: str, path: str) -> str:
        if path in ("/metadata/endpoints", "/tenant/oauth2/v2.0/token"):
            return "metadata" if method == "GET" else "token"
        if path.startswith("/operations/"):
            return path.rpartition("/")[2].replace("-", " ")
        if path.lower() == self._subject.lower():
            return self._looks if method == "GET" else method.lower()
        return _OTHERS.get((method, path), f"{method} {path}")

    async def answer(self, request: web.Request) -> web.StreamResponse:
        phase, body = self._phase(request.method, request.path), await request.read()
        time = asyncio.get_running_loop().time()
        self.requests.append(Request(phase, dict(request.headers), body, time))
        answer = next(self._bent.get(phase, iter(())), None)
        if answer is None and phase == "put" and self._is_against(request.headers):
            answer = refusal(412, "PreconditionFailed", "Its eTag is another one.")
        own = self._own(phase, body, request.path, is_done=answer is None or answer.is_done)
        return await self._sent(request, answer or own)

    def _is_against(self, headers: Mapping[str, str]) -> bool:
        """Whether a PUT is for another state of the subject than that which it has."""
        there = self.get(self._subject)
        if there is None:
            return "If-Match" in headers
        tag = there["properties"]["eTag"]
        return "If-None-Match" in headers or headers.get("If-Match", tag) != tag

    async def _sent(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        body = answer.body if isinstance(answer.body, str | bytes) else json.dumps(answer.body)
        assert request.transport is not None
        if answer.breaks:
            request.transport.abort()
        headers = {name: text.replace("{url}", self.url) for name, text in answer.headers.items()}
        content = body.encode() if isinstance(body, str) else body
        headers.setdefault("Content-Type", "application/json")
        return web.Response(status=answer.status, body=content, headers=headers)

    def _own(self, phase: str, body: bytes, path: str, *, is_done: bool) -> Answer:
        """Does what is asked for, and says so as Azure would."""
        if phase == "metadata":
            login = {"loginEndpoint": f"{self.url}/tenant", "audiences": [self.url]}
            return Answer(body={"resourceManager": self.url, "authentication": login})
        if phase == "token":
            return Answer(
                body={"access_token": "a token", "expires_in": 3600, "token_type": "Bearer"}
            )
        if phase in _OTHERS.values():
            return self._registration(phase, is_done=is_done)
        # An operation ends by itself, whether somebody reads it or the resource.
        if phase in ("put", "delete", "poll", "delete poll"):
            return self._operation(phase, body, is_done=is_done)
        resource = self.get(path)
        if phase == "get" and resource and resource["properties"]["provisioningState"] == MADE:
            resource["properties"]["provisioningState"] = "Succeeded"
        return Answer(body=resource) if resource is not None else self._missing()

    def _operation(self, phase: str, body: bytes, *, is_done: bool) -> Answer:
        there = self.get(self._subject)
        if phase == "put" and is_done:
            self._looks = "get"
            made = {**json.loads(body), "id": self._subject}
            made["properties"] = made.get("properties", {}) | {"provisioningState": MADE}
            self.put(self._subject, made)
            return Answer(200 if there else 201, made, {OPERATION: "{url}/operations/poll"})
        if phase == "delete" and is_done:
            self._looks = "gone"
            self.take_away(self._subject)
            return Answer(202 if there else 204, b"", {OPERATION: "{url}/operations/delete-poll"})
        if there and is_done:
            there["properties"]["provisioningState"] = "Succeeded"
        return Answer(body={"name": "operation", "status": "Succeeded"})

    def _registration(self, phase: str, *, is_done: bool) -> Answer:
        if is_done and phase in ("register", "unregister"):
            self._feature = "Registered" if phase == "register" else "NotRegistered"
        if phase.endswith("provider"):
            body = {"id": PROVIDER, "registrationState": "Registered"}
            return Answer(body={**body, "namespace": "Microsoft.ContainerService"})
        state = {"state": self._feature}
        return Answer(body={"id": FEATURE, "name": FEATURE.rpartition("/")[2], "properties": state})

    def _missing(self) -> Answer:
        """The 404 of what is not there, by the outermost thing that is not."""
        if self.get(GROUP) is None:
            return refusal(404, "ResourceGroupNotFound", "Resource group could not be found.")
        if self.get(CLUSTER) is None:
            return refusal(404, "ResourceNotFound", "The Resource 'managedClusters/cluster' ...")
        body = {"code": "NotFound", "subcode": "GetAgentPool_NotFound", "message": "Could not find"}
        return Answer(404, {**body, "details": None}, is_done=False)


@functools.cache
def certificates() -> Path:
    """A folder of an authority that clients in this process trust, a certificate and its key."""
    authority = Authority.create("odd Azure")
    certificate, key = authority.issue(subject("odd"), hosts=["localhost"])
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    write_certificate(folder / "authority", authority.certificate)
    write_certificate(folder / "certificate", certificate)
    write_key(folder / "key", key)
    # What aiohttp takes where it is told of no other.
    trusted = aiohttp.connector._SSL_CONTEXT_VERIFIED
    assert trusted is not None
    trusted.load_verify_locations(folder / "authority")
    return folder


@asynccontextmanager
async def serving(azure: OddAzure) -> AsyncIterator[OddAzure]:
    """Serves on a free port while the test runs."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates() / "certificate", certificates() / "key")
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", azure.answer)
    runner = web.AppRunner(application, access_log=None, keepalive_timeout=60)
    await runner.setup()
    try:
        site = web.TCPSite(runner, ADDRESS, 0, ssl_context=context)
        await site.start()
        port = runner.addresses[0][1]
        azure.url = f"https://{ADDRESS}:{port}"
        yield azure
    finally:
        await runner.cleanup()


def texts(requests: Iterable[Request]) -> str:
    """All that requests carried, for those who look for something in it."""
    return "\n".join(f"{dict(made.headers)} {made.body.decode()}" for made in requests)
