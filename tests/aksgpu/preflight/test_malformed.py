"""Answers that are none of Azure's, and none at all: told, each in its row, within a bound."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import AsyncMock

import pytest
from azure.core import AsyncPipelineClient
from azure.mgmt.compute.aio import ComputeManagementClient
from azure.mgmt.containerservice.aio import ContainerServiceClient
from azure.mgmt.resource.features.aio import FeatureClient
from azure.mgmt.resource.resources.aio import ResourceManagementClient

from aksgpu.preflight import access, command, costs, price_list, queries, requirements
from aksgpu.preflight.access import Clients
from aksgpu.preflight.facts import Facts, Unanswered
from aksgpu.preflight.preflight import Preflight, judge
from aksgpu.preflight.price_list import PriceList
from tests.aksgpu.preflight.conftest import T4, stack_of

STACK = stack_of(
    gpuPools=[T4, T4 | {"name": "spot", "spot": True, "hostEncryption": True}],
    resourceGroup={"name": "g", "existing": True},
    cluster={"name": "c", "existing": True},
)
POOLS = requirements.pools(STACK)


class Answers:
    """A server that gives one answer to everything."""

    def __init__(self) -> None:
        self.body, self.status, self.headers = b"", 200, dict[str, str]()
        self.hangs = False
        self.targets: list[str] = []
        self.goes_on = threading.Event()

    def give(self, body: Any) -> None:
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Answers, str]]:
    answers = Answers()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers.targets.append(self.path)
            if answers.hangs:
                answers.goes_on.wait()
                return
            self.send_response(answers.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answers.body)))
            for name, value in answers.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answers.body)

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, args=[0.01], daemon=True).start()
    yield answers, f"http://127.0.0.1:{listening.server_port}"
    answers.goes_on.set()
    listening.shutdown()
    listening.server_close()


def asked(url: str) -> Preflight:
    """What is known of a stack, with all that follows from it."""
    facts, prices = asyncio.run(_ask(url))
    result = Preflight("test", rows=judge(STACK, POOLS, facts, date(2026, 11, 22)))
    result.costs = costs.costs(POOLS, prices, facts)
    result.rows += costs.judge(result.costs)
    json.dumps(result.to_json())
    return result


async def _ask(url: str) -> tuple[Facts, PriceList | Unanswered]:
    async with AsyncExitStack() as opened:
        enter = opened.enter_async_context

        def own() -> dict[str, Any]:
            return {"base_url": url, "policies": access._policies(), "credential": AsyncMock()}

        clients = Clients(
            subscription="s",
            compute=await enter(ComputeManagementClient(subscription_id="s", **own())),
            aks=await enter(ContainerServiceClient(subscription_id="s", **own())),
            features=await enter(FeatureClient(subscription_id="s", **own())),
            resources=await enter(ResourceManagementClient(subscription_id="s", **own())),
            prices=await enter(AsyncPipelineClient(url, policies=access._policies())),
            prices_url=url,
        )
        facts = await queries.ask(STACK, POOLS, clients, lambda _: None)
        names = [costs.name_in_prices(pool, facts) for pool in POOLS]
        return facts, await price_list.ask_prices(clients.prices, url, "eastus", names)


HERE = [{"location": "eastus", "zones": [1, "2"]}]
SKU = {"resourceType": "virtualMachines", "name": T4["vmSize"], "locationInfo": HERE}


@pytest.mark.parametrize(
    "body",
    [
        {"value": None},
        {"value": [None]},
        {"value": "words"},
        {"value": [SKU]},
        {"value": [{"name": {"value": "cores"}, "limit": 5, "currentValue": "many"}]},
        b"<html><body>502 Bad Gateway</body></html>",
    ],
)
def test_any_answer_of_azure_ends_in_a_report(server: tuple[Answers, str], body: Any) -> None:
    """`value: null`, null in a list, a page of a proxy: a traceback, and no JSON."""
    answers, url = server
    answers.give(body)
    assert asked(url).rows


def test_queries_have_no_plus_for_a_space(server: tuple[Answers, str]) -> None:
    """The filter of the sizes had; not every server reads a plus as a space."""
    answers, url = server
    answers.give({"value": []})
    answers.targets.clear()
    asked(url)

    queries = [target.partition("?")[2] for target in answers.targets]
    assert any("location%20eq%20" in query for query in queries)
    assert not any("+" in query for query in queries)


@pytest.mark.parametrize("how", ["hangs", "asks to wait for an hour"])
def test_every_wait_has_a_timeout(
    server: tuple[Answers, str], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Retry-After of an hour was waited for, and a price list that hung for 93 seconds."""
    answers, url = server
    monkeypatch.setattr(queries, "SECONDS", 0.5)
    monkeypatch.setattr(price_list, "SECONDS", 0.5)
    monkeypatch.setattr(answers, "hangs", how == "hangs")
    monkeypatch.setattr(answers, "status", 429)
    monkeypatch.setattr(answers, "headers", {"Retry-After": "3600"})
    result = asked(url)
    open_rows = [row for row in result.rows if "no response in time" in row.what]
    assert len(open_rows) > 3
    assert {row.answer for row in open_rows} == {"unknown"}


def test_the_command_prints_json_for_any_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr(command, "_read", fails)
    assert command.preflight("dev", None, as_json=True) == 3
    printed = capsys.readouterr()
    assert json.loads(printed.out)["cause"] == "crashed"
    assert "RuntimeError: odd" in printed.err
