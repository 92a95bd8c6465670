"""Whoever opens the page, without a browser."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from rehearsal import cloud
from rehearsal.cloud import Cloud
from tests.waiting import PATIENCE


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class Reader:
    host: str
    token: str
    own: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, running: Cloud) -> "Reader":
        address = cloud.page_of(running.home)
        assert address is not None
        parts = urlsplit(address)
        return cls(parts.netloc, parts.query.removeprefix("token="))

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Underscores in names of headers are dashes."""
        sent = {**self.own, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        try:
            connection.request(method, path, headers=sent)
            answer = connection.getresponse()
            is_stream = "event-stream" in (answer.headers["Content-Type"] or "")
            # The first event, without its end.
            content = answer.readline() if is_stream else answer.read()
            return Answer(answer.status, dict(answer.headers), content.decode())
        finally:
            connection.close()

    def sign_in(self) -> "Reader":
        answer = self.ask(f"/?token={self.token}")
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        self.own = {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}
        return self

    def document(self) -> Any:
        return json.loads(self.ask("/events").text.removeprefix("data: "))
