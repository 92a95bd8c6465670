"""Which Azure a provider speaks to, and as whom."""

import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from azure.core.credentials_async import AsyncTokenCredential
from azure.identity.aio import ClientSecretCredential

from aks_preview.serving import ProviderError

_METADATA_API_VERSION = "2022-09-01"


@dataclass(frozen=True)
class AzureCloud:
    """The endpoints of one Azure cloud."""

    resource_manager: str
    authority: str
    audience: str

    @property
    def scope(self) -> str:
        return f"{self.audience.rstrip('/')}/.default"


PUBLIC_CLOUD = AzureCloud(
    resource_manager="https://management.azure.com",
    authority="https://login.microsoftonline.com",
    audience="https://management.core.windows.net/",
)


async def azure_cloud() -> AzureCloud:
    """The cloud that ARM_METADATA_HOSTNAME names, else the public one."""
    host = os.environ.get("ARM_METADATA_HOSTNAME")
    return await _read_metadata(host) if host else PUBLIC_CLOUD


async def _read_metadata(host: str) -> AzureCloud:
    url = f"https://{host}/metadata/endpoints?api-version={_METADATA_API_VERSION}"
    timeout = aiohttp.ClientTimeout(total=30)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as answer:
            answer.raise_for_status()
            return _cloud(await answer.json())
    except (aiohttp.ClientError, TimeoutError, KeyError, ValueError) as error:
        raise ProviderError(
            f"The metadata of the Azure cloud at {host} cannot be read ({error!r}). "
            "Is ARM_METADATA_HOSTNAME right, and the cloud there?"
        ) from error


def _cloud(metadata: dict[str, Any]) -> AzureCloud:
    authentication = metadata["authentication"]
    login = urlsplit(authentication["loginEndpoint"])
    return AzureCloud(
        resource_manager=metadata["resourceManager"].rstrip("/"),
        # The path of a login endpoint is its tenant, which the credential adds by itself.
        authority=f"{login.scheme}://{login.netloc}",
        audience=authentication["audiences"][0],
    )


def setting(name: str) -> str:
    """A required setting of the provider, from the environment variables azure-native reads."""
    if value := os.environ.get(name):
        return value
    raise ProviderError(f"The environment variable {name} is not set, but needed to reach Azure.")


def azure_credential(cloud: AzureCloud) -> AsyncTokenCredential:
    """The service principal that the ARM_ environment variables name."""
    return ClientSecretCredential(
        setting("ARM_TENANT_ID"),
        setting("ARM_CLIENT_ID"),
        setting("ARM_CLIENT_SECRET"),
        authority=cloud.authority,
        # Discovery asks the public cloud whether it knows the authority; others it does not.
        disable_instance_discovery=cloud != PUBLIC_CLOUD,
    )
