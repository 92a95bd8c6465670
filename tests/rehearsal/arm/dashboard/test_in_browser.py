"""The page in a real browser: the stack dev comes up, a job runs, a GPU fails; and who is kept out.

`make test-browser` runs this. Its pictures are in build/dashboard; those in docs/ are copies.
"""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import web

from rehearsal import cloud
from rehearsal.arm.dashboard.serving import Page
from rehearsal.cloud import Cloud
from tests import browser as browsers
from tests.aksgpu.rehearse.newcomer import Newcomer
from tests.bench import ROOT
from tests.browser import Browser
from tests.waiting import until

pytestmark = pytest.mark.browser

# As WebDriver names keys.
TAB, ENTER = "\ue004", "\ue007"
PICTURES = ROOT / "build" / "dashboard"
NODES = "return [...document.querySelectorAll('.node')].map((node) => node.innerText)"
CELLS = "return [...document.querySelectorAll('.cells')].map((each) => each.ariaLabel)"
# What there was to hear, in all.
LISTEN = """
window.heard = [];
new MutationObserver(() => heard.push(document.getElementById("news").textContent))
  .observe(document.getElementById("news"), { childList: true });
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  tolerations: [{{operator: Exists}}]
  containers: [{{name: main, image: training, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]
---"""
FAULT = {"node": "^aks-gpu-", "condition": "XIDErrors", "message": "Xid 79: fallen off the bus"}
OFFER = {"size": "Standard_NC4as_T4_v3", "location": "eastus", "is": "soldOut"}


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    if lacking := browsers.missing():
        pytest.fail(lacking, pytrace=False)
    with browsers.opened(tmp_path / "profile") as opened:
        opened.look(width=1200, height=900)
        yield opened


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[Newcomer]:
    own = Newcomer(tmp_path)
    yield own
    cloud.remove(own.home)


@pytest.fixture
def running(newcomer: Newcomer) -> Cloud:
    return newcomer.start_cloud(time_scale=0.5)


def address_of(running: Cloud) -> str:
    address = cloud.page_of(running.home)
    assert address is not None
    return address


def test_a_stack_comes_up_and_its_job_runs_and_a_gpu_fails(
    browser: Browser, newcomer: Newcomer, running: Cloud
) -> None:
    address = address_of(running)
    browser.open(address)
    browser.shows("There is no cluster yet", "Live", "Stacks: none")
    assert browser.run("return location.href") == address.partition("?")[0]
    browser.run(LISTEN)

    rehearsal = newcomer.start("rehearse", "--stack", "dev")
    browser.shows("cluster create of aks-gpu-dev", "Stacks: dev (updating)")
    browser.shows("running", "Standard_D4ds_v5", "pool create of gpu")
    until(lambda: "1 GPU in use" in browser.run(CELLS), "the job has its GPU")
    output, _ = rehearsal.communicate()
    assert rehearsal.returncode == 0, output
    assert "aksgpu dashboard" in output

    pods = "".join(POD.format(name=name, gpus=gpus) for name, gpus in (("one", 1), ("eight", 8)))
    (newcomer.root / "pods.yaml").write_text(pods)
    newcomer.shell(f"kubectl apply -f {newcomer.root / 'pods.yaml'}")
    browser.shows("default/one", "Running", "default/eight", "Insufficient nvidia.com/gpu")
    until(lambda: "1 GPU in use" in browser.run(CELLS), "the pod has its GPU")
    (newcomer.home / "faults.json").write_text(json.dumps([FAULT]))
    (newcomer.home / "offers.json").write_text(json.dumps({"sizes": [OFFER]}))
    browser.shows("! XIDErrors: Xid 79", "is soldOut")
    assert "$1.60 an hour" in browser.text
    assert len(browser.run(NODES)) == 2

    for words in ("cluster aks-gpu-dev: running", "ready, XIDErrors: Xid 79", "pod default/one"):
        until(lambda: words in "; ".join(browser.run("return heard")), f"told: {words}")  # noqa: B023

    look_at(browser)
    read_by_keyboard(browser)
    assert browser.hosts() == {address.removeprefix("http://").partition("/")[0]}
    assert browser.complaints() == []

    newcomer.run("stop")
    browser.shows("Not connected")
    newcomer.run("start")
    browser.shows("Live", "XIDErrors")


