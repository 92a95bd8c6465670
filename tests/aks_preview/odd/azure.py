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
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp.connector
from aiohttp import web

from rehearsal.certificates import ADDRESS, Authority, subject, write_certificate, write_key

SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/group"
CLUSTER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/cluster"
POOL = f"{CLUSTER}/agentPools/gpu"
PROVIDER = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.ContainerService"
FEATURE = PROVIDER.replace("/Mic", "/Microsoft.Features/providers/Mic") + "/features/New"
# The header that names an operation, to be asked for until it ends.
OPERATION = "Azure-AsyncOperation"
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
        self.feature = "NotRegistered"
        self._subject = subject
        self._bent: dict[str, Iterator[Answer]] = {}
        self._resources: dict[str, dict[str, Any]] = {}
        self._tags = itertools.count()
        self._looks = "look"
        for path in (GROUP, *([CLUSTER] if subject == POOL else [])):
            self.put(path)

    def bend(self, phase: str, *answers: Answer, for_ever: Answer | None = None) -> None:
        """Gives these answers in a phase, and after them its own, or that one."""
        self._bent[phase] = itertools.chain(answers, itertools.repeat(for_ever) if for_ever else ())

    def put(self, path: str = POOL, state: str = "Succeeded", **properties: Any) -> None:
        """Has a resource, as if it had been there for long."""
        tag = {"provisioningState": state, "eTag": f"of-change-{next(self._tags)}"}
        made = {"id": path, "name": path.rpartition("/")[2], "properties": properties | tag}
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

    def puts(self) -> list[tuple[Mapping[str, str], dict[str, Any]]]:
        """The headers, and the properties, of each PUT."""
        puts = [made for made in self.requests if made.phase == "put"]
        return [(made.headers, json.loads(made.body)["properties"]) for made in puts]

    def phase(self, method: str, path: str) -> str:
        if path in ("/metadata/endpoints", "/tenant/oauth2/v2.0/token"):
            return "metadata" if method == "GET" else "token"
        if path.startswith("/operations/"):
            return path.rpartition("/")[2].replace("-", " ")
        if path.lower() == self._subject.lower():
            return self._looks if method == "GET" else method.lower()
        return _OTHERS.get((method, path), f"{method} {path}")

    async def answer(self, request: web.Request) -> web.StreamResponse:
        phase, body = self.phase(request.method, request.path), await request.read()
        time = asyncio.get_running_loop().time()
        self.requests.append(Request(phase, dict(request.headers), body, time))
        answer = next(self._bent.get(phase, iter(())), None)
        if answer is None and phase == "put" and self._is_against(request.headers):
            answer = refusal(412, "PreconditionFailed", "Its eTag is another one.")
        own = self._own(phase, body, request.path, is_done=answer is None or answer.is_done)
        answer, transport = answer or own, request.transport
        if answer.breaks and transport is not None:
            transport.abort()
        headers = {name: text.replace("{url}", self.url) for name, text in answer.headers.items()}
        text = answer.body if isinstance(answer.body, str | bytes) else json.dumps(answer.body)
        content = text.encode() if isinstance(text, str) else text
        headers.setdefault("Content-Type", "application/json")
        return web.Response(status=answer.status, body=content, headers=headers)

    def _is_against(self, headers: Mapping[str, str]) -> bool:
        """Whether a PUT is for another state of the subject than that which it has."""
        there = self.get(self._subject)
        if there is None:
            return "If-Match" in headers
        tag = there["properties"]["eTag"]
        return "If-None-Match" in headers or headers.get("If-Match", f'"{tag}"') != f'"{tag}"'

    def _own(self, phase: str, body: bytes, path: str, *, is_done: bool) -> Answer:
        """Does what is asked for, and says so as Azure would."""
        if phase == "metadata":
            login = {"loginEndpoint": f"{self.url}/tenant", "audiences": [self.url]}
            return Answer(body={"resourceManager": self.url, "authentication": login})
        if phase == "token":
            token = {"access_token": "a token", "expires_in": 3600, "token_type": "Bearer"}
            return Answer(body=token)
        if is_done and phase in ("register", "unregister"):
            self.feature = "Registered" if phase == "register" else "NotRegistered"
        if phase in _OTHERS.values():
            state = {"registrationState": "Registered", "properties": {"state": self.feature}}
            return Answer(body={"id": FEATURE, **state})
        if phase in ("put", "delete", "poll", "delete poll"):
            return self._operation(phase, body, is_done=is_done)
        resource = self.get(path)
        if resource is None:
            return self._missing()
        # An operation ends by itself, whether somebody reads it or the resource.
        if phase == "get" and resource["properties"]["provisioningState"] == "Creating":
            resource["properties"]["provisioningState"] = "Succeeded"
        return Answer(body=resource)

    def _operation(self, phase: str, body: bytes, *, is_done: bool) -> Answer:
        there = self.get(self._subject)
        if phase == "put" and is_done:
            self._looks = "get"
            self.put(self._subject, "Creating", **json.loads(body).get("properties", {}))
            made = {**json.loads(body), **(self.get(self._subject) or {})}
            self._resources[self._subject.lower()] = made
            return Answer(200 if there else 201, made, {OPERATION: "{url}/operations/poll"})
        if phase == "delete" and is_done:
            self._looks = "gone"
            self.take_away(self._subject)
            return Answer(202 if there else 204, b"", {OPERATION: "{url}/operations/delete-poll"})
        if there and is_done:
            there["properties"]["provisioningState"] = "Succeeded"
        return Answer(body={"name": "operation", "status": "Succeeded"})

    def _missing(self) -> Answer:
        """The 404 of what is not there, by the outermost thing that is not."""
        if self.get(GROUP) is None:
            return refusal(404, "ResourceGroupNotFound")
        if self.get(CLUSTER) is None:
            return refusal(404, "ResourceNotFound")
        return Answer(404, {"code": "NotFound", "subcode": "GetAgentPool_NotFound", "message": "-"})


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
        await web.TCPSite(runner, ADDRESS, 0, ssl_context=context).start()
        azure.url = f"https://{ADDRESS}:{runner.addresses[0][1]}"
        yield azure
    finally:
        await runner.cleanup()
