"""Parts of a kubelet, for all nodes of a cluster: it answers for logs, and writes events."""

import asyncio
import datetime
import ssl
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web

from rehearsal.certificates import ADDRESS
from rehearsal.control_planes.containers import Line, Log, now, this_moment
from rehearsal.control_planes.control_plane import Place

Json = dict[str, Any]

POLL_SECONDS = 0.1


class LogOf(Protocol):
    """The log of a container; None where there is none. `previous` is that of the run before."""

    def __call__(
        self, namespace: str, pod: str, container: str, *, previous: bool
    ) -> Log | None: ...


@dataclass(frozen=True)
class Options:
    """What of a log is asked for, as `kubectl logs` has it."""

    follow: bool
    previous: bool
    timestamps: bool
    tail: int | None
    limit: int | None
    since: datetime.datetime | None

    @staticmethod
    def of(query: "web.BaseRequest") -> "Options":
        asked = query.query
        since = asked.get("sinceTime")
        moment = datetime.datetime.fromisoformat(since) if since else None
        if "sinceSeconds" in asked:
            moment = this_moment() - datetime.timedelta(seconds=int(asked["sinceSeconds"]))
        return Options(
            follow=asked.get("follow") == "true",
            previous=asked.get("previous") == "true",
            timestamps=asked.get("timestamps") == "true",
            tail=int(asked["tailLines"]) if "tailLines" in asked else None,
            limit=int(asked["limitBytes"]) if "limitBytes" in asked else None,
            since=moment,
        )


class Kubelet:
    """Answers for logs, and says of everything else that it is not there."""

    def __init__(self, place: Place, log_of: LogOf) -> None:
        self._place = place
        self._log_of = log_of
        self._runner: web.AppRunner | None = None
        # Any that is free: the nodes say where it is.
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
    """The lines there are, and, if they are to be followed, those that come."""
    log, given = current(), 0
    while log is not None:
        lines = [line for line in log.lines if log.is_over or _when(log, line) <= this_moment()]
        new = lines[given:]
        if given == 0:
            new = [line for line in new if not options.since or _when(log, line) >= options.since]
            new = new[len(new) - options.tail :] if options.tail is not None else new
        for line in new:
            stamp = f"{_when(log, line).isoformat()} " if options.timestamps else ""
            yield f"{stamp}{line.text}\n"
        given = len(lines)
        if not options.follow or log.is_over:
            return
        await asyncio.sleep(POLL_SECONDS)
        began, log = log.began, current()
        if log is not None and log.began != began:
            return  # the container was started again; that is another log


def _when(log: Log, line: Line) -> datetime.datetime:
    return log.began + datetime.timedelta(seconds=line.after)


async def _not_there(request: web.Request) -> web.Response:
    text = f"The rehearsal's kubelet shows logs and nothing else; {request.path} is not there."
    return web.Response(status=501, text=text)


def warning(about: Json, kind: str, reason: str, message: str) -> tuple[str, Json]:
    """The path to post an event to, and the event: a warning about a node, or a pod on one."""
    metadata = about["metadata"]
    name = metadata["name"]
    # A node has no namespace, and its events lie in this one.
    namespace = metadata.get("namespace", "default")
    involved = {"apiVersion": "v1", "kind": kind, "name": name}
    if kind == "Node":
        # A kubelet knows its node by name only, and says so.
        host = involved["uid"] = name
    else:
        host = about["spec"]["nodeName"]
        involved |= {"uid": metadata["uid"], "namespace": namespace}
    return f"/api/v1/namespaces/{namespace}/events", {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{uuid.uuid4().hex[:16]}", "namespace": namespace},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "involvedObject": involved,
        "source": {"component": "kubelet", "host": host},
        "firstTimestamp": now(),
        "lastTimestamp": now(),
        "count": 1,
    }
