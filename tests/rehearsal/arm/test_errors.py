"""Refusals as they were recorded: status, code, shape, keys in their order, words, and headers."""

import re
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rehearsal.arm import errors
from rehearsal.cloud import Cloud
from tests.rehearsal.conftest import API_VERSION, Azure, signed
from tests.rehearsal.conftest import new_cluster as cluster_like

CLUSTER = "The Resource 'Microsoft.ContainerService/managedClusters/"
MORE = "was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix"
ELSEWHERE = "/resourceGroups/nowhere/providers/Microsoft.ContainerService/managedClusters/c"
NESTED, FLAT = ["code", "message"], ["code", "details", "message", "subcode"]


@dataclass(frozen=True)
class Row:
    """A request, and what has to come back; `says` are parts of the message."""

    method: str
    path: str
    status: int
    code: str
    keys: list[str]
    says: tuple[str, ...]
    body: Any = None
    subcode: str | None = None
    target: str | None = None
    # Of the first entry of details.
    details: dict[str, str] | None = None
    cause: str | None = "gateway"


# By what is wrong, with how often it was recorded, and when.
RECORDED = {
    "cluster not there (1,133, 2019-04..2025-11)": Row(
        "GET", "{cluster}none", 404, "ResourceNotFound", NESTED, (CLUSTER, MORE)
    ),
    "pool not there (9, 2023-11..2024-08)": Row(
        "GET",
        "{cluster}/agentPools/none",
        404,
        "NotFound",
        FLAT,
        ("Could not find the agentpool: none in subscription: ", ", resourceGroup: {group}, "),
        subcode="GetAgentPool_NotFound",
        details={"code": "Unspecified"},
        cause=None,
    ),
    "cluster of a pool not there (5, 2023-11..2024-08)": Row(
        "DELETE", "{cluster}none/agentPools/gpu", 404, "ResourceNotFound", NESTED, (CLUSTER, MORE)
    ),
    "group not there (19, 2020-08..2025-10)": Row(
        "GET", ELSEWHERE, 404, "ResourceGroupNotFound", NESTED, ("'nowhere' could not be found.",)
    ),
    "group of a PUT not there (2, 2025-08..2025-10)": Row(
        "PUT", ELSEWHERE, 404, "ResourceGroupNotFound", NESTED, ("'nowhere'",), cluster_like()
    ),
    "group of a POST not there (1, 2023-02)": Row(
        "POST", f"{ELSEWHERE}/stop", 404, "ResourceGroupNotFound", NESTED, ("'nowhere'",)
    ),
    "group of a DELETE not there (6, 2023-11..2024-08)": Row(
        "DELETE", ELSEWHERE, 404, "ResourceGroupNotFound", NESTED, ("'nowhere'",)
    ),
}
# The same of what public issues show.
REPORTED = {
    "version in another form": Row(
        "GET",
        "{cluster}?api-version=20261101",
        400,
        "InvalidApiVersionParameter",
        NESTED,
        ("The api-version '20261101' is invalid.",),
    ),
    "location that is none": Row(
        "PUT",
        "/resourceGroups/in-atlantis?api-version=2025-04-01",
        400,
        "LocationNotAvailableForResourceGroup",
        NESTED,
        ("The provided location 'Atlantis' is not available for resource group. List of",),
        {"location": "Atlantis"},
    ),
}
ROWS = RECORDED | REPORTED


@pytest.mark.parametrize("name", ROWS)
def test_a_refusal_has_azures_status_and_body(
    azure: Azure, group: str, cluster: str, name: str
) -> None:
    row = ROWS[name]
    path = row.path.format(cluster=cluster, group=group)
    path += "" if "?" in path else f"?api-version={API_VERSION}"
    check(azure.call(row.method, path, row.body), row, group=group)


def check(reply: Any, row: Row, **words: str) -> None:
    assert reply.status == row.status, reply
    is_flat = "subcode" in row.keys
    error = reply.body if is_flat else reply.body["error"]
    assert list(error) == row.keys
    assert is_flat or list(reply.body) == ["error"]
    assert error["code"] == row.code
    for part in row.says:
        assert part.format(**words) in error["message"]
    assert (error.get("subcode"), error.get("target")) == (row.subcode, row.target)
    if row.details:
        [entry] = error["details"]
        assert entry | row.details == entry
        assert error["message"] in entry["message"]
    else:
        assert error.get("details") is None
    assert reply.headers.get("x-ms-failure-cause") == row.cause
    charset = "" if is_flat else "; charset=utf-8"
    assert reply.headers["Content-Type"] == f"application/json{charset}"


def test_a_missing_or_expired_token_is_refused_as_by_azure(azure: Azure) -> None:
    """The words for the header stood in the body as well, and both times in neither."""
    path = "/resourceGroups?api-version=2025-04-01"
    says: tuple[str, ...] = ("The 'Authorization' header is missing.",)
    missing = azure.call("GET", path, token=None)
    check(missing, Row("GET", path, 401, "AuthenticationFailed", NESTED, says))
    form = 'Bearer authorization_uri="[^"]+", error="invalid_token", error_description="{}"'
    challenge = form.format(re.escape(missing.body["error"]["message"]))
    assert re.fullmatch(challenge, missing.headers["WWW-Authenticate"])

    old = azure.call("GET", path, token=signed(azure, exp=int(time.time()) - 60))
    says = ("The access token expiry UTC time '", "' is earlier than current UTC time '")
    check(old, Row("GET", path, 401, "ExpiredAuthenticationToken", NESTED, says))
    time_of_day = r"'\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d\d:\d\d [AP]M'"
    assert len(re.findall(time_of_day, old.body["error"]["message"])) == 2
    challenge = form.format("The access token has expired.")
    assert re.fullmatch(challenge, old.headers["WWW-Authenticate"])


def test_an_unregistered_provider_is_reported_as_by_azure(
    start_cloud: Callable[..., Cloud], azure_of: Callable[..., Azure]
) -> None:
    azure = azure_of(start_cloud())
    provider = "/providers/Microsoft.ContainerService"
    version = "?api-version=2025-04-01"
    azure.call("POST", f"{provider}/unregister{version}")
    azure.wait(provider + version, lambda reply: reply.body["registrationState"] == "Unregistered")
    path = f"{provider}/managedClusters?api-version={API_VERSION}"
    keys = ["code", "message", "details"]
    says = ("The subscription is not registered to use namespace 'Microsoft.ContainerService'.",)
    code = "MissingSubscriptionRegistration"
    details = {"code": code, "target": "Microsoft.ContainerService"}
    check(azure.call("GET", path), Row("GET", path, 409, code, keys, says, details=details))


def test_only_resource_manager_answers_with_a_charset(
    azure: Azure, group: str, cluster: str
) -> None:
    aks = azure.call("GET", f"{cluster}?api-version={API_VERSION}")
    assert aks.headers["Content-Type"] == "application/json"
    own = azure.call("GET", f"/resourceGroups/{group}?api-version=2025-04-01")
    assert own.headers["Content-Type"] == "application/json; charset=utf-8"


def test_each_row_is_used_and_each_error_has_a_row() -> None:
    """The names of rows are attributes of a module, which no type checker knows."""
    modules = Path(errors.__file__).parent.rglob("*.py")
    used = {
        name
        for module in modules
        for name in re.findall(r"errors\.([A-Z]\w+)", module.read_text("utf-8"))
    }
    rows = tomllib.loads(Path(errors.__file__).with_suffix(".toml").read_text("utf-8"))

    assert used - {"ArmError", "Refusal"} == {*rows["arm"], *rows["aks"]}
