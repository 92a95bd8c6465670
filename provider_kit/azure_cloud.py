"""Which Azure a provider speaks to, and as whom."""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import aiohttp
from azure.core import PipelineClient
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import AzureError
from azure.core.rest import HttpRequest, HttpResponse
from azure.identity.aio import (
    AzureCliCredential,
    CertificateCredential,
    ClientAssertionCredential,
    ClientSecretCredential,
    ManagedIdentityCredential,
)

from provider_kit.configuration import Configuration
from provider_kit.serving import ProviderError

_METADATA_API_VERSION = "2022-09-01"
_METADATA_HOSTS: Mapping[str, str] = MappingProxyType(
    {
        "china": "management.chinacloudapi.cn",
        "usgovernment": "management.usgovcloudapi.net",
    }
)
# Entra ID takes only tokens that were made for this audience.
_AUDIENCE = "api://AzureADTokenExchange"


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


async def azure_cloud(configuration: Configuration, authorities: Path | None = None) -> AzureCloud:
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


def azure_credential(
    cloud: AzureCloud,
    configuration: Configuration,
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


def assertion(configuration: Configuration) -> Callable[[], str]:
    """Gives the token of another issuer that stands for a secret, wherever it is to be had.

    It lives shorter than an update, so it is read anew at every call.
    """
    if token := configuration.text("oidcToken"):
        return lambda: token
    if path := configuration.text("oidcTokenFilePath"):
        return lambda: _from_file(Path(path))
    if url := configuration.text("oidcRequestUrl"):
        bearer = configuration.required("oidcRequestToken")
        return lambda: _requested(url, bearer)
    raise ProviderError(
        "useOidc is on, but there is no token: set oidcToken (ARM_OIDC_TOKEN), oidcTokenFilePath "
        "(ARM_OIDC_TOKEN_FILE_PATH), or oidcRequestUrl (ARM_OIDC_REQUEST_URL)."
    )


def _from_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ProviderError(f"oidcTokenFilePath cannot be read: {error}") from error


def _requested(url: str, bearer: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https":
        raise ProviderError("oidcRequestUrl is not https: a token is only ever sent to https.")
    address = parts._replace(query=urlencode([*parse_qsl(parts.query), ("audience", _AUDIENCE)]))
    request = HttpRequest("GET", address.geturl(), headers={"Authorization": f"Bearer {bearer}"})
    try:
        with PipelineClient[HttpRequest, HttpResponse](
            f"{parts.scheme}://{parts.netloc}"
        ) as client:
            answer = client.send_request(request)
            answer.raise_for_status()
            return str(answer.json()["value"])
    except (AzureError, LookupError, TypeError, ValueError) as error:
        raise ProviderError(
            f"{parts.netloc} gave no OIDC token ({type(error).__name__})."
        ) from error
