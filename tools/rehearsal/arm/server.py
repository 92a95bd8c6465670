"""The web server of the rehearsal cloud: its routes, its address, and the path of a request."""

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
from rehearsal.arm.aks import sign_in
from rehearsal.arm.aks.control_planes import FleetControlPlanes
from rehearsal.arm.dashboard.document import Knowledge
from rehearsal.arm.faults import Fault, FaultScript
from rehearsal.arm.front import Front, error_response
from rehearsal.arm.home import OVERVIEW, PRESENCE, Home, load_principal
from rehearsal.arm.login import Login
from rehearsal.arm.offer_script import OfferScript
from rehearsal.arm.offers import Offers
from rehearsal.arm.request import Backend
from rehearsal.arm.request_log import RequestLog
from rehearsal.arm.resources import stored
from rehearsal.arm.state import open_store
from rehearsal.certificates import ADDRESS, HOSTNAME
from rehearsal.control_planes.desired_state import Era
from rehearsal.control_planes.fleet import Settings
from rehearsal.files import WatchedFile, log_line

# The logged status of a request that was not answered.
NO_ANSWER = 0
# What the page of the server shows.
KNOWLEDGE = web.AppKey("KNOWLEDGE", Knowledge)
# Text that may be copied from a request into a response header.
_IN_A_HEADER = re.compile(r"[!-~]{1,255}")


@dataclass(frozen=True)
class Options:
    """The options of a server, fixed at its start."""

    time_scale: float = 1.0
    era: Era = Era.TODAY
    # The folder of the Kubernetes binaries; without it clusters have no control planes.
    kubernetes: Path | None = None


def listen(preferred: object) -> socket.socket:
    """Returns a loopback socket at the preferred port, or at a free one if that is taken."""
    try:
        port = preferred if isinstance(preferred, int) else 0
        return socket.create_server((ADDRESS, port), backlog=128)
    except (OSError, OverflowError):
        return socket.create_server((ADDRESS, 0), backlog=128)


def application(home: Home, port: int, instance: str, options: Options) -> web.Application:
    audience = f"https://{HOSTNAME}:{port}"
    store, request_log = open_store(home.database), RequestLog(home.request_log)
    principal, issuer = load_principal(home), tokens.load(home)
    login = Login(principal, issuer, audience)
    script = WatchedFile(home.offers, OfferScript, OfferScript())
    faults = FaultScript(home.faults, lambda: operations.release_held(store))

    def offers() -> Offers:
        return Offers(options.era, script.read())

    settings = _fleet_settings(home, audience, options)
    control_planes = FleetControlPlanes(store, offers, settings, faults.node_faults)
    backend = Backend(store, principal, control_planes, offers, options.time_scale)
    front, reviewer = Front(backend, issuer, audience), sign_in.Reviewer(store, issuer, principal)

    async def answer(request: web.Request) -> web.StreamResponse:
        content, fault = b"", Fault()

        async def served(request: web.Request) -> web.StreamResponse:
            nonlocal content, fault
            content = await request.read()
            fault = faults.next_fault(request.method, request.path)
            await asyncio.sleep(fault.delay)
            if fault.drop == "before":
                return web.Response()
            response = fault.answer() or login.answer(request, content)
            response = (
                response or prices.answer(request, offers()) or front.answer(request, content)
            )
            fault.change(store, response)
            return response

        response = await with_arm_errors(request, served)
        if fault.drop:
            return dropped(request, content)
        correlation = request.headers.get("x-ms-correlation-request-id", "")
        response.headers["x-ms-request-id"] = str(uuid.uuid4())
        response.headers["x-ms-correlation-request-id"] = (
            correlation if _IN_A_HEADER.fullmatch(correlation) else str(uuid.uuid4())
        )
        # None unless the answer is of a type that is stored only.
        note = response.headers.get(stored.HEADER)
        request_log.write(request, content, response.status, note)
        return response

    def dropped(request: web.Request, content: bytes) -> web.StreamResponse:
        """Closes the connection without a response."""
        request_log.write(request, content, NO_ANSWER)
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
            request_log.close()

    app = web.Application(
        client_max_size=bodies.MOST_BYTES,
        middlewares=[web.middleware(with_arm_errors)],
    )
    # Not logged: users do not send these, and token reviews contain a token.
    app.router.add_post(sign_in.address("{uid}"), reviewer.answer)
    app.router.add_get(PRESENCE, partial(_presence, instance))
    app.router.add_get(OVERVIEW, partial(_overview, control_planes, faults, script))
    app.router.add_route("*", "/{path:.*}", answer)
    app.cleanup_ctx.append(live)
    app[KNOWLEDGE] = Knowledge(home.path, store, control_planes, faults, script, request_log)
    return app


async def with_arm_errors(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Returns the handler's response; turns any exception into an ARM error response."""
    origin = f"https://{request.host}"
    try:
        _refuse_host(request)
        return await handler(request)
    except errors.ArmError as error:
        return error_response(error, origin)
    except Exception as error:
        return error_response(_arm_error(request, error), origin)


def _arm_error(request: web.Request, error: Exception) -> errors.ArmError:
    """Returns the ARM error for an exception that is not an ArmError."""
    what = f"{request.method} {request.path}"
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return errors.ArmError(errors.TOO_LARGE)
    if isinstance(error, web.RequestPayloadError | ConnectionError):
        return errors.ArmError(errors.BAD_CONTENT, reason=error)
    if isinstance(error, web.HTTPException):
        # From the web server: it has no such route.
        return errors.ArmError(errors.NOT_REHEARSED, what=what)
    if isinstance(error, OSError | sqlite3.OperationalError):
        log_line(f"{what!a}: {error}")
        return errors.ArmError(errors.NOT_WRITTEN, reason=error)
    # A bug of the rehearsal: the traceback goes to the log.
    log_line(f"{request.method} {request.path!a}\n{''.join(traceback.format_exception(error))}")
    return errors.ArmError(errors.BROKEN)


async def _presence(instance: str, _: web.Request) -> web.Response:
    """Responds with the identity of this server."""
    return web.json_response({"instance": instance, "pid": os.getpid()})


async def _overview(
    control_planes: FleetControlPlanes,
    faults: FaultScript,
    script: WatchedFile[OfferScript],
    _: web.Request,
) -> web.Response:
    """Responds with what `aksgpu status` shows: what there is, and complaints about scripts."""
    script.read()
    complaints = [text for text in (faults.complaint(), script.complaint) if text]
    overview = {**control_planes.overview(), "complaints": complaints}
    return web.json_response(overview)


def _refuse_host(request: web.Request) -> None:
    """Refuses a Host header that cannot be part of the addresses in a response."""
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
    app: web.Application, listener: socket.socket, tls: ssl.SSLContext | None
) -> web.AppRunner:
    # Open client connections must not delay the shutdown.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.SockSite(runner, listener, ssl_context=tls).start()
    return runner
