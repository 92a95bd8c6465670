"""Parts of a kubelet for all nodes of a cluster: it serves logs."""

import asyncio
import datetime
import ssl
from collections.abc import AsyncIterator, Callable
from typing import Any

from aiohttp import web

from rehearsal.certificates import ADDRESS
from rehearsal.control_planes.containers import Line, Log, this_moment
from rehearsal.control_planes.control_plane import Place

Json = dict[str, Any]

POLL_SECONDS = 0.1


# Returns the log of a container by namespace, pod and name, or None.
LogOf = Callable[[str, str, str], Log | None]


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
        names, query = request.match_info, request.query
        if unknown := {*query} - {"follow", "tailLines"}:
            text = f"The rehearsal's kubelet does not have {', '.join(sorted(unknown))} of logs."
            return web.Response(status=501, text=text)

        def current() -> Log | None:
            return self._log_of(names["namespace"], names["pod"], names["container"])

        if current() is None:
            where = f'container "{names["container"]}" in pod "{names["pod"]}"'
            return web.Response(status=400, text=f"{where} is waiting to start")
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        tail = int(query["tailLines"]) if "tailLines" in query else None
        async for text in _texts(current, tail, follow=query.get("follow") == "true"):
            await response.write(text.encode())
        await response.write_eof()
        return response


async def _texts(
    current: Callable[[], Log | None], tail: int | None, *, follow: bool
) -> AsyncIterator[str]:
    """Yields the last lines of a log, and those to come if it is followed."""
    log, written = current(), 0
    while log is not None:
        lines = [line for line in log.lines if log.is_over or _when(log, line) <= this_moment()]
        new = lines[written:]
        if written == 0 and tail is not None:
            new = new[len(new) - min(tail, len(new)) :]
        for line in new:
            yield f"{line.text}\n"
        written = len(lines)
        if not follow or log.is_over:
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
