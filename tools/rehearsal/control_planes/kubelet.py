"""Parts of a kubelet for all nodes of a cluster: it serves logs."""

import asyncio
import datetime
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web

from rehearsal.certificates import ADDRESS
from rehearsal.control_planes.containers import Line, Log, this_moment
from rehearsal.control_planes.control_plane import Place

Json = dict[str, Any]

POLL_SECONDS = 0.1


class LogOf(Protocol):
    """Returns the log of a container, or None; `previous` selects the run before."""

    def __call__(
        self, namespace: str, pod: str, container: str, *, previous: bool
    ) -> Log | None: ...


@dataclass(frozen=True)
class Options:
    """The options of `kubectl logs`."""

    follow: bool
    previous: bool
    timestamps: bool
    tail: int | None
    limit: int | None
    since: datetime.datetime | None

    @staticmethod
    def of(query: "web.BaseRequest") -> "Options":
        parameters = query.query
        since = parameters.get("sinceTime")
        moment = datetime.datetime.fromisoformat(since) if since else None
        if "sinceSeconds" in parameters:
            moment = this_moment() - datetime.timedelta(seconds=int(parameters["sinceSeconds"]))
        return Options(
            follow=parameters.get("follow") == "true",
            previous=parameters.get("previous") == "true",
            timestamps=parameters.get("timestamps") == "true",
            tail=int(parameters["tailLines"]) if "tailLines" in parameters else None,
            limit=int(parameters["limitBytes"]) if "limitBytes" in parameters else None,
            since=moment,
        )


class Kubelet:
    """Serves logs; every other request is a 404 that says so."""

    def __init__(self, place: Place, log_of: LogOf) -> None:
        self._place = place
        self._log_of = log_of
        self._runner: web.AppRunner | None = None
        # Any free port: the nodes' status has it.
        self.port = 0

    async def start(self) -> None:
        app = web.Application()
        app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", self._logs)
        app.router.add_route("*", "/{path:.*}", _not_there)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        files = self._place.certificates
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(files.authority))
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(files.certificate("server"), files.key("server"))
        await web.TCPSite(self._runner, ADDRESS, 0, ssl_context=context).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _logs(self, request: web.Request) -> web.StreamResponse:
        names = request.match_info
        options = Options.of(request)

        def current() -> Log | None:
            return self._log_of(
                names["namespace"], names["pod"], names["container"], previous=options.previous
            )

        if current() is None:
            where = f'container "{names["container"]}" in pod "{names["pod"]}"'
            text = f"{where} is waiting to start"
            if options.previous:
                text = f"previous terminated {where} not found"
            return web.Response(status=400, text=text)
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        left = options.limit
        async for text in _texts(current, options):
            content = text.encode() if left is None else text.encode()[:left]
            await response.write(content)
            if left is not None:
                left -= len(content)
                if left <= 0:
                    break
        await response.write_eof()
        return response


async def _texts(current: Callable[[], Log | None], options: Options) -> AsyncIterator[str]:
    """Yields the lines of a log, and those to come if it is followed."""
    log, written = current(), 0
    while log is not None:
        lines = [line for line in log.lines if log.is_over or _when(log, line) <= this_moment()]
        new = lines[written:]
        if written == 0:
            new = [line for line in new if not options.since or _when(log, line) >= options.since]
            new = new[len(new) - options.tail :] if options.tail is not None else new
        for line in new:
            stamp = f"{_when(log, line).isoformat()} " if options.timestamps else ""
            yield f"{stamp}{line.text}\n"
        written = len(lines)
        if not options.follow or log.is_over:
            return
        await asyncio.sleep(POLL_SECONDS)
        began, log = log.began, current()
        if log is not None and log.began != began:
            return  # a restart of the container begins another log


def _when(log: Log, line: Line) -> datetime.datetime:
    return log.began + datetime.timedelta(seconds=line.after)


async def _not_there(request: web.Request) -> web.Response:
    text = f"The rehearsal's kubelet serves logs only; it does not have {request.path}."
    return web.Response(status=501, text=text)