@dataclass
class Known:
    """A server that knows what a test wants to see drawn."""

    all: dict[str, Any]

    def document(self) -> dict[str, Any]:
        return self.all


def shown_node(name: str, state: str, kinds: list[tuple[str, str, int]], **more: Any) -> Any:
    cells = [
        {"kind": kind, "state": looks, "pod": ""}
        for kind, looks, count in kinds
        for _ in range(count)
    ]
    return {"name": f"aks-gpu-1-{name}", "state": state, "faults": [], "cells": cells, **more}


def shown_pool(name: str, size: str, *nodes: Any) -> dict[str, Any]:
    own = {"isSpot": False, "state": "Succeeded", "least": 0, "most": 9, "cost": 1.0}
    return {"name": name, "size": f"Standard_{size}", "nodes": nodes, **own}


GPUS_OF_ALL_KINDS = [
    shown_pool(
        "training",
        "ND96isr_H100_v5",
        shown_node("vmss000000", "ready", [("gpu", "in use", 8)]),
        shown_node("vmss000001", "ready", [("gpu", "in use", 3), ("gpu", "free", 5)]),
        shown_node("vmss000002", "not ready", [("gpu", "not ready", 8)]),
    ),
    shown_pool(
        "shared",
        "NC8as_T4_v3",
        shown_node("vmss000000", "ready", [("share", "in use", 3), ("share", "free", 1)]),
    ),
    shown_pool(
        "sliced",
        "NC24ads_A100_v4",
        shown_node("vmss000000", "ready", [("slice", "in use", 2), ("slice", "free", 5)]),
        shown_node("vmss000001", "leaving", [("slice", "free", 7)]),
        shown_node("vmss000002", "ready", [("gpu", "not ready", 1)], note="no device plugin"),
    ),
]


def test_every_kind_of_gpu_is_drawn_and_told_without_color(browser: Browser) -> None:
    cluster = {
        **{"name": "research", "group": "research", "version": "1.36.1", "pods": []},
        **{"provisioningState": "Succeeded", "controlPlane": "running", "reason": None},
        "pools": GPUS_OF_ALL_KINDS,
    }
    rest = ("stacks", "operations", "stored", "scripts", "complaints", "requests")
    document = {"clusters": [cluster], "cost": 12.5, **{name: [] for name in rest}}
    known = Known(document)
    with served(known) as address:
        browser.open(address)
        browser.shows(
            "research", "$12.50 an hour", "leaving", "ready, no device plugin", "(0 to 9)"
        )
        assert browser.run(CELLS) == [
            "8 GPU in use",
            "3 GPU in use, 5 GPU free",
            "8 GPU not ready",
            "3 share of a GPU in use, 1 share of a GPU free",
            "2 slice of a GPU in use, 5 slice of a GPU free",
            "7 slice of a GPU free",
            "1 GPU not ready",
        ]
        looks = "({outlineStyle: o, borderStyle: s}) => [each.innerText, o, s].join()"
        drawn = browser.run(
            "return [...document.querySelectorAll('.cell')].map((each) => "
            f"[each.title.split(':')[0], ({looks})(getComputedStyle(each))])"
        )
        # Each kind in each state has looks of its own, without its color.
        assert len({look for _, look in drawn}) == len({title for title, _ in drawn}) == 7
        browser.look(width=1000, height=640)
        browser.picture(PICTURES / "kinds.png")
        browser.look(width=360, height=900)
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        # Markup in a name stays text.
        known.all = {**document, "clusters": [{**cluster, "name": "<b>bold</b>"}]}
        browser.shows("cluster <b>bold</b>: running")
        assert browser.run("return document.querySelector('h2').innerText") == "<b>bold</b> running"


