"""Bodies of requests: what stands in them is of the types of the API, or refused."""

import http.client
import json
import sqlite3
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest

from rehearsal.arm import errors
from rehearsal.arm.aks import types
from rehearsal.arm.home import Home
from rehearsal.cloud import Cloud
from tests.names import unique
from tests.rehearsal.conftest import API_VERSION, Azure
from tests.waiting import PATIENCE

V = f"?api-version={API_VERSION}"


@dataclass
class Line:
    """One connection to a cloud, over which anything can be sent."""

    azure: Azure
    _connection: http.client.HTTPSConnection | None = field(default=None, init=False)

    def send(self, method: str, path: str, content: bytes = b"", **headers: str) -> tuple[int, Any]:
        """The status and the body of an answer, which is never a fault of the server's own."""
        if self._connection is None:
            host = self.azure.cloud.url.removeprefix("https://")
            context = ssl.create_default_context(cafile=self.azure.ca)
            self._connection = http.client.HTTPSConnection(host, timeout=PATIENCE, context=context)
        sent = {
            "Authorization": f"Bearer {self.azure.own_token()}",
            "Content-Type": "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        self._connection.request(method, path, content or None, sent)
        response = self._connection.getresponse()
        text = response.read()
        if response.will_close:
            self.close()
        # 501 is the word for what the rehearsal does not have.
        assert response.status < 500 or response.status == 501, (method, path, content[:300], text)
        is_text = response.headers.get_content_type() == "text/plain"
        if response.status in (400, 417) and is_text:
            # No request of HTTP: the web server refuses it by itself.
            return response.status, None
        return response.status, json.loads(text, parse_constant=pytest.fail) if text else None

    def put(self, path: str, body: Any, version: str = API_VERSION) -> tuple[int, Any]:
        address = f"{self.azure.subscription}{path}?api-version={version}"
        return self.send("PUT", address, json.dumps(body).encode())

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@pytest.fixture
def line(azure: Azure) -> Iterator[Line]:
    line = Line(azure)
    yield line
    line.close()


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"properties": {"count": "3"}}, "UnmarshalError", "properties.count"),
        ({"properties": {"nodeLabels": ["a"]}}, "UnmarshalError", "properties.nodeLabels"),
        ({"properties": {"kubeletConfig": {"failSwapOn": "no"}}}, "UnmarshalError", "failSwapOn"),
        ({"properties": "x"}, "UnmarshalError", "properties"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_at_any_depth(
    body: dict[str, Any], code: str, field: str
) -> None:
    """Only some fields at the top were judged; what stood deeper was stored as it came."""
    with pytest.raises(errors.ArmError) as refused:
        types.read("AgentPool", body, API_VERSION)
    assert refused.value.refusal.code == code
    assert field in refused.value.message


GROUP = {"location": "eastus", "tags": {"a": "b"}}


@pytest.mark.parametrize(
    "content",
    [
        b'{"location": "eastus", "tags": {"a": NaN}}',
        b'{"location": "eastus", "tags": {"a": "\xff"}}',
        b'{"location": "eastus", "tags": "x"}',
        b'{"location": "eastus", "tags": ["x"]}',
        b'{"location": "eastus", "tags": {"a": {}}}',
        b'{"location": ["eastus"]}',
        b"{}}",
    ],
    ids=lambda content: repr(content[:60]),
)
def test_json_that_cannot_be_stored_is_refused(line: Line, content: bytes) -> None:
    """NaN was stored and broke every list of usages."""
    path = f"{line.azure.subscription}/resourceGroups/{unique('odd')}{V}"
    status, body = line.send("PUT", path, content)
    assert (status, body["error"]["code"]) == (400, "InvalidRequestContent")
    assert line.send("GET", path)[0] == 404
    groups = line.send("GET", f"{line.azure.subscription}/resourceGroups{V}")
    assert groups[0] == 200


def test_tags_are_stored_as_strings(line: Line) -> None:
    """Resource Manager reads a number as the text that it is."""
    path = f"/resourceGroups/{unique('tagged')}"
    assert line.put(path, {"Location": "eastus", "tags": {"a": 1, "b": True, "c": None}})[0] == 201
    shown = line.azure.call("GET", f"{path}{V}").body
    assert shown["tags"] == {"a": "1", "b": "true", "c": ""}


@pytest.mark.parametrize(
    ("properties", "name"),
    [
        ({"gpuProfile": {"drivr": "None"}}, "drivr"),
        ({"networkProfile": {"nodePublicIPTags": [{"tagg": "a"}]}}, "tagg"),
    ],
)
def test_an_unknown_field_is_refused_at_any_depth(
    line: Line, cluster: str, properties: dict[str, Any], name: str
) -> None:
    """A typing error in a profile was taken, and the profile was not what its author meant."""
    body = {"properties": {"vmSize": "Standard_NC6", **properties}}
    status, refused = line.put(f"{cluster}/agentPools/deep", body)
    assert (status, refused["code"]) == (400, "UnmarshalError")
    assert f'unknown field "{name}"' in refused["message"]


def test_names_are_found_in_any_case(line: Line, cluster: str) -> None:
    body = {"Properties": {"VMSIZE": "Standard_NC6", "nodelabels": {"Team": "a"}}}
    status, made = line.put(f"{cluster}/agentPools/case", body)
    assert (status, made["properties"]["nodeLabels"]) == (201, {"Team": "a"})
    assert made["properties"]["vmSize"] == "Standard_NC6"


def test_the_last_of_two_equal_names_is_used(line: Line) -> None:
    path = f"{line.azure.subscription}/resourceGroups/{unique('twice')}{V}"
    status, body = line.send("PUT", path, b'{"location": "westus", "location": "eastus"}')
    assert (status, body["location"]) == (201, "eastus")


def test_a_body_above_four_megabytes_is_refused(line: Line) -> None:
    path = f"{line.azure.subscription}/resourceGroups/{unique('large')}{V}"
    most = 4 << 20
    body = json.dumps(GROUP).encode()
    assert line.send("PUT", path, body.ljust(most))[0] == 201
    status, refused = line.send("PUT", path, body.ljust(most + 1))
    assert (status, refused["error"]["code"]) == (413, "RequestContentTooLarge")


def test_an_internal_error_has_the_format_of_resource_manager(
    start_cloud: Callable[[], Cloud],
) -> None:
    """Some were a plain text, and had no line in either log."""
    azure = Azure(start_cloud())
    home = Home(azure.cloud.home)
    azure.call("PUT", f"/resourceGroups/some{V}", {"location": "eastus"})
    with closing(sqlite3.connect(home.database)) as state, state:
        state.execute("UPDATE resources SET body = 'x'")
    reply = azure.call("GET", f"/resourceGroups/some{V}")
    assert (reply.status, reply.body["error"]["code"]) == (500, "InternalServerError")
    assert (
        f"GET '{azure.subscription}/resourceGroups/some'\nTraceback" in home.server_log.read_text()
    )
    assert [request["status"] for request in azure.requests("/some")] == [201, 500]
