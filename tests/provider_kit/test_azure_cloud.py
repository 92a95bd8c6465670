"""Which cloud, and whose settings: those that azure-native reads."""

import asyncio
from typing import Any
from unittest import mock

import pytest

from provider_kit import azure_cloud as clouds
from provider_kit.azure_cloud import PUBLIC_CLOUD, azure_cloud, azure_credential
from provider_kit.configuration import Configuration
from provider_kit.serving import ProviderError

WHO = {"tenantId": "tenant", "clientId": "client"}
OIDC = {**WHO, "useOidc": "true"}
LOGIN = {"loginEndpoint": "https://login.example/adfs", "audiences": ["https://arm.example/"]}
METADATA = {"resourceManager": "https://arm.example/", "authentication": LOGIN}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"clientSecret": "s", "clientId": "c"}, r"azure-native:tenantId`, or set ARM_TENANT_ID"),
        (WHO | {"tenantId": "a b", "clientSecret": "s"}, "Cannot sign in to Azure: Invalid tenant"),
        (OIDC, "there is no token.*A job on GitHub needs"),
        (OIDC | {"oidcTokenFilePath": "/none"}, "Cannot sign in to Azure: .*/none"),
    ],
)
def test_a_setting_that_is_missing_or_wrong_is_named(given: dict[str, str], message: str) -> None:
    with pytest.raises(ProviderError, match=message):
        azure_credential(PUBLIC_CLOUD, Configuration(given, environment={}))


def cloud_of(variables: dict[str, str], metadata: dict[str, Any]) -> tuple[clouds.AzureCloud, str]:
    """The cloud, and which URL the provider asked for its metadata."""
    asked = mock.AsyncMock(return_value=metadata)
    with mock.patch.object(clouds, "_answer", asked):
        cloud = asyncio.run(azure_cloud(Configuration({}, environment=variables)))
    return cloud, asked.await_args[0][0] if asked.await_args else ""


def test_a_sovereign_cloud_is_known_by_its_name() -> None:
    assert cloud_of({}, METADATA) == (PUBLIC_CLOUD, "")
    cloud, asked = cloud_of({"ARM_ENVIRONMENT": "usGovernment"}, METADATA)
    assert asked.startswith("https://management.usgovcloudapi.net/metadata/endpoints?")
    assert cloud.scope == "https://arm.example/.default"
    assert cloud.authority == "https://login.example"
    with pytest.raises(ProviderError, match="use public, china, usgovernment"):
        cloud_of({"ARM_ENVIRONMENT": "moon"}, METADATA)
