"""The copy of a list, against an API server that fails in every way, in any order."""

import asyncio
import json
from itertools import count
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from kube_client import mirror
from kube_client.client import ApiError, Client
from kube_client.mirror import Mirror
from tests.kube_client.test_client import LIST, run

Objects = dict[str, dict[str, Any]]
PASSING = (408, 410, 429, 500, 502, 503, 504)
FINAL = (400, 401, 403, 404, 405, 422)
# What comes in place of an answer: a refusal, or a way in which answers break.
FAULTS = st.sampled_from([*PASSING, "reset", "empty", "no object", "torn", "closed", "error 410"])


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "_PAUSE_SECONDS", 0.0)


class ApiServer:
    """Has objects, tells of their changes, and meets every request with the next fault first."""

    def __init__(self, faults: list[Any], changes: list[tuple[str, str]]) -> None:
        self.faults = faults
        self.changes = changes
        self.versions = count(2)
        self.version = 1
        self.objects: Objects = {}
        self.requests = 0

    def change(self) -> dict[str, Any]:
        """Makes the next change, and returns its event."""
        kind, uid = self.changes.pop(0)
        self.version = next(self.versions)
        there = self.objects.pop(uid, None)
        item = {"metadata": {"uid": uid, "resourceVersion": str(self.version)}}
        if kind == "delete" and there:
            return {"type": "DELETED", "object": item}
        if kind == "bookmark":
            if there:
                self.objects[uid] = there
            return {"type": "BOOKMARK", "object": item}
        self.objects[uid] = item
        return {"type": "MODIFIED" if there else "ADDED", "object": item}

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        fault = self.faults.pop(0) if self.faults else None
        is_watch = "watch" in request.query
        if isinstance(fault, int):
            # Changes go on while nobody can see them.
            if self.changes:
                self.change()
            return web.json_response({"message": "no"}, status=fault)
        if fault == "reset":
            assert request.transport is not None
            request.transport.abort()
        if fault == "empty":
            return web.Response()
        if fault == "no object":
            return web.json_response(["what", {"is": "this"}])
        if not is_watch:
            text = json.dumps(
                {
                    "items": list(self.objects.values()),
                    "metadata": {"resourceVersion": str(self.version)},
                }
            )
            return web.Response(text=text[: len(text) // 2] if fault == "torn" else text)
        assert int(request.query["resourceVersion"]) <= self.version
        return await self._watched(request, fault)

    async def _watched(self, request: web.Request, fault: Any) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        if self.version != int(request.query["resourceVersion"]):
            fault = "error 410"
        events = [] if fault == "error 410" else [self.change() for _ in self.changes[:2]]
        text = "".join(f"{json.dumps(event)}\n" for event in events)
        if fault == "error 410":
            text = json.dumps({"type": "ERROR", "object": {"code": 410}}) + "\n"
        await response.write(
            text[: -len(text) // 3 or None].encode() if fault == "torn" else text.encode()
        )
        if fault is None and not self.changes:
            await asyncio.sleep(3600)
        return response


CHANGES = st.tuples(st.sampled_from(["put", "delete", "bookmark"]), st.sampled_from("abc"))


@settings(max_examples=40, deadline=None)
@given(faults=st.lists(FAULTS, max_size=8), changes=st.lists(CHANGES, max_size=12))
def test_a_mirror_recovers_from_any_fault_without_missing_a_change(
    faults: list[Any], changes: list[tuple[str, str]]
) -> None:
    """One answer of 500 while etcd was away ended a cluster for good."""
    server = ApiServer(faults, changes)

    async def work(client: Client) -> None:
        copy = Mirror(client, LIST, asyncio.Event())
        task = asyncio.create_task(copy.run())

        def is_up_to_date() -> bool:
            known = {item["metadata"]["uid"]: item for item in copy.objects}
            return not server.changes and not server.faults and known == server.objects

        while not is_up_to_date():
            await asyncio.wait({task}, timeout=0.005)
            assert not task.done()
        task.cancel()

    run(server.answer, work)


@pytest.mark.parametrize("status", FINAL)
def test_a_mirror_ends_at_a_permanent_error(status: int) -> None:
    server = ApiServer([503, status], [])

    async def work(client: Client) -> None:
        await Mirror(client, LIST, asyncio.Event()).run()

    with pytest.raises(ApiError) as refused:
        run(server.answer, work)
    assert (refused.value.status, server.requests) == (status, 2)
