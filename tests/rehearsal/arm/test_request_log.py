"""Every request leaves a line, and no line lets its reader sign in."""

import http.client
import ssl
from collections.abc import Callable
from typing import Any

import pytest

from tests.faults import Faults
from tests.waiting import PATIENCE

V = "?api-version=2026-08-01"


def test_a_line_has_the_request_and_its_answer(azure: Any, cluster: str) -> None:
    body = {"properties": {"vmSize": "Standard_NC6", "nodeLabels": {"a": "b"}}}
    shown = {"UseGPUDedicatedVHD": "true", "x-lower": "1", "AKSHTTPCustomFeatures": "A/b"}
    hidden = {"X-Team": "may-be-a-secret", "x-ms-of-our-own": "may-be-a-secret"}
    headers = shown | {"x-ms-client-request-id": "id"} | hidden
    azure.register_specialized_image()
    azure.call("PUT", f"{cluster}/agentPools/logged{V}", body, headers=headers)
    [line] = azure.requests("/agentPools/logged")
    assert set(line) == {
        *("time", "method", "path", "query", "headers", "withheld", "body", "status")
    }
    assert line["withheld"] == ["authorization"]
    assert (line["method"], line["status"]) == ("PUT", 201)
    assert line["path"] == f"{azure.subscription}{cluster}/agentPools/logged"
    assert line["query"] == {"api-version": "2026-08-01"}
    assert line["body"] == body
    assert (shown | dict.fromkeys(hidden, "[secret]")).items() <= line["headers"].items()


def test_failed_requests_are_logged(azure: Any) -> None:
    azure.call("GET", f"/resourceGroups/never-there{V}")
    azure.call("PUT", "/resourceGroups/never-there", {"location": "eastus"}, token=None)
    lines = azure.requests("/resourceGroups/never-there")
    assert [line["status"] for line in lines] == [404, 401]
    assert lines[1]["body"] == {"location": "eastus"}


def test_a_body_that_is_no_json_is_not_logged(azure: Any, group: str) -> None:
    host = azure.cloud.url.removeprefix("https://")
    context = ssl.create_default_context(cafile=azure.ca)
    connection = http.client.HTTPSConnection(host, timeout=PATIENCE, context=context)
    path = f"{azure.subscription}/resourceGroups/{group}-unreadable{V}"
    token = azure.credential().get_token(f"{azure.cloud.url}/.default").token
    connection.request("PUT", path, "{broken", {"Authorization": f"Bearer {token}"})
    assert connection.getresponse().status == 400
    connection.close()
    [line] = azure.requests(f"{group}-unreadable")
    assert line["body"] == "(7 bytes that are not JSON)"


def test_no_secret_is_logged(azure: Any, group: str, cluster_body: Callable[..., Any]) -> None:
    path = f"/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/hidden"
    secrets = {
        "servicePrincipalProfile": {"clientId": "logged-id", "secret": "sp-secret-value"},
        "windowsProfile": {"adminPassword": "windows-password-value"},
    }
    made = azure.call("PUT", f"{path}{V}", cluster_body(**secrets), headers={"Cookie": "crumbs"})
    assert "value" not in str(made.body)
    token = azure.credential().get_token(f"{azure.cloud.url}/.default").token
    azure.call("GET", f"{path}{V}", token=token)

    text = azure.cloud.request_log.read_text()
    hidden = (
        azure.cloud.client_secret,
        token,
        azure.own_token(),
        "sp-secret-value",
        "windows-password-value",
        "crumbs",
        "Bearer",
    )
    assert not [secret for secret in hidden if secret in text]
    # What is not secret stands there: the sign-in was a request like any other.
    assert "logged-id" in text
    sign_in = azure.requests("/adfs/oauth2/token")[-1]
    assert sign_in["body"]["client_id"] == azure.cloud.client_id
    assert sign_in["body"]["grant_type"] == "client_credentials"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        # Stored, refused without its group, failed by a script, and of a kind that is unknown.
        ("/resourceGroups/{}/providers/Microsoft.KeyVault/vaults/v", 201),
        ("/resourceGroups/never-there/providers/Microsoft.KeyVault/vaults/v", 404),
        ("/resourceGroups/{}/providers/Microsoft.KeyVault/vaults/fails", 500),
        ("/resourceGroups/{}/providers/Microsoft.Resources/deployments/d", 501),
    ],
)
def test_nobody_knows_which_properties_of_others_are_secret(
    azure: Any, group: str, path: str, status: int
) -> None:
    """A secret was left out of the log only if it had been stored."""
    faults = Faults(azure.cloud.home)
    faults.script({"method": "PUT", "path": "/vaults/fails$", "status": 500})
    path = path.format(group)
    body = {"location": "eastus", "value": "hunter2", "properties": {"value": ["hunter2"]}}
    made = azure.call("PUT", f"{path}?api-version=2023-07-01&sig=hunter2", body)
    faults.lift()
    assert made.status == status, made.body
    line = azure.requests(path)[-1]
    assert "hunter2" not in str(line)
    assert line["body"] == {
        "location": "eastus",
        "value": "[secret]",
        "properties": "[secret]",
    }
    assert line["query"] == {"api-version": "2023-07-01", "sig": "[secret]"}


def test_only_private_files_contain_secrets(azure: Any) -> None:
    """The principal and the private keys are for their owner's eyes alone."""
    home = azure.cloud.home
    for keeper in ("principal.json", "server-key.pem", "token-key.pem", "page-token"):
        assert (home / keeper).stat().st_mode & 0o777 == 0o600
    others = [path for path in home.iterdir() if path.is_file() and path.name != "principal.json"]
    secret = azure.cloud.client_secret.encode()
    assert not [path for path in others if secret in path.read_bytes()]
    assert azure.cloud.client_secret not in repr(azure.cloud)
