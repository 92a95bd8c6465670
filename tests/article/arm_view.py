"""Reads the rehearsal's ARM server: resources with GET, and its log of requests."""

import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from rehearsal.cloud import Cloud
from rehearsal.files import read_log

Json = Any

API_VERSION = "2025-09-01"
NOT_FOUND = 404
SECONDS = 30.0


@dataclass(frozen=True)
class Request:
    """A request as the server received it, and the status of the response."""

    time: datetime
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Json
    status: int

    @property
    def is_accepted(self) -> bool:
        return 200 <= self.status < 300

    def header(self, name: str) -> str | None:
        values = (value for each, value in self.headers.items() if each.lower() == name.lower())
        return next(values, None)

    def is_for(self, method: str, end_of_path: str) -> bool:
        return self.method == method and self.path.lower().endswith(end_of_path.lower())


@dataclass(frozen=True)
class Azure:
    """Reads one rehearsal cloud."""

    cloud: Cloud

    def get(self, path: str) -> Json:
        """The resource at a path in the subscription; None if it does not exist."""
        host = self.cloud.url.removeprefix("https://")
        context = ssl.create_default_context(cafile=str(self.cloud.ca_bundle))
        connection = http.client.HTTPSConnection(host, timeout=SECONDS, context=context)
        token = {"Authorization": f"Bearer {self._token(connection)}"}
        address = f"/subscriptions/{self.cloud.subscription}{path}?api-version={API_VERSION}"
        connection.request("GET", address, headers=token)
        response = connection.getresponse()
        content = json.load(response)
        connection.close()
        return None if response.status == NOT_FOUND else content

    def requests(self) -> list[Request]:
        """All requests to it, in order."""
        lines = read_log(self.cloud.request_log).splitlines()
        return [_request(json.loads(line)) for line in lines]

    def requests_for(self, method: str, end_of_path: str) -> list[Request]:
        return [request for request in self.requests() if request.is_for(method, end_of_path)]

    def _token(self, connection: http.client.HTTPSConnection) -> str:
        form = {
            "grant_type": "client_credentials",
            "client_id": self.cloud.client_id,
            "client_secret": self.cloud.client_secret,
            "resource": self.cloud.url,
        }
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/adfs/oauth2/token", urlencode(form), kind)
        token: str = json.load(connection.getresponse())["access_token"]
        return token


def _request(line: Mapping[str, Any]) -> Request:
    values = {field.name: line[field.name] for field in fields(Request)}
    return Request(**values | {"time": datetime.fromisoformat(line["time"])})
