"""The client of an API server, against a server that fails as API servers do."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import ApiClient, Configuration

from kube_client.client import APPLY, ApiError, Client, NoAnswerError
from kube_client.mirror import Mirror

LIST = "/api/v1/nodes"
NODE = {"metadata": {"uid": "u", "name": "n", "resourceVersion": "7"}}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def run(handler: Handler, work: Callable[[Client], Awaitable[Any]]) -> Any:
    """The result of some work, with a client of a server that answers as the handler does."""

    async def both() -> Any:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", handler)
        async with TestServer(application) as server:
            configuration = Configuration(host=str(server.make_url("")).rstrip("/"))
            client = Client(ApiClient(configuration), pauses=(0.0, 0.0))
            try:
                return await work(client)
            finally:
                await client.close()

    return asyncio.run(both())


def failing(*statuses: int, then: Any) -> tuple[Handler, list[str]]:
    """Answers with these statuses first, and records the methods that it is asked with."""
    methods: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        methods.append(request.method)
        if len(methods) <= len(statuses):
            refusal = {"message": "in its words", "reason": "Because", "details": {"kind": "nodes"}}
            return web.json_response(refusal, status=statuses[len(methods) - 1])
        return web.json_response(then)

    return handle, methods


@pytest.mark.parametrize("status", [429, 503, 504])
def test_temporary_errors_are_retried(status: int) -> None:
    handler, methods = failing(status, status, then={"a": 1})

    assert run(handler, lambda client: client.get(LIST)) == {"a": 1}
    assert methods == ["GET"] * 3


def test_permanent_errors_have_the_servers_message() -> None:
    handler, methods = failing(503, 503, 503, 422, then={})
    with pytest.raises(ApiError, match="in its words") as refused:
        run(handler, lambda client: client.get(LIST))

    assert (refused.value.status, refused.value.reason) == (503, "Because")
    assert refused.value.details == {"kind": "nodes"}
    assert len(methods) == 3


def test_requests_that_are_not_idempotent_are_sent_once() -> None:
    handler, methods = failing(503, then={})
    with pytest.raises(ApiError):
        run(handler, lambda client: client.patch(LIST, {}, APPLY))

    assert methods == ["PATCH"]


def test_deleting_a_deleted_object_succeeds() -> None:
    handler, methods = failing(404, then={})

    assert run(handler, lambda client: client.delete(LIST)) is None
    assert methods == ["DELETE"]


def test_a_list_is_read_page_by_page() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        page = request.query.get("continue", "")
        more = {"": "second", "second": ""}[page]
        return web.json_response({"items": [{"page": page}], "metadata": {"continue": more}})

    items = run(handle, lambda client: client.list(LIST, labelSelector="a=b"))
    assert items == [{"page": ""}, {"page": "second"}]


def test_a_server_that_does_not_answer_is_named() -> None:
    async def ask() -> None:
        client = Client(ApiClient(Configuration(host="http://127.0.0.1:1")), pauses=())
        try:
            await client.get(LIST)
        finally:
            await client.close()

    with pytest.raises(NoAnswerError, match=r"does not answer: 127\.0\.0\.1:1: connection refused"):
        asyncio.run(ask())


def test_a_mirror_continues_after_errors_of_a_busy_server() -> None:
    """A watch is refused, ends, and names a version that is too old: the list is read again."""
    refusals = [429, 200, 410]
    big = NODE | {"padding": "x" * 3_000_000}

    async def handle(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response({"items": [], "metadata": {"resourceVersion": "1"}})
        if refusals and (status := refusals.pop(0)) != 200:
            return web.json_response({}, status=status)
        kind = "BOOKMARK" if refusals else "ADDED"
        return web.json_response({"type": kind, "object": big})

    async def work(client: Client) -> list[Any]:
        changed = asyncio.Event()
        mirror = Mirror(client, LIST, changed)
        running = asyncio.create_task(mirror.run())
        while not mirror.objects:
            await asyncio.wait({running}, timeout=0.05)
            assert not running.done()
        running.cancel()
        return mirror.objects

    assert run(handle, work) == [big]
