"""The web server: what every request passes through, and the address it listens on."""

import asyncio
import os
import re
import socket
import sqlite3
import ssl
import traceback
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from aiohttp import web

from rehearsal.arm import bodies, errors, operations, prices, tokens
from rehearsal.arm.aks import mending, sign_in
from rehearsal.arm.aks.control_planes import FleetControlPlanes
from rehearsal.arm.faults import Fault, FaultScript
from rehearsal.arm.front import Front, error_response
from rehearsal.arm.home import OVERVIEW, PRESENCE, Home, load_principal
from rehearsal.arm.login import Login
from rehearsal.arm.offer_script import OfferScript
from rehearsal.arm.offers import Offers
from rehearsal.arm.request import Backend
from rehearsal.arm.request_log import RequestLog
from rehearsal.certificates import ADDRESS, HOSTNAME
from rehearsal.control_planes.desired_state import Era
from rehearsal.control_planes.fleet import Settings
from rehearsal.files import WatchedFile, complain

# The logged status of a request that got no answer.
NO_ANSWER = 0
# What is sent and comes back in a header of the answer.
_IN_A_HEADER = re.compile(r"[!-~]{1,255}")


@dataclass(frozen=True)
class Options:
    """What one rehearsal cloud is started with, and keeps to."""

    time_scale: float = 1.0
    era: Era = Era.TODAY
    # The folder of the control planes' binaries; without it there are no control planes.
    kubernetes: Path | None = None


def listen(preferred: object) -> socket.socket:
    """Returns a loopback socket, at the preferred port or, if that cannot be, at a free one."""
    try:
        port = preferred if isinstance(preferred, int) else 0
        return socket.create_server((ADDRESS, port), backlog=128)
    except (OSError, OverflowError):
        return socket.create_server((ADDRESS, 0), backlog=128)


def application(home: Home, port: int, instance: str, options: Options) -> web.Application:
    audience = f"https://{HOSTNAME}:{port}"
    store, log = mending.opened(home.database), RequestLog(home.request_log)
    principal, issuer = load_principal(home, store.subscription()), tokens.load(home)
    login = Login(principal, issuer, audience)
    script = WatchedFile(home.offers, OfferScript, OfferScript())
    faults = FaultScript(home.faults, lambda: operations.release_held(store))

    def offers() -> Offers:
        return Offers(options.era, script.read())

    control_planes = FleetControlPlanes(store, offers, _fleet_settings(home, audience, options))
    backend = Backend(store, principal, control_planes, offers, options.time_scale)
    front = Front(backend, issuer, audience)
    reviewer = sign_in.Reviewer(store, issuer, principal)

    async def answer(request: web.Request) -> web.StreamResponse:
        content, fault = b"", Fault()

        async def served(request: web.Request) -> web.StreamResponse:
            nonlocal content, fault
            content = await request.read()
            fault = faults.take(request.method, request.path)
            await asyncio.sleep(fault.delay)
            if fault.drop == "before":
                return web.Response()
            response = fault.answer() or login.answer(request, content)
            response = (
                response or prices.answer(request, offers()) or front.answer(request, content)
            )
            fault.steer(store, response)
            return response

        response = await guarded(request, served)
        if fault.drop:
            return dropped(request, content)
        correlation = request.headers.get("x-ms-correlation-request-id", "")
        response.headers["x-ms-request-id"] = str(uuid.uuid4())
        response.headers["x-ms-correlation-request-id"] = (
            correlation if _IN_A_HEADER.fullmatch(correlation) else str(uuid.uuid4())
        )
        log.write(request, content, response.status)
        return response

    def dropped(request: web.Request, content: bytes) -> web.StreamResponse:
        """Ends the connection without an answer."""
        log.write(request, content, NO_ANSWER)
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    async def live(_: web.Application) -> AsyncIterator[None]:
        try:
            await control_planes.start()
            yield
        finally:
            await control_planes.stop()
            store.close()
            log.close()

    app = web.Application(client_max_size=bodies.MOST_BYTES, middlewares=[web.middleware(guarded)])
    # No requests of a user's, and there is a token in the first: they are not logged.
    app.router.add_post(sign_in.address("{uid}"), reviewer.answer)
    app.router.add_get(PRESENCE, partial(_presence, instance))
    app.router.add_get(OVERVIEW, partial(_overview, control_planes, faults, script))
    app.router.add_route("*", "/{path:.*}", answer)
    app.cleanup_ctx.append(live)
    return app


async def guarded(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Returns what is served, or in Resource Manager's form why nothing is."""
    origin = f"https://{request.host}"
    try:
        _refuse_host(request)
        return await handler(request)
    except errors.ArmError as error:
        return error_response(error, origin)
    except Exception as error:
        return error_response(_refusal(request, error), origin)


def _refusal(request: web.Request, error: Exception) -> errors.ArmError:
    """Returns what an answer says of an error that is none of Resource Manager's own."""
    what = f"{request.method} {request.path}"
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return errors.ArmError(errors.TOO_LARGE)
    if isinstance(error, web.RequestPayloadError | ConnectionError):
        return errors.ArmError(errors.BAD_CONTENT, reason=error)
    if isinstance(error, web.HTTPException):
        # The web server's own: it knows no such address.
        return errors.ArmError(errors.NOT_REHEARSED, what=what)
    if isinstance(error, OSError | sqlite3.OperationalError):
        complain(f"{what!a}: {error}")
        return errors.ArmError(errors.NOT_WRITTEN, reason=error)
    # A fault of the rehearsal itself: the log says where.
    complain(f"{request.method} {request.path!a}\n{''.join(traceback.format_exception(error))}")
    return errors.ArmError(errors.BROKEN)


async def _presence(instance: str, _: web.Request) -> web.Response:
    """Answers which server this is."""
    return web.json_response({"instance": instance, "pid": os.getpid()})


async def _overview(
    control_planes: FleetControlPlanes,
    faults: FaultScript,
    script: WatchedFile[OfferScript],
    _: web.Request,
) -> web.Response:
    """Answers what a person wants to know of this cloud."""
    script.read()
    complaints = [wrong for wrong in (faults.complaint(), script.complaint) if wrong]
    return web.json_response({"clusters": control_planes.overview(), "complaints": complaints})


def _refuse_host(request: web.Request) -> None:
    """Refuses a host that no address in an answer could have."""
    if not _IN_A_HEADER.fullmatch(request.host):
        raise errors.ArmError(errors.BAD_HOST)


def _fleet_settings(home: Home, audience: str, options: Options) -> Settings | None:
    if options.kubernetes is None:
        return None
    return Settings(
        home.kubernetes,
        options.kubernetes,
        options.era,
        options.time_scale,
        lambda uid: f"{audience}{sign_in.address(uid)}",
        home.ca_certificate,
    )


async def serve(
    app: web.Application, listener: socket.socket, tls: ssl.SSLContext
) -> web.AppRunner:
    # A client that keeps its connection open must not delay the end of the server.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.SockSite(runner, listener, ssl_context=tls).start()
    return runner
