"""Whatever a request says: it is answered, its operation ends, and all else stays as it is."""

import http.client
import json
import re
import sqlite3
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalogue.aks_types import aks_types
from rehearsal.arm import errors
from rehearsal.arm.aks import types
from rehearsal.arm.front import ROUTES
from rehearsal.arm.home import Home
from rehearsal.arm.request import Route
from rehearsal.cloud import Cloud
from tests.names import unique
from tests.rehearsal.arm.in_process import SUBSCRIPTION, Arm
from tests.rehearsal.arm.odd_bodies import ANYTHING, places, twisted, with_value
from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster
from tests.waiting import PATIENCE, until

V = f"?api-version={API_VERSION}"
VERSIONS = st.sampled_from([API_VERSION, "2023-11-01", "2026-08-02-preview"])
CLUSTER = "/providers/Microsoft.ContainerService/managedClusters"
POOL = {"properties": {"vmSize": "Standard_NC6", "count": 1}}
VALUES: dict[str, Any] = {
    "string": "a",
    "boolean": True,
    "integer": 1,
    "number": 1.5,
    "list": [],
    "object": {},
}
quick = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


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


# Sends a method, a path below the subscription, a body and a version; gives status and body.
Ask = Callable[[str, str, Any, str], tuple[int, Any]]


def of_line(line: Line) -> Ask:
    def ask(method: str, path: str, body: Any, version: str) -> tuple[int, Any]:
        address = f"{line.azure.subscription}{path}?api-version={version}"
        return line.send(method, address, b"" if body is None else json.dumps(body).encode())

    return ask


def of_this_process(arm: Arm) -> Ask:
    def ask(method: str, path: str, body: Any, version: str) -> tuple[int, Any]:
        reply = arm.call(method, f"/subscriptions/{SUBSCRIPTION}{path}", body, version)
        assert reply.status < 500 or reply.status == 501, (method, path, body, reply)
        return reply.status, reply.body

    return ask


def looks_right(ask: Ask, path: str, kind: str) -> None:
    """What is stored is of the types of the API, and everything can be listed."""
    status, body = ask("GET", path, None, API_VERSION)
    assert status == 200
    assert types.read(kind, body, "2023-11-01")
    usages = "/providers/Microsoft.Compute/locations/eastus/usages"
    assert ask("GET", usages, None, API_VERSION)[0] == 200


def try_bodies(ask: Ask, path: str, kind: str, sent: list[Any], version: str) -> None:
    """Sends bodies one after the other, and deletes what they have made."""

    def is_over() -> bool:
        shown = ask("GET", path, None, API_VERSION)[1]
        return shown["properties"]["provisioningState"] in ("Succeeded", "Failed")

    is_there = False
    for body in sent:
        status, _ = ask("PUT", path, body, version)
        is_there = is_there or status == 201
        if is_there:
            looks_right(ask, path, kind)
            until(is_over, "what was asked for is over")
    if is_there:
        assert ask("DELETE", path, None, API_VERSION)[0] == 202
        until(lambda: ask("GET", path, None, API_VERSION)[0] == 404, "it is gone")


@pytest.mark.parametrize("kind", ["ManagedCluster", "AgentPool"])
def test_a_value_of_the_wrong_type_is_refused_at_any_depth(kind: str) -> None:
    """Only some fields at the top were judged; what stood deeper was stored as it came."""
    for path, belongs in places(kind):
        container = belongs.partition(" of ")[0]
        container = {"map": "object"}.get(container, container)
        container = "object" if belongs in aks_types() else container
        for name, value in VALUES.items():
            is_right = container in (name, "anything") or (container, name) == ("number", "integer")
            # Resource Manager, not AKS, reads what stands beside the properties.
            is_text = path[0] != "properties" and container == "string"
            is_right = is_right or (is_text and name in ("boolean", "integer", "number"))
            body = with_value({}, path, value)
            if is_right:
                assert types.read(kind, body, API_VERSION)
                continue
            with pytest.raises(errors.ArmError) as refused:
                types.read(kind, body, API_VERSION)
            is_aks = path[0] == "properties"
            assert refused.value.refusal.code == (
                "UnmarshalError" if is_aks else "InvalidRequestContent"
            )
            assert (
                str([step for step in path if isinstance(step, str)][-1]) in refused.value.message
            )


def bodies(kind: str, right: Any) -> st.SearchStrategy[list[Any]]:
    """The first one is right at times, so that there is something for the second one to change."""
    twist = twisted(kind, right)
    return st.tuples(st.just(right) | twist, twist).map(list)


POOLS = given(sent=bodies("AgentPool", POOL), version=VERSIONS)
CLUSTERS = given(sent=bodies("ManagedCluster", new_cluster()), version=VERSIONS)


@quick
@POOLS
def test_any_body_of_a_pool_is_answered(
    line: Line, cluster: str, sent: list[Any], version: str
) -> None:
    try_bodies(of_line(line), f"{cluster}/agentPools/{unique('p')}", "AgentPool", sent, version)


