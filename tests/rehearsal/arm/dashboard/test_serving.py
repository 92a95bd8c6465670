"""The page of a server: who gets it, who does not, and what it never shows."""

import http.client
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from rehearsal import cloud
from rehearsal.arm.dashboard import serving
from rehearsal.arm.dashboard.serving import FILES, HEADERS, load_token
from rehearsal.cloud import Cloud
from tests.names import unique
from tests.rehearsal.arm.dashboard.reader import Reader
from tests.rehearsal.conftest import API_VERSION, new_cluster, wait_until_made
from tests.waiting import PATIENCE

PATHS = ["/", *(f"/{name}" for name in FILES), "/events", "/requests/1"]


@pytest.fixture
def stranger(azure: Any) -> Reader:
    """Somebody who knows the address, and has no cookie."""
    return Reader.of(azure.cloud)


@pytest.fixture
def reader(azure: Any) -> Reader:
    return Reader.of(azure.cloud).sign_in()


def test_the_address_opens_the_page_once_and_leaves_no_token(stranger: Reader) -> None:
    answer = stranger.ask(f"/?token={stranger.token}")
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    cookie, *limits = answer.headers["Set-Cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} == {*limits}
    # Who reads the cookie of one port does not have the token, and two rehearsals do not collide.
    assert stranger.token not in cookie
    assert cookie.startswith(f"rehearsal-{stranger.host.partition(':')[2]}=")
    assert "<h1>Rehearsal</h1>" in stranger.sign_in().ask("/").text


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_shown_without_the_token(stranger: Reader, path: str) -> None:
    name = f"rehearsal-{stranger.host.partition(':')[2]}"
    for cookie in ("", f"{name}=", f"{name}={stranger.token}", f"{name}=\N{EURO SIGN}"):
        refused = stranger.ask(path, Cookie=cookie.encode().decode("latin-1"))
        assert refused.status == 403
        assert "aksgpu dashboard" in refused.text
    for token in ("", stranger.token[:-1], f"{stranger.token}0", "%ff%00"):
        assert stranger.ask(f"{path}?token={token}").status == 403


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebound.example"},
        {"Host": "rebound.example:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": "localhost"},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.0.0.1.rebound.example:{port}"},
        {"Host": ""},
        {"Origin": "https://other.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=str,
)
def test_other_names_and_other_origins_are_refused(
    reader: Reader, path: str, headers: dict[str, str]
) -> None:
    """Whatever page is open in the same browser sends the cookie to the port as well."""
    port = reader.host.partition(":")[2]
    sent = {name: value.format(port=port) for name, value in headers.items()}
    assert reader.ask(path, **sent).status == 403
    assert reader.ask(f"/?token={reader.token}", **sent).status == 403


def test_both_names_of_this_machine_lead_to_the_page(reader: Reader) -> None:
    port = reader.host.partition(":")[2]
    for host in ("127.0.0.1", "localhost"):
        own = {"Host": f"{host}:{port}", "Origin": f"http://{host}:{port}"}
        assert reader.ask("/", **own, Sec_Fetch_Site="same-origin").status == 200


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_nothing_can_be_written(reader: Reader, path: str, method: str) -> None:
    answer = reader.ask(path, method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET")
    assert "Access-Control-Allow-Origin" not in answer.headers
    # Not even a cookie is given.
    assert reader.ask(f"/?token={reader.token}", method).status == 405


def test_every_answer_has_the_headers(reader: Reader, stranger: Reader) -> None:
    answers = [reader.ask(path) for path in (*PATHS, "/nothing", "/requests/999999999")]
    answers += [stranger.ask(path) for path in ("/", f"/?token={stranger.token}")]
    answers.append(reader.ask("/", "PUT"))
    for answer in answers:
        assert HEADERS.items() <= answer.headers.items()
    policy = HEADERS["Content-Security-Policy"].split("; ")
    assert {"default-src 'self'", "frame-ancestors 'none'"} <= {*policy}
    assert (HEADERS["X-Content-Type-Options"], HEADERS["Cache-Control"]) == ("nosniff", "no-store")
    assert HEADERS["Referrer-Policy"] == "no-referrer"


def test_no_file_of_the_page_names_another_machine_or_has_a_script_inside() -> None:
    folder = Path(serving.__file__).parent
    for name in ("page.html", *FILES):
        text = (folder / name).read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//\w|\bimport\(|innerHTML|\beval\b", text), name
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\bstyle=", text), name


def test_the_page_lists_requests_and_has_the_body_of_each_without_secrets(
    azure: Any, reader: Reader
) -> None:
    group = unique("shown")
    body = {"location": "eastus", "tags": {"team": "vision"}}
    azure.call("PUT", f"/resourceGroups/{group}?api-version=2025-04-01", body)
    [line] = [each for each in reader.document()["requests"] if group in each["path"]]
    assert (line["method"], line["path"]) == ("PUT", f"/resourceGroups/{group}")
    assert line["status"] == 201
    whole = json.loads(reader.ask(f"/requests/{line['number']}").text)
    assert whole["body"] == body
    assert whole["withheld"] == ["authorization"]


def test_a_page_that_is_open_hears_of_a_change(azure: Any, reader: Reader) -> None:
    before = reader.document()["requests"][0]["number"]
    azure.call("GET", "/resourceGroups?api-version=2025-04-01")
    assert reader.document()["requests"][0]["number"] > before


def test_no_secret_is_on_the_page(azure: Any, reader: Reader) -> None:
    """Everything that a page can get, searched for everything that the rehearsal keeps secret."""
    group = unique("hidden")
    azure.call("PUT", f"/resourceGroups/{group}?api-version=2025-04-01", {"location": "eastus"})
    path = f"/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/{group}"
    sent = new_cluster(
        servicePrincipalProfile={"clientId": "shown-id", "secret": "sp-secret-value"},
        windowsProfile={"adminUsername": "admin", "adminPassword": "Windows-password-value1"},
        httpProxyConfig={"httpProxy": "http://user:proxy-password-value@proxy:3128"},
    )
    own = {"X-Own": "header-value", "Cookie": "crumbs-value"}
    azure.call("PUT", f"{path}?api-version={API_VERSION}", sent, headers=own)
    wait_until_made(azure, path)
    azure.call("POST", f"{path}/listClusterAdminCredential?api-version={API_VERSION}")
    # Signs in again, with the secret in the body.
    fresh = azure.credential().get_token(f"{azure.cloud.url}/.default").token

    everything = read_all(reader)
    home = azure.cloud.home
    secrets = [
        "sp-secret-value",
        "Windows-password-value1",
        "proxy-password-value",
        "header-value",
        "crumbs-value",
        azure.cloud.client_secret,
        azure.own_token(),
        fresh,
        reader.token,
        "Bearer ",
        "PRIVATE KEY",
        *private_lines(home),
    ]
    assert "shown-id" in everything
    assert not [secret for secret in secrets if secret in everything]


def read_all(reader: Reader) -> str:
    document = reader.document()
    paths = [f"/requests/{line['number']}" for line in document["requests"]]
    return "\n".join(reader.ask(path).text for path in [*PATHS, *paths])


def private_lines(home: Path) -> list[str]:
    keys = [*home.glob("*-key.pem"), *home.rglob("*.key")]
    assert len(keys) >= 2
    return [line for key in keys for line in key.read_text().splitlines() if len(line) > 60]


@pytest.mark.long
def test_no_secret_of_a_cluster_is_on_the_page(todays_cloud: Cloud, azure_of: Any) -> None:
    """Its pods can have secrets, its kubeconfig is one, and its authority has a key."""
    azure = azure_of(todays_cloud)
    path = azure.cluster_in("westus2")
    listed = azure.call("POST", f"{path}/listClusterAdminCredential?api-version={API_VERSION}")
    value = listed.body["kubeconfigs"][0]["value"]

    reader = Reader.of(todays_cloud).sign_in()
    everything = read_all(reader)
    [cluster] = [
        each for each in reader.document()["clusters"] if each["group"] == path.split("/")[2]
    ]
    assert [node["state"] for node in cluster["pools"][0]["nodes"]] == ["ready"]
    secrets = [value, *private_lines(todays_cloud.home)]
    assert not [secret for secret in secrets if secret in everything]


def test_the_token_is_made_once_and_anew_where_it_is_damaged(tmp_path: Path) -> None:
    """An empty one would open the page for everybody who sends none."""
    file = tmp_path / "page-token"
    token = load_token(file)
    assert load_token(file) == token
    assert file.stat().st_mode & 0o777 == 0o600
    for damaged in (b"", b"\n", token[:10].encode(), b"\xff" * 64):
        file.write_bytes(damaged)
        assert len(load_token(file)) == len(token)


def test_a_server_with_an_open_page_ends_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = cloud.start(tmp_path / "home", 0.005)
    reader = Reader.of(running).sign_in()
    page = http.client.HTTPConnection(reader.host, timeout=PATIENCE)
    page.request("GET", "/events", headers=reader.own)
    assert page.getresponse().readline().startswith(b"data: ")
    monkeypatch.setattr(cloud, "STOP_SECONDS", {signal.SIGTERM: PATIENCE})
    assert cloud.stop(running.home)
    page.close()
    assert cloud.page_of(running.home) is None
    # The same address and the same token: what was open goes on.
    again = cloud.start(running.home, 0.005)
    try:
        assert Reader.of(again).host == reader.host
        assert reader.ask("/").status == 200
    finally:
        cloud.stop(running.home)
