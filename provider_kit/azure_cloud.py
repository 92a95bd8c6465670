"""Which Azure a provider speaks to, and as whom."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from azure.core.credentials_async import AsyncTokenCredential
from azure.identity.aio import (
    AzureCliCredential,
    CertificateCredential,
    ClientAssertionCredential,
    ClientSecretCredential,
    ManagedIdentityCredential,
)

from provider_kit.configuration import Configuration
from provider_kit.oidc import assertion
from provider_kit.serving import ProviderError

_METADATA_API_VERSION = "2022-09-01"
_METADATA_HOSTS: Mapping[str, str] = MappingProxyType(
    {
        "china": "management.chinacloudapi.cn",
        "usgovernment": "management.usgovcloudapi.net",
    }
)
# What the environment alone says: nothing is configured.
_ENVIRONMENT = Configuration(MappingProxyType({}))


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


async def azure_cloud(
    configuration: Configuration = _ENVIRONMENT, authorities: Path | None = None
) -> AzureCloud:
    """The cloud that was configured, by its metadata host or its name; else the public one.

    `authorities` is a file of certificates to trust in place of the machine's own.
    """
    host = configuration.text("metadataHost")
    environment = configuration.text("environment").lower()
    if not host and environment != "public":
        host = _METADATA_HOSTS.get(environment, "")
        if not host:
            raise ProviderError(
                f"There is no Azure environment {environment}; there are public, "
                f"{', '.join(sorted(_METADATA_HOSTS))}, and those of a metadataHost."
            )
    return await _read_metadata(host, authorities) if host else PUBLIC_CLOUD


async def _read_metadata(host: str, authorities: Path | None) -> AzureCloud:
    url = f"https://{host}/metadata/endpoints?api-version={_METADATA_API_VERSION}"
    timeout = aiohttp.ClientTimeout(total=30)
    trust = ssl.create_default_context(cafile=authorities) if authorities else True
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url, ssl=trust) as answer,
        ):
            answer.raise_for_status()
            return _cloud(await answer.json())
    except (aiohttp.ClientError, TimeoutError, LookupError, TypeError, ValueError) as error:
        raise ProviderError(
            f"The metadata of the Azure cloud at {host} cannot be read ({error!r}). "
            "Is metadataHost (ARM_METADATA_HOSTNAME) right, and the cloud there?"
        ) from error


def _cloud(metadata: dict[str, Any]) -> AzureCloud:
    authentication = metadata["authentication"]
    login = urlsplit(authentication["loginEndpoint"])
    return AzureCloud(
        resource_manager=_encrypted(metadata["resourceManager"]).rstrip("/"),
        # The path of a login endpoint is its tenant, which the credential adds by itself.
        authority=_encrypted(f"{login.scheme}://{login.netloc}"),
        audience=authentication["audiences"][0],
    )


def _encrypted(url: str) -> str:
    if urlsplit(url).scheme != "https":
        raise ProviderError(
            f"The metadata of the Azure cloud names {url}: a token is only ever sent to https."
        )
    return url


def setting(name: str) -> str:
    """A required setting, by the environment variable that azure-native reads it from."""
    return _ENVIRONMENT.required_from(name)


def azure_credential(
    cloud: AzureCloud,
    configuration: Configuration = _ENVIRONMENT,
    authorities: Path | None = None,
) -> AsyncTokenCredential:
    """Who signs in, in the first of azure-native's ways that is configured; else Azure's CLI."""
    required = configuration.required
    there: dict[str, Any] = {
        "authority": cloud.authority,
        # Discovery asks the public cloud whether it knows the authority; others it does not.
        "disable_instance_discovery": cloud != PUBLIC_CLOUD,
        **({"connection_verify": str(authorities)} if authorities else {}),
    }
    if configuration.is_on("useOidc"):
        return ClientAssertionCredential(
            required("tenantId"), required("clientId"), assertion(configuration), **there
        )
    if configuration.is_on("useMsi"):
        return ManagedIdentityCredential(client_id=configuration.text("clientId") or None)
    if path := configuration.text("clientCertificatePath"):
        return CertificateCredential(
            required("tenantId"),
            required("clientId"),
            certificate_data=_content(path),
            password=configuration.text("clientCertificatePassword") or None,
            **there,
        )
    if secret := configuration.text("clientSecret"):
        return ClientSecretCredential(required("tenantId"), required("clientId"), secret, **there)
    return AzureCliCredential(tenant_id=configuration.text("tenantId"))


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ProviderError(f"clientCertificatePath cannot be read: {error}") from error