@quick
@CLUSTERS
def test_any_body_of_a_cluster_is_answered(
    line: Line, group: str, sent: list[Any], version: str
) -> None:
    name = f"/resourceGroups/{group}{CLUSTER}/{unique('any')}"
    try_bodies(of_line(line), name, "ManagedCluster", sent, version)


many = settings(quick, max_examples=1000)


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm()


@pytest.mark.long
@many
@POOLS
def test_any_body_of_a_pool_is_answered_with_many_examples(
    arm: Arm, sent: list[Any], version: str
) -> None:
    ask, cluster = of_this_process(arm), f"/resourceGroups/group{CLUSTER}/of-pools"
    if ask("GET", cluster, None, API_VERSION)[0] == 404:
        assert ask("PUT", cluster, new_cluster(), API_VERSION)[0] == 201
    try_bodies(ask, f"{cluster}/agentPools/{unique('p')}", "AgentPool", sent, version)


@pytest.mark.long
@many
@CLUSTERS
def test_any_body_of_a_cluster_is_answered_with_many_examples(
    arm: Arm, sent: list[Any], version: str
) -> None:
    name = f"/resourceGroups/group{CLUSTER}/{unique('any')}"
    try_bodies(of_this_process(arm), name, "ManagedCluster", sent, version)


GROUP = {"location": "eastus", "tags": {"a": "b"}}
DEEP = 100_000


def nested(levels: int) -> bytes:
    return b'{"location": "eastus", "tags": ' + b'{"a": ' * levels + b"1" + b"}" * levels + b"}"


@pytest.mark.parametrize(
    "content",
    [
        b'{"location": "eastus", "tags": {"a": NaN}}',
        b'{"location": "eastus", "tags": {"a": -Infinity}}',
        b'{"location": "eastus", "managedBy": 1e400}',
        b'{"location": "eastus", "managedBy": ' + b"9" * 5000 + b"}",
        b'{"location": "eastus", "tags": {"a": "\\u0000"}}',
        b'{"location": "eastus", "tags": {"\\ud800": "b"}}',
        b'{"location": "eastus", "tags": {"a": "\xff"}}',
        b'{"location": "eastus", "tags": "x"}',
        b'{"location": "eastus", "tags": ["x"]}',
        b'{"location": "eastus", "tags": {"a": {}}}',
        b'{"location": ["eastus"]}',
        nested(2),
        nested(900),
        nested(DEEP),
        b"[" * DEEP,
        b"{}}",
        b"\x00\x01\x02",
    ],
    ids=lambda content: repr(content[:60]),
)
def test_json_that_cannot_be_stored_is_refused(line: Line, content: bytes) -> None:
    """NaN was stored and broke every list of usages; deep JSON was stored and answered by a 500."""
    path = f"{line.azure.subscription}/resourceGroups/{unique('odd')}{V}"
    status, body = line.send("PUT", path, content)
    assert (status, body["error"]["code"]) == (400, "InvalidRequestContent")
    assert line.send("GET", path)[0] == 404
    groups = line.send("GET", f"{line.azure.subscription}/resourceGroups{V}")
    assert groups[0] == 200


@pytest.mark.parametrize(
    "many",
    [
        {"nodeLabels": {f"label{number}": "a" for number in range(10_000)}},
        {"nodeTaints": [f"taint{number}=a:NoSchedule" for number in range(5_000)]},
        {"tags": {f"tag{number}": "a" * 200 for number in range(10_000)}},
    ],
    ids=lambda many: next(iter(many)),
)
def test_a_very_large_body_is_answered(line: Line, cluster: str, many: dict[str, Any]) -> None:
    body = {"properties": {**POOL["properties"], **many}}
    try_bodies(
        of_line(line), f"{cluster}/agentPools/{unique('m')}", "AgentPool", [body], API_VERSION
    )


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
        ({"localDNSProfile": {"vnetDNSOverrides": {".": {"protokol": "a"}}}}, "protokol"),
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


@given(content=st.binary(max_size=40) | ANYTHING.map(lambda one: json.dumps(one).encode()))
@quick
def test_any_content_is_answered(line: Line, group: str, content: bytes) -> None:
    start = f"{line.azure.subscription}/resourceGroups/{group}"
    for path in (start, f"{start}{CLUSTER}/c"):
        for method in ("PUT", "PATCH"):
            line.send(method, f"{path}{V}", content)


@pytest.mark.parametrize(
    "kind",
    ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded; charset=banana", "a/b"],
)
def test_a_token_is_asked_for_with_a_form(line: Line, kind: str) -> None:
    """A form of several parts was a fault of the server."""
    parts = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'
    status, body = line.send("POST", "/adfs/oauth2/token", parts, Content_Type=kind)
    assert (status, body["error"]) == (400, "unsupported_grant_type")


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"x", b'{"spec": 1}', b'{"spec": {}}'])
def test_an_invalid_token_review_is_refused(line: Line, content: bytes) -> None:
    status, body = line.send("POST", "/rehearsal/clusters/any/tokenreviews", content)
    assert status == 400 or body["status"] == {"authenticated": False}