@contextmanager
def served(known: Known) -> Iterator[str]:
    """Serves a page in a thread; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    port, loop = listener.getsockname()[1], asyncio.new_event_loop()
    runner = web.AppRunner(
        Page("t" * 64, port, cast("Any", known)).application(), shutdown_timeout=0.1
    )

    async def start() -> None:
        await runner.setup()
        await web.SockSite(runner, listener).start()

    loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/?token={'t' * 64}"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        listener.close()


def read_by_keyboard(browser: Browser) -> None:
    """Without a mouse: the box for reads, then the newest request, whose body has no secret."""
    browser.press(TAB)
    assert browser.run("return document.activeElement.id") == "reads"
    browser.press(TAB)
    line = browser.run("return document.activeElement.innerText")
    assert "/adfs/oauth2/token" in line or "PUT" in line
    browser.press(ENTER)
    whole = until(lambda: browser.run("return document.querySelector('pre')?.innerText"), "a body")
    assert json.loads(whole)["method"] in line
    assert 'secret":' not in whole
    # It stays open, and has the focus, whatever comes in meanwhile.
    browser.press(ENTER)
    assert not browser.run("return document.querySelector('details[open]')")


def look_at(browser: Browser) -> None:
    browser.look(width=1000, height=680)
    browser.picture(PICTURES / "light.png")
    browser.look(width=1000, height=680, scheme="dark")
    dark = browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.picture(PICTURES / "dark.png")
    browser.look(width=360, height=1400)
    assert browser.run("return getComputedStyle(document.body).backgroundColor") != dark
    browser.picture(PICTURES / "phone.png")
    # Nothing is wider than a phone.
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    browser.look(width=1200, height=900)
    named = accessible(browser)
    assert ("image", "1 GPU in use") in named
    assert ("checkbox", "Reads too") in named
    unnamed = [role for role, name in named if not name]
    assert not {"image", "checkbox", "heading"} & {*unnamed}


def accessible(browser: Browser) -> list[tuple[str, str]]:
    """What screen readers are told: roles, with their names."""
    tree = browser.tools("Accessibility.getFullAXTree")["nodes"]
    return [
        (each["role"]["value"], each.get("name", {}).get("value", ""))
        for each in tree
        if not each["ignored"]
    ]


@pytest.fixture
def other_page() -> Iterator[str]:
    """The address of a page of others on another port, whose cookies are the same."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>other</title>")

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


READ = "return fetch(arguments[0], arguments[1]).then((answer) => answer.text(), String)"
EMBED = """
const made = document.createElement(arguments[0]);
made.src = arguments[1];
return new Promise((resolve) => {
  made.onload = () => resolve(`loaded ${made.contentDocument?.body?.innerText}`);
  made.onerror = () => resolve("refused");
  document.body.append(made);
});
"""


def test_pages_of_others_in_the_same_browser_get_nothing(
    browser: Browser, running: Cloud, other_page: str
) -> None:
    address = address_of(running)
    page, _, token = address.partition("?")
    browser.open(address)
    browser.shows("Live")

    browser.open(other_page)
    for path in ("", "events", "requests/1", f"?{token}"):
        for mode in ("cors", "no-cors"):
            options = {"credentials": "include", "mode": mode}
            assert "Rehearsal" not in (text := browser.run(READ, page + path, options)), text
        assert "TypeError" in browser.run(READ, page + path, {"credentials": "include"})
    assert browser.run(EMBED, "script", f"{page}page.js") == "refused"
    assert "Rehearsal" not in browser.run(EMBED, "iframe", page)

    rebound = page.replace("127.0.0.1", "rebound.example")
    browser.open(f"{rebound}?{token}")
    assert "another address" in browser.text
    assert "another address" in browser.run(READ, f"{rebound}events", {})
    # Who has the cookie still has the page.
    browser.open(page)
    browser.shows("Live")
