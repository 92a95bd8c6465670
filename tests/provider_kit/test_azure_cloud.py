"""Which cloud, and who signs in to it: by the settings that azure-native reads."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from azure.identity.aio import (
    AzureCliCredential,
    ClientAssertionCredential,
    ClientSecretCredential,
    ManagedIdentityCredential,
)

from aks_catalogue.azure_settings import SETTINGS
from provider_kit import azure_cloud as clouds
from provider_kit.azure_cloud import PUBLIC_CLOUD, assertion, azure_cloud, azure_credential
from provider_kit.configuration import Configuration
from provider_kit.serving import ProviderError
from rehearsal.cloud import Cloud
from tests.faults import Faults
from tests.request_log import RequestLog

WHO = {"tenantId": "00000000-0000-0000-0000-000000000001", "clientId": "client"}
METADATA: dict[str, Any] = {
    "resourceManager": "https://arm.example/",
    "authentication": {
        "loginEndpoint": "https://login.example/adfs",
        "audiences": ["https://arm.example/"],
    },
}


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in SETTINGS.values():
        for variable in setting.variables:
            monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({}, AzureCliCredential),
        (WHO | {"clientSecret": "s"}, ClientSecretCredential),
        ({"useMsi": "true"}, ManagedIdentityCredential),
        (WHO | {"useOidc": True, "oidcToken": "t", "clientSecret": "s"}, ClientAssertionCredential),
        (WHO | {"useOidc": "false", "clientSecret": "s"}, ClientSecretCredential),
    ],
)
def test_the_settings_select_the_credential(given: dict[str, Any], kind: type) -> None:
    cloud_credential: Any = azure_credential(PUBLIC_CLOUD, Configuration(given))
    assert type(cloud_credential.credential) is kind


def test_the_environment_replaces_unset_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ARM_CLIENT_ID", "of the environment")
    monkeypatch.setenv("ARM_TENANT_ID", "of the environment")

    assert Configuration(WHO).text("clientId") == "client"
    assert Configuration({}).text("clientId") == "of the environment"


def test_missing_settings_are_named() -> None:
    given = Configuration({"clientSecret": "s", "clientId": "c"}, "aks-preview")

    with pytest.raises(ProviderError, match=r"aks-preview:tenantId`, or set ARM_TENANT_ID"):
        azure_credential(PUBLIC_CLOUD, given)


def test_a_token_file_is_read_for_each_sign_in(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    token = assertion(Configuration({"oidcTokenFilePath": str(file)}))

    assert asyncio.run(token()) == "one"
    file.write_text("two\n")
    assert asyncio.run(token()) == "two"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "there is no token"),
        ({"oidcTokenFilePath": "/none"}, "cannot be read"),
        (
            {"oidcRequestUrl": "http://plain", "oidcRequestToken": "bearer"},
            "only sent to https",
        ),
    ],
)
def test_a_missing_token_is_reported(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ProviderError, match=message) as raised:
        asyncio.run(assertion(Configuration(given))())
    assert "bearer" not in str(raised.value)


def test_a_token_is_requested_from_the_request_url(engine_cloud: Cloud, faults: Faults) -> None:
    faults.script({"path": "^/runner", "status": 200, "body": {"value": "t"}})
    log = RequestLog(engine_cloud.request_log)
    given = {"oidcRequestUrl": f"{engine_cloud.url}/runner?a=1", "oidcRequestToken": "bearer"}

    token = assertion(Configuration(given), engine_cloud.ca_certificate)
    assert asyncio.run(token()) == "t"

    (asked,) = [line for line in log.lines() if line["path"] == "/runner"]
    assert asked["query"] == {"a": "1", "audience": "api://AzureADTokenExchange"}


def test_the_public_cloud_needs_no_metadata() -> None:
    assert asyncio.run(azure_cloud(Configuration({}))) == PUBLIC_CLOUD


def test_a_cloud_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ProviderError, match="use public, china, usgovernment"):
        asyncio.run(azure_cloud(Configuration({"environment": "moon"})))


@pytest.mark.parametrize(
    "plain",
    [
        METADATA | {"resourceManager": "http://arm.example"},
        METADATA
        | {
            "authentication": METADATA["authentication"] | {"loginEndpoint": "http://login.example"}
        },
    ],
)
def test_a_cloud_without_encryption_is_refused(plain: dict[str, Any]) -> None:
    assert clouds._cloud(METADATA).scope == "https://arm.example/.default"

    with pytest.raises(ProviderError, match="only sent to https"):
        clouds._cloud(plain)
