"""The web server: what every request passes, and the one address it listens on."""

import os
import socket
import ssl
import traceback
import uuid
from collections.abc import AsyncIterator

from aiohttp import web

from rehearsal.arm import certificates, errors, principal, tokens
from rehearsal.arm.front import Front, refusal
from rehearsal.arm.home import PRESENCE, Home
from rehearsal.arm.login import Login
from rehearsal.arm.request_log import RequestLog
from rehearsal.arm.state import Store

# Whoever reaches the loopback address of this machine may send what they like.
NO_LIMIT = 0


def listen(preferred: int) -> socket.socket:
    """A socket on the loopback address: at the preferred port, or at a free one if it is taken."""
    for port in (preferred, 0):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((certificates.ADDRESS, port))
            listener.listen(128)
        except OSError:
            listener.close()
            if port == 0:
                raise
        else:
            return listener
    raise AssertionError("unreachable: the second round returns or raises")


def application(home: Home, port: int, time_scale: float, instance: str) -> web.Application:
    audience = f"https://{certificates.HOSTNAME}:{port}"
    who, issuer = principal.load(home), tokens.load(home)
    store, log = Store(home.database), RequestLog(home.request_log)
    login = Login(who, issuer, audience)
    front = Front(store, who, issuer, audience, time_scale)

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == PRESENCE:
            return web.json_response({"instance": instance, "pid": os.getpid()})
        content = await request.read()
        try:
            response = await login.answer(request) or await front.answer(request)
        except Exception:
            # A fault of the rehearsal itself: its log says where, the client that it was one.
            traceback.print_exc()
            response = refusal(errors.ArmError(errors.BROKEN), f"https://{request.host}")
        correlation = request.headers.get("x-ms-correlation-request-id", str(uuid.uuid4()))
        response.headers["x-ms-request-id"] = str(uuid.uuid4())
        response.headers["x-ms-correlation-request-id"] = correlation
        log.write(request, content, response.status)
        return response

    async def close(_: web.Application) -> AsyncIterator[None]:
        yield
        store.close()
        log.close()

    app = web.Application(client_max_size=NO_LIMIT)
    app.router.add_route("*", "/{path:.*}", answer)
    app.cleanup_ctx.append(close)
    return app


async def serve(
    app: web.Application, listener: socket.socket, tls: ssl.SSLContext
) -> web.AppRunner:
    # A client that keeps its connection open must not hold up the end of the server.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.SockSite(runner, listener, ssl_context=tls).start()
    return runner
