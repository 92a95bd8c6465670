"""Serves the page on a port of its own, for reading, to whoever has its token.

Browsers do not know the authority that signs for the ARM server, and nobody should teach them: so
the page comes by plain HTTP, from the loopback address alone.
"""

import asyncio
import contextlib
import hashlib
import json
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from rehearsal.arm.dashboard.document import Knowledge
from rehearsal.certificates import ADDRESS, HOSTNAME
from rehearsal.control_planes.cluster import pause
from rehearsal.files import write_whole

FILES = ("style.css", "page.js", "drawing.js", "icon.svg")
POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
# How often an open page looks at what the server has in its memory.
LOOK_SECONDS = 0.5
# What browsers say of a request that no page of others has caused.
_OWN_SITES = (None, "none", "same-origin")
_ENDS = web.AppKey("ends", asyncio.Event)


@dataclass(frozen=True)
class Page:
    token: str
    port: int | None
    known: Knowledge

    def application(self) -> web.Application:
        @web.middleware
        async def guarded(
            request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
        ) -> web.StreamResponse:
            return self._instead(request) or await handler(request)

        app = web.Application(middlewares=[guarded])
        app.on_response_prepare.append(_with_headers)
        app[_ENDS] = asyncio.Event()

        async def end(_: web.Application) -> None:
            app[_ENDS].set()

        # An open page must not delay the shutdown.
        app.on_shutdown.append(end)
        app.router.add_get("/", self._file, allow_head=False)
        app.router.add_get(f"/{{file:{'|'.join(FILES)}}}", self._file, allow_head=False)
        app.router.add_get("/events", self._events, allow_head=False)
        app.router.add_get(r"/requests/{number:\d{1,15}}", self._request, allow_head=False)
        return app

    def _instead(self, request: web.Request) -> web.Response | None:
        """Returns a refusal, or the cookie for the token; None for whoever has the cookie."""
        if request.host not in (f"{ADDRESS}:{self.port}", f"{HOSTNAME}:{self.port}"):
            # A name of others that leads here: DNS rebinding.
            return web.Response(status=403, text="This page has another address.\n")
        is_ours = request.headers.get("Origin") in (None, f"http://{request.host}")
        if not is_ours or request.headers.get("Sec-Fetch-Site") not in _OWN_SITES:
            text = "Pages of others cannot read this. Paste its address into the browser.\n"
            return web.Response(status=403, text=text)
        if request.method != "GET":
            return web.Response(status=405, headers={"Allow": "GET"}, text="This is for reading.\n")
        # By the port: browsers send a cookie to all ports of a host.
        name = f"rehearsal-{self.port}"
        value = hashlib.sha256(f"page {self.port} {self.token}".encode()).hexdigest()
        if request.path == "/" and _is_same(request.query.get("token", ""), self.token):
            # To the address without the token, which the browser's history and pictures keep.
            response = web.Response(status=303, headers={"Location": "/"})
            response.set_cookie(name, value, httponly=True, samesite="Strict")
            return response
        if not _is_same(request.cookies.get(name, ""), value):
            text = "`aksgpu dashboard` prints the address that opens this page.\n"
            return web.Response(status=403, text=text)
        return None

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info.get("file", "page.html")
        return web.FileResponse(Path(__file__).with_name(name))

    async def _request(self, request: web.Request) -> web.StreamResponse:
        number = int(request.match_info["number"])
        line = next((line for line in self.known.log.recent if line["number"] == number), None)
        return web.json_response(line, status=404 if line is None else 200)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Sends the document, and again whenever it has changed."""
        response, sent = web.StreamResponse(headers={"Content-Type": "text/event-stream"}), ""
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while not request.app[_ENDS].is_set():
                current = json.dumps(self.known.document())
                # A line without content shows whether the page is still there.
                await response.write(f"data: {current}\n\n".encode() if current != sent else b":\n")
                sent = current
                await pause(request.app[_ENDS], LOOK_SECONDS)
        return response


def _is_same(given: str, expected: str) -> bool:
    return secrets.compare_digest(given.encode(errors="replace"), expected.encode())


async def _with_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


def load_token(file: Path) -> str:
    """Returns the token in a file, which is made at the first start."""
    token = file.read_text(errors="replace") if file.exists() else ""
    if not re.fullmatch("[0-9a-f]{64}", token):
        token = secrets.token_hex(32)
        write_whole(file, token.encode(), 0o600)
    return token