def test_a_token_review_that_is_too_long_is_refused(line: Line) -> None:
    content = b'"' + b"a" * (4 << 20) + b'"'
    status, body = line.send("POST", "/rehearsal/clusters/any/tokenreviews", content)
    assert (status, body["error"]["code"]) == (413, "RequestContentTooLarge")


@pytest.mark.parametrize(("method", "address"), [("OPTIONS", "*"), ("CONNECT", "localhost:1")])
def test_a_request_target_without_a_path_is_refused(line: Line, method: str, address: str) -> None:
    assert line.send(method, address)[0] == 501


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "ä"},
        {"Host": "a b"},
        {"x_ms_correlation_request_id": "ä"},
        {"Content_Encoding": "gzip"},
        {"Content_Encoding": "deflate"},
        {"Content_Type": "\xff"},
        {"If_Match": "\xff"},
        {"Authorization": "Bearer \xff"},
        {"AKSHTTPCustomFeatures": "\xff"},
        {"If_Match": 'W/"a"'},
        {"If_None_Match": "a" * 7000},
        {"Expect": "100-continue"},
        {"Expect": "banana"},
        {"Range": "bytes=9-1"},
        {"Upgrade": "websocket", "Connection": "Upgrade"},
        {"Content_Type": "application/json; charset=banana"},
        {"X_HTTP_Method_Override": "DELETE"},
    ],
)
def test_odd_headers_are_answered(line: Line, group: str, headers: dict[str, str]) -> None:
    path = f"{line.azure.subscription}/resourceGroups/{group}{V}"
    line.send("PUT", path, json.dumps(GROUP).encode(), **headers)


CHUNKS = b"2\r\n{}\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("headers", "content"),
    [
        ({"Transfer_Encoding": "chunked"}, CHUNKS),
        ({"Transfer_Encoding": "gzip, chunked"}, CHUNKS),
        ({"Transfer_Encoding": "chunked", "Content_Length": "3"}, CHUNKS),
        ({"Content_Length": "banana"}, b"{}"),
        ({"Content_Length": "-1"}, b"{}"),
        ({}, b"\xef\xbb\xbf{}"),
        ({}, "{}".encode("utf-16")),
    ],
)
def test_odd_ways_to_send_a_body_are_answered(
    line: Line, cluster: str, headers: dict[str, str], content: bytes
) -> None:
    for where in (cluster, f"{cluster}/agentPools/odd"):
        line.send("PUT", f"{line.azure.subscription}{where}{V}", content, **headers)
    looks_right(of_line(line), cluster, "ManagedCluster")


@pytest.mark.parametrize("method", ["TRACE", "FOO", "get", "M-SEARCH", "A" * 200])
def test_odd_methods_are_refused(line: Line, cluster: str, method: str) -> None:
    for where in (cluster, f"{cluster}/agentPools", f"{cluster}/start"):
        assert line.send(method, f"{line.azure.subscription}{where}{V}")[0] in (400, 501)


ODD_NAMES = ("%00", "%ff", "%ed%a0%80", "a%2fb", "a" * 300)
ODD_QUERIES = ("9" * 6000, "%D9%A3", "%00", "", "a%20eq%20'b", "2025-13-45")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.template}")
def test_odd_urls_are_answered(line: Line, cluster: str, route: Route) -> None:
    """Each address that the server has, with odd names in it, odd queries, and odd bodies."""
    start = line.azure.subscription
    _, _, group, *_, name = cluster.split("/")
    right = {"group": group, "cluster": name, "location": "eastus", "pool": "system"}
    names = re.findall(r"\{(\w+)\}", route.template)
    for odd in ODD_NAMES:
        for one in names:
            path = route.template.format_map(dict.fromkeys(names, "a") | right | {one: odd})
            line.send(route.method, f"{start}{path}{V}")
    # What follows must not take away what stands there.
    if route.method != "DELETE":
        path = route.template.format_map(dict.fromkeys(names, "odd") | {"location": "eastus"})
        for content in (b"", b"{}", b"[]", b'"x"', b'{"properties": {}}', b'{"properties": 1}'):
            line.send(route.method, f"{start}{path}{V}", content)
    path = route.template.format_map(dict.fromkeys(names, "a") | right)
    # A list of all sizes takes its time.
    if route.method == "GET" and "/skus" not in route.template:
        for odd in ODD_QUERIES:
            for one in ("$skipToken", "$filter", "$top", "$expand"):
                line.send(route.method, f"{start}{path}{V}&{one}={odd}")
            line.send(route.method, f"{start}{path}?api-version={odd}")


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
