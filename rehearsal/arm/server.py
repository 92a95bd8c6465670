"""The web server: what every request passes, and the one address it listens on."""

import asyncio
import os
import socket
import ssl
import traceback
import uuid
from collections.abc import AsyncIterator

from aiohttp import web

from rehearsal.arm import certificates, errors, operations, principal, retail, tokens
from rehearsal.arm.aks.works import Works
from rehearsal.arm.compute.offer_script import OfferScript
from rehearsal.arm.compute.offers import Offers
from rehearsal.arm.faults import FaultScript
from rehearsal.arm.front import Front, refusal
from rehearsal.arm.home import PRESENCE, Home
from rehearsal.arm.login import Login
from rehearsal.arm.request_log import RequestLog
from rehearsal.arm.state import Store
from rehearsal.arm.terms import Terms
from rehearsal.control_planes.fleet import Settings

# Whoever reaches the loopback address of this machine may send what they like.
NO_LIMIT = 0
# What the log has in place of a status where there was no answer.
NO_ANSWER = 0


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


def application(home: Home, port: int, instance: str, terms: Terms) -> web.Application:
    audience = f"https://{certificates.HOSTNAME}:{port}"
    who, issuer = principal.load(home), tokens.load(home)
    store, log = Store(home.database), RequestLog(home.request_log)
    login = Login(who, issuer, audience)
    offers = Offers(terms.era, OfferScript(home.offers))
    works = Works(store, offers, _fleet_settings(home, terms))
    front = Front(store, who, issuer, audience, terms, works, offers)
    script = FaultScript(home.faults, lambda: operations.let_go(store))

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == PRESENCE:
            return web.json_response({"instance": instance, "pid": os.getpid()})
        content = await request.read()
        fault = script.take(request.method, request.path)
        await asyncio.sleep(fault.delay)
        if fault.drop == "before":
            return dropped(request, content)
        try:
            response = fault.answer() or await login.answer(request)
            response = response or retail.answer(request, offers) or await front.answer(request)
            fault.steer(store, response)
        except Exception:
            # A fault of the rehearsal itself: its log says where, the client that it was one.
            traceback.print_exc()
            response = refusal(errors.ArmError(errors.BROKEN), f"https://{request.host}")
        correlation = request.headers.get("x-ms-correlation-request-id", str(uuid.uuid4()))
        response.headers["x-ms-request-id"] = str(uuid.uuid4())
        response.headers["x-ms-correlation-request-id"] = correlation
        if fault.drop == "after":
            return dropped(request, content)
        log.write(request, content, response.status)
        return response

    def dropped(request: web.Request, content: bytes) -> web.StreamResponse:
        """Ends the connection without an answer."""
        log.write(request, content, NO_ANSWER)
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    async def live(_: web.Application) -> AsyncIterator[None]:
        await works.start()
        yield
        await works.stop()
        store.close()
        log.close()

    app = web.Application(client_max_size=NO_LIMIT)
    app.router.add_route("*", "/{path:.*}", answer)
    app.cleanup_ctx.append(live)
    return app


def _fleet_settings(home: Home, terms: Terms) -> Settings | None:
    if terms.kubernetes is None:
        return None
    return Settings(home.kubernetes, terms.kubernetes, terms.era, terms.time_scale)


async def serve(
    app: web.Application, listener: socket.socket, tls: ssl.SSLContext
) -> web.AppRunner:
    # A client that keeps its connection open must not hold up the end of the server.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.SockSite(runner, listener, ssl_context=tls).start()
    return runner
