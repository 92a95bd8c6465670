"""How a client finds the cloud, and who gets in."""

import base64
import http.client
import json
import ssl
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from rehearsal.arm.home import Home, load_principal
from tests.rehearsal.conftest import signed
from tests.waiting import PATIENCE

GROUPS = "/resourceGroups?api-version=2025-04-01"


def post_form(azure: Any, path: str, **fields: str) -> Any:
    """What the token endpoint answers to a form."""
    context = ssl.create_default_context(cafile=azure.ca)
    host = azure.cloud.url.removeprefix("https://")
    connection = http.client.HTTPSConnection(host, timeout=PATIENCE, context=context)
    form = {
        "grant_type": "client_credentials",
        "client_id": azure.cloud.client_id,
        "client_secret": azure.cloud.client_secret,
        "scope": f"{azure.cloud.url}/.default",
        **fields,
    }
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", path, urlencode(form), kind)
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()
    return response.status, body


def test_the_cloud_describes_itself(azure: Any) -> None:
    url = azure.cloud.url
    cloud = azure.call("GET", "//metadata/endpoints?api-version=2022-09-01", token=None).body
    assert cloud["resourceManager"] == f"{url}/"
    assert cloud["authentication"] == {
        "loginEndpoint": f"{url}/adfs",
        "audiences": [f"{url}/"],
        "tenant": "adfs",
        "identityProvider": "ADFS",
    }
    assert {"name", "portal", "graphEndpoint", "suffixes"} <= set(cloud)
    listed = azure.call("GET", "//metadata/endpoints?api-version=2019-05-01", token=None).body
    assert listed == [cloud]


@pytest.mark.parametrize("authority", ["/adfs", "/adfs/v2.0", "/adfs/adfs", "/adfs/adfs/v2.0"])
def test_the_login_describes_itself(azure: Any, authority: str) -> None:
    address = f"/{authority}/.well-known/openid-configuration"
    description = azure.call("GET", address, token=None).body
    assert description["token_endpoint"] == f"{azure.cloud.url}/adfs/oauth2/token"
    assert description["issuer"] == f"{azure.cloud.url}/adfs"


def test_a_token_is_signed_with_the_published_key_and_lasts_an_hour(azure: Any) -> None:
    token = azure.credential().get_token(f"{azure.cloud.url}/.default").token
    published = azure.call("GET", "//adfs/discovery/keys", token=None).body
    key = jwt.PyJWKSet.from_dict(published)[jwt.get_unverified_header(token)["kid"]]
    claims = jwt.decode(token, key, algorithms=["RS256"], audience=azure.cloud.url)
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["appid"] == azure.cloud.client_id


@pytest.mark.parametrize("path", ["/adfs/oauth2/token", "/adfs/adfs/oauth2/v2.0/token"])
def test_a_token_of_the_endpoint_is_accepted(azure: Any, path: str) -> None:
    status, body = post_form(azure, path, scope=f"{azure.cloud.url}//.default")
    assert (status, body["token_type"], body["expires_in"]) == (200, "Bearer", 3600)
    assert azure.call("GET", GROUPS, token=body["access_token"]).status == 200


@pytest.mark.parametrize(
    ("fields", "status", "error", "number"),
    [
        ({"client_secret": "wrong"}, 401, "invalid_client", 7000215),
        ({"client_secret": ""}, 401, "invalid_client", 7000215),
        ({"client_id": "somebody"}, 400, "unauthorized_client", 700016),
        ({"grant_type": "password"}, 400, "unsupported_grant_type", 70003),
        ({"scope": "https://management.azure.com/.default"}, 400, "invalid_resource", 500011),
    ],
)
def test_a_sign_in_without_valid_credentials_gets_no_token(
    azure: Any, fields: dict[str, str], status: int, error: str, number: int
) -> None:
    answered, body = post_form(azure, "/adfs/oauth2/token", **fields)
    assert (answered, body["error"], body["error_codes"]) == (status, error, [number])
    assert body["error_description"].startswith(f"AADSTS{number}: ")
    assert "access_token" not in body


def test_a_token_for_clusters_is_refused_by_resource_manager(azure: Any) -> None:
    application = "6dae42f8-4368-4678-94ff-3960e28e3630"
    status, body = post_form(azure, "/adfs/oauth2/v2.0/token", scope=f"{application}/.default")
    assert status == 200
    claims = jwt.decode(body["access_token"], options={"verify_signature": False})
    assert claims["aud"] == application
    assert refused(azure, body["access_token"]) == "InvalidAuthenticationTokenAudience"


def test_microsoft_graph_is_told_to_be_missing_and_not_the_sign_in(azure: Any) -> None:
    """A token for it was refused: az advised to sign in again, for ever."""
    scope = f"{azure.cloud.url}/graph/.default"
    status, body = post_form(azure, "/adfs/oauth2/v2.0/token", scope=scope)
    assert status == 200
    path = "//graph/v1.0/servicePrincipals"
    answer = azure.call("GET", path, token=body["access_token"])
    assert (answer.status, answer.body["error"]["code"]) == (501, "NotImplemented")
    assert "does not have Microsoft Graph" in answer.body["error"]["message"]


def test_a_token_for_another_cloud_is_refused_by_the_name_of_its_resource(azure: Any) -> None:
    scope = "https://management.azure.com/.default"
    _, body = post_form(azure, "/adfs/oauth2/v2.0/token", scope=scope)
    assert "named https://management.azure.com was not found" in body["error_description"]
    assert azure.cloud.url in body["error_description"]


def refused(azure: Any, token: str | None, **headers: str) -> str:
    reply = azure.call("GET", GROUPS, token=token, headers=headers)
    assert reply.status == 401
    challenge = reply.headers["WWW-Authenticate"]
    assert challenge.startswith(f'Bearer authorization_uri="{azure.cloud.url}/adfs"')
    code: str = reply.body["error"]["code"]
    return code


def test_a_request_without_a_token_is_refused(azure: Any) -> None:
    assert refused(azure, None) == "AuthenticationFailed"
    basic = base64.b64encode(b"user:password").decode()
    scheme = {"Authorization": f"Basic {basic}"}
    assert refused(azure, None, **scheme) == "AuthenticationFailedInvalidHeader"


def test_an_expired_token_is_reported(azure: Any) -> None:
    assert azure.call("GET", GROUPS, token=signed(azure)).status == 200
    expired = signed(azure, exp=int(time.time()) - 1)
    assert refused(azure, expired) == "ExpiredAuthenticationToken"


def test_a_token_for_another_audience_is_refused(azure: Any) -> None:
    other = signed(azure, aud="https://management.azure.com")
    assert refused(azure, other) == "InvalidAuthenticationTokenAudience"


def test_a_token_with_another_signature_is_refused(azure: Any) -> None:
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    claims = {"aud": azure.cloud.url, "exp": int(time.time()) + 3600}
    assert refused(azure, jwt.encode(claims, stranger, "RS256")) == "InvalidAuthenticationToken"
    assert refused(azure, jwt.encode(claims, "", "none")) == "InvalidAuthenticationToken"
    assert refused(azure, "nonsense") == "InvalidAuthenticationToken"


def test_a_generated_secret_does_not_start_with_a_dash(tmp_path: Path) -> None:
    """One secret in 64 began with a dash, and `az login --password` took it for an option."""
    for _ in range(40):
        assert load_principal(Home(tmp_path)).client_secret.isalnum()
        (tmp_path / "principal.json").unlink()
