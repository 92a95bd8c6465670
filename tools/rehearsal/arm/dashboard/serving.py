"""Serves the page on a port of its own, for reading, to whoever has its token.

Browsers do not know the authority that signs for the ARM server, and nobody should teach them: so
the page comes by plain HTTP, from the loopback address alone.
"""

import asyncio
import contextlib
import hashlib
import json
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from aiohttp import web

from rehearsal.arm.dashboard.document import Knowledge
from rehearsal.certificates import ADDRESS, HOSTNAME
from rehearsal.files import write_whole

FILES: Mapping[str, str] = MappingProxyType(
    {
        "/": "page.html",
        "/style.css": "style.css",
        "/page.js": "page.js",
        "/drawing.js": "drawing.js",
        "/icon.svg": "icon.svg",
    }
)
HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cache-Control": "no-store",
    }
)
TOKEN_LETTERS = 64
# How often open pages look for a change in what the server has in its memory, and after how many
# looks without one a line shows whether the page is still there.
LOOK_SECONDS, QUIET_LOOKS = 0.5, 20
# What browsers say of a request that no page of others has caused.
_OWN_SITES = (None, "none", "same-origin")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Page:
    token: str
    port: int
    known: Knowledge

    def application(self) -> web.Application:
        app = web.Application(middlewares=[web.middleware(self._guarded)])
        app.on_response_prepare.append(_with_headers)
        for path in FILES:
            app.router.add_get(path, self._file, allow_head=False)
        app.router.add_get("/events", self._events, allow_head=False)
        app.router.add_get(r"/requests/{number:\d{1,9}}", self._request, allow_head=False)
        return app

    @property
    def _cookie(self) -> tuple[str, str]:
        """The cookie's name, by the port, as browsers send cookies to all ports, and its value."""
        return f"rehearsal-{self.port}", hashlib.sha256(f"page {self.token}".encode()).hexdigest()

    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.host not in (f"{ADDRESS}:{self.port}", f"{HOSTNAME}:{self.port}"):
            # A name of others that leads here: DNS rebinding.
            return web.Response(status=403, text="This page has another address.\n")
        is_ours = request.headers.get("Origin") in (None, f"http://{request.host}")
        if not is_ours or request.headers.get("Sec-Fetch-Site") not in _OWN_SITES:
            text = "Other pages cannot read this one. Type its address, or paste it.\n"
            return web.Response(status=403, text=text)
        if request.method != "GET":
            return web.Response(status=405, headers={"Allow": "GET"}, text="This is for reading.\n")
        name, value = self._cookie
        if request.path == "/" and _is_same(request.query.get("token", ""), self.token):
            # Without the token, in the history and on screenshots.
            response = web.Response(status=303, headers={"Location": "/"})
            response.set_cookie(name, value, httponly=True, samesite="Strict")
            return response
        if not _is_same(request.cookies.get(name, ""), value):
            text = "`aksgpu dashboard` prints the address that opens this page.\n"
            return web.Response(status=403, text=text)
        return await handler(request)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(Path(__file__).with_name(FILES[request.path]))

    async def _request(self, request: web.Request) -> web.StreamResponse:
        line = self.known.request(int(request.match_info["number"]))
        return web.json_response(line, status=404 if line is None else 200)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Sends the document, and again whenever it has changed."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        sent, quiet = "", 0
        with contextlib.suppress(ConnectionError):
            while True:
                current = json.dumps(self.known.document(), default=str)
                quiet = quiet + 1 if current == sent else 0
                if not quiet:
                    await response.write(f"data: {current}\n\n".encode())
                elif quiet % QUIET_LOOKS == 0:
                    await response.write(b":\n\n")
                sent = current
                await asyncio.sleep(LOOK_SECONDS)
        return response


def _is_same(given: str, expected: str) -> bool:
    return secrets.compare_digest(given.encode(errors="replace"), expected.encode())


async def _with_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


def _token(file: Path) -> str:
    """Returns the token in a file, which is made at the first start."""
    token = file.read_text(errors="replace") if file.exists() else ""
    if len(token) < TOKEN_LETTERS:
        token = secrets.token_hex(TOKEN_LETTERS // 2)
        write_whole(file, token.encode(), 0o600)
    return token


@asynccontextmanager
async def shown(
    known: Knowledge, token: Path, listener: socket.socket | None
) -> AsyncIterator[None]:
    """Serves the page while the context lasts, to whoever has the token in a file."""
    if listener is None:
        yield
        return
    page = Page(_token(token), listener.getsockname()[1], known)
    # Pages that are open must not delay the end.
    runner = web.AppRunner(page.application(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        yield
    finally:
        await runner.cleanup()
