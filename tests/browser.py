"""Chromium without a window, driven by WebDriver, the protocol that all browsers have.

Debian has both programs in `chromium` and `chromium-driver`. The protocol is JSON over HTTP, so no
package is needed for the few commands here.
"""

import base64
import http.client
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.waiting import PATIENCE, until

CHROMIUM, DRIVER = ("chromium", "chromium-browser", "google-chrome"), ("chromedriver",)
_STARTED = re.compile(r"started successfully on port (\d+)")
# As root, as in a container, Chromium has no sandbox. It looks for no news by itself.
_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run"),
    "--hide-scrollbars",
    # A name of others that leads to this machine.
    "--host-resolver-rules=MAP rebound.example 127.0.0.1",
)


def missing() -> str:
    """What is missing for a browser, and how to get it; empty if nothing is."""
    lacking = [names[0] for names in (CHROMIUM, DRIVER) if not any(map(shutil.which, names))]
    how = "Debian: apt-get install chromium chromium-driver"
    return f"no browser: {' and '.join(lacking)} not found ({how})" if lacking else ""


@dataclass(frozen=True)
class Browser:
    """One window of a browser of its own, without cookies."""

    session: str

    def call(self, method: str, command: str, body: Any = None) -> Any:
        return _call(method, f"{self.session}/{command}", body)

    def open(self, address: str) -> None:
        self.call("POST", "url", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns in the page."""
        return self.call("POST", "execute/sync", {"script": script, "args": arguments})

    @property
    def text(self) -> str:
        """What a person can read on the page."""
        return str(self.run("return document.body.innerText"))

    def shows(self, *words: str) -> str:
        """Waits until the page has all words, and gives its text."""
        return until(
            lambda: text if all(word in (text := self.text) for word in words) else None,
            f"the page has {words}",
        )

    def press(self, key: str) -> None:
        """Presses a key where the focus is."""
        steps = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        keyboard = {"type": "key", "id": "keyboard", "actions": steps}
        self.call("POST", "actions", {"actions": [keyboard]})

    def tools(self, command: str, **parameters: Any) -> Any:
        """A command of Chromium's own protocol."""
        return self.call("POST", "goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, *, width: int, height: int, scheme: str = "light") -> None:
        """Makes it as large as a screen, and light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.tools("Emulation.setDeviceMetricsOverride", **size)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.tools("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(self.call("GET", "screenshot")))

    def complaints(self) -> list[str]:
        """What the browser had to say since the last call: errors, and what a policy refused."""
        return [line["message"] for line in self.call("POST", "se/log", {"type": "browser"})]

    def hosts(self) -> set[str]:
        """The hosts that were asked since the last call, by whatever there is in the browser."""
        lines = self.call("POST", "se/log", {"type": "performance"})
        events = [json.loads(line["message"])["message"] for line in lines]
        asked = (
            urlsplit(event["params"]["request"]["url"])
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        )
        return {address.netloc for address in asked if address.scheme in ("http", "https", "ws")}


@contextmanager
def opened(folder: Path) -> Iterator[Browser]:
    """Starts a browser, which keeps its files in a folder; ends it, with all that it started."""
    driver = subprocess.Popen(
        ["chromedriver", "--port=0"],  # noqa: S607 (Debian's)
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert driver.stdout is not None
        lines = (_STARTED.search(line) for line in driver.stdout)
        port = next(found[1] for found in lines if found)
        options = {
            "binary": next(filter(None, map(shutil.which, CHROMIUM))),
            "args": [*_OPTIONS, f"--user-data-dir={folder}"],
        }
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        sessions = f"http://127.0.0.1:{port}/session"
        made = _call("POST", sessions, {"capabilities": {"alwaysMatch": wanted}})
        browser = Browser(f"{sessions}/{made['sessionId']}")
        try:
            yield browser
        finally:
            _call("DELETE", browser.session)
    finally:
        driver.terminate()
        driver.wait()


def _call(method: str, address: str, body: Any = None) -> Any:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    try:
        connection.request(method, parts.path, None if body is None else json.dumps(body))
        answer = json.load(connection.getresponse())["value"]
    finally:
        connection.close()
    assert not (isinstance(answer, dict) and "error" in answer), answer
    return answer
