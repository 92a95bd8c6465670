"""The Azure cloud that a provider uses, and its credential."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import Request, urlopen

from azure.core import AsyncPipelineClient
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import AzureError, HttpResponseError, ServiceRequestError
from azure.core.pipeline.policies import AsyncRetryPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from provider_kit.configuration import Configuration
from provider_kit.errors import explained
from provider_kit.serving import ProviderError

# For servers that respond at once or not at all: metadata, OIDC tokens, Entra ID.
_TIMEOUTS: Mapping[str, Any] = MappingProxyType({"connection_timeout": 10, "read_timeout": 20})
_OIDC_SECONDS = 10
_METADATA_API_VERSION = "2022-09-01"
_METADATA_HOSTS: Mapping[str, str] = MappingProxyType(
    {"china": "management.chinacloudapi.cn", "usgovernment": "management.usgovcloudapi.net"}
)
# Entra ID accepts only tokens for this audience.
_AUDIENCE = "api://AzureADTokenExchange"
# The errors of a request, and of reading an unexpected response.
_ERRORS = (AzureError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class AzureCloud:
    """The endpoints of one Azure cloud."""

    resource_manager: str
    authority: str
    audience: str
    # A file of certificates to trust instead of the machine's: those of a cloud on this machine.
    authorities: Path | None = None

    @property
    def scope(self) -> str:
        return f"{self.audience.rstrip('/')}/.default"


PUBLIC_CLOUD = AzureCloud(
    resource_manager="https://management.azure.com",
    authority="https://login.microsoftonline.com",
    audience="https://management.core.windows.net/",
)


async def azure_cloud(configuration: Configuration, authorities: Path | None = None) -> AzureCloud:
    """Returns the configured cloud, by metadata host or name. The default is the public cloud."""
    host = configuration.text("metadataHost")
    environment = configuration.text("environment").lower()
    if not host and environment == "public":
        return PUBLIC_CLOUD
    host = host or _METADATA_HOSTS.get(environment, "")
    if not host:
        raise ProviderError(
            f"{environment} is not an Azure environment: use public, "
            f"{', '.join(sorted(_METADATA_HOSTS))}, or set metadataHost."
        )
    url = f"https://{host}/metadata/endpoints?api-version={_METADATA_API_VERSION}"
    try:
        return _cloud(await _answer(url, authorities), authorities)
    except _ERRORS as error:
        raise ProviderError(
            f"The metadata of the Azure cloud at {host} cannot be read ({explained(error)}). "
            "Check metadataHost (ARM_METADATA_HOSTNAME) and whether the cloud is available."
        ) from error


def trusting(authorities: Path | None) -> dict[str, Any]:
    """Returns the options of a client of the Azure SDK that trusts these authorities."""
    if authorities is None:
        return {}
    # The environment may have a proxy, from which the cloud on this machine cannot be reached.
    return {"connection_verify": str(authorities), "use_env_settings": False}


async def _answer(url: str, authorities: Path | None) -> Any:
    """Returns a server's JSON response. Follows no redirects, which could lead to plain http."""
    retries = AsyncRetryPolicy(retry_total=3, retry_backoff_factor=0.5, timeout=30)
    client: AsyncPipelineClient[HttpRequest, AsyncHttpResponse] = AsyncPipelineClient(
        url, policies=[retries], **_TIMEOUTS, **trusting(authorities)
    )
    async with client:
        answer = await client.send_request(HttpRequest("GET", url))
        if answer.status_code != 200:
            raise HttpResponseError(response=answer)
        return answer.json()


def _cloud(metadata: dict[str, Any], authorities: Path | None) -> AzureCloud:
    authentication = metadata["authentication"]
    login = urlsplit(authentication["loginEndpoint"])
    return AzureCloud(
        resource_manager=metadata["resourceManager"].rstrip("/"),
        # The path of a login endpoint is its tenant, which the credential adds.
        authority=f"{login.scheme}://{login.netloc}",
        audience=authentication["audiences"][0],
        authorities=authorities,
    )


def azure_credential(cloud: AzureCloud, configuration: Configuration) -> AsyncTokenCredential:
    """Returns the Azure SDK's credential, chosen as azure-native does. The default is the CLI's."""
    try:
        return _credential(cloud, configuration)
    except (OSError, TypeError, ValueError) as error:
        # The tenant, the file of the token, or the certificate cannot be used.
        raise ProviderError(f"Cannot sign in to Azure: {error}") from error


def _credential(cloud: AzureCloud, configuration: Configuration) -> AsyncTokenCredential:
    # A slow import, which a preview without changes does not need.
    from azure.identity import aio as identity  # noqa: PLC0415

    text, use_oidc = configuration.text, configuration.is_on("useOidc")
    if not use_oidc and configuration.is_on("useMsi"):
        return identity.ManagedIdentityCredential(client_id=text("clientId") or None, **_TIMEOUTS)
    path, secret = text("clientCertificatePath"), text("clientSecret")
    if not (use_oidc or path or secret):
        return identity.AzureCliCredential(tenant_id=text("tenantId"))
    principal = configuration.required("tenantId"), configuration.required("clientId")
    # Discovery asks the public cloud, which does not know the authorities of other clouds.
    alone = {"authority": cloud.authority, "disable_instance_discovery": cloud != PUBLIC_CLOUD}
    options: dict[str, Any] = {**alone, **_TIMEOUTS, **trusting(cloud.authorities)}
    if use_oidc:
        return identity.ClientAssertionCredential(*principal, _assertion(configuration), **options)
    if path:
        password = text("clientCertificatePassword") or None
        return identity.CertificateCredential(*principal, path, password=password, **options)
    return identity.ClientSecretCredential(*principal, secret, **options)


def _assertion(configuration: Configuration) -> Callable[[], str]:
    """Returns a function that gets the OIDC token, for each sign-in: it expires soon."""
    text = configuration.text
    if token := text("oidcToken"):
        return lambda: token
    if path := text("oidcTokenFilePath"):
        Path(path).read_bytes()
        return lambda: Path(path).read_text("utf-8").strip()
    if url := text("oidcRequestUrl"):
        return partial(_requested, url, configuration.required("oidcRequestToken"))
    raise ProviderError(
        "useOidc is set, but there is no token: set oidcToken, oidcTokenFilePath, or "
        "oidcRequestUrl. A job on GitHub needs `permissions: id-token: write`."
    )


def _requested(url: str, bearer: str) -> str:
    """Requests an OIDC token, as on GitHub's runners."""
    parts = urlsplit(url)
    query = urlencode([*parse_qsl(parts.query), ("audience", _AUDIENCE)])
    headers = {"Authorization": f"Bearer {bearer.strip()}"}
    request = Request(parts._replace(query=query).geturl(), headers=headers)  # noqa: S310 (the runner's)
    try:
        with urlopen(request, timeout=_OIDC_SECONDS) as answer:  # noqa: S310 (the runner's)
            return str(json.load(answer)["value"])
    except (HTTPException, OSError, LookupError, TypeError, ValueError) as error:
        # Retried as any request that reached nobody. A header that cannot be sent is quoted.
        sent = repr(bearer.strip())[1:-1]
        reason = str(error).replace(sent, "[secret]")
        raise ServiceRequestError(f"{parts.netloc} returned no OIDC token ({reason}).") from None
