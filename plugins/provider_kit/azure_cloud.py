"""The Azure cloud that a provider uses, and its credential."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from azure.core import AsyncPipelineClient
from azure.core.credentials import AccessToken
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import AzureError, HttpResponseError
from azure.core.pipeline.policies import AsyncRetryPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from provider_kit.configuration import Configuration
from provider_kit.errors import explained
from provider_kit.secrecy import Masking
from provider_kit.serving import ProviderError

# For servers that respond at once or not at all: metadata, OIDC tokens, Entra ID.
_TIMEOUTS: Mapping[str, Any] = MappingProxyType({"connection_timeout": 10, "read_timeout": 20})
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

    @property
    def scope(self) -> str:
        return f"{self.audience.rstrip('/')}/.default"


PUBLIC_CLOUD = AzureCloud(
    resource_manager="https://management.azure.com",
    authority="https://login.microsoftonline.com",
    audience="https://management.core.windows.net/",
)


async def azure_cloud(configuration: Configuration, authorities: Path | None = None) -> AzureCloud:
    """Returns the configured cloud, by metadata host or name. The default is the public cloud.

    `authorities` is a file of certificates to trust instead of the machine's: those of a cloud on
    this machine.
    """
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
        return _cloud(await _answer(url, authorities))
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


async def _answer(url: str, authorities: Path | None, **headers: str) -> Any:
    """Returns a server's JSON response. Follows no redirects, which could lead to plain http."""
    retries = AsyncRetryPolicy(retry_total=3, retry_backoff_factor=0.5, timeout=30)
    client: AsyncPipelineClient[HttpRequest, AsyncHttpResponse] = AsyncPipelineClient(
        url, policies=[retries], **_TIMEOUTS, **trusting(authorities)
    )
    async with client:
        answer = await client.send_request(HttpRequest("GET", url, headers=headers))
        if answer.status_code != 200:
            raise HttpResponseError(response=answer)
        return answer.json()


def _cloud(metadata: dict[str, Any]) -> AzureCloud:
    authentication = metadata["authentication"]
    login = urlsplit(authentication["loginEndpoint"])
    cloud = AzureCloud(
        resource_manager=metadata["resourceManager"].rstrip("/"),
        # The path of a login endpoint is its tenant, which the credential adds.
        authority=f"{login.scheme}://{login.netloc}",
        audience=authentication["audiences"][0],
    )
    for url in (cloud.resource_manager, cloud.authority):
        _require_https(url, "The metadata of the Azure cloud")
    return cloud


def _require_https(url: str, source: str) -> None:
    if not url.lower().startswith("https://"):
        raise ProviderError(f"{source} names {url}: tokens are only sent to https.")


def azure_credential(
    cloud: AzureCloud, configuration: Configuration, authorities: Path | None = None
) -> AsyncTokenCredential:
    """Returns the Azure SDK's credential, chosen as azure-native does. The default is the CLI's."""
    try:
        return _credential(cloud, configuration, authorities)
    except (OSError, TypeError, ValueError) as error:
        # The tenant, the file of the token, or the certificate cannot be used.
        raise ProviderError(f"Cannot sign in to Azure: {error}") from error


def _credential(
    cloud: AzureCloud, configuration: Configuration, authorities: Path | None
) -> AsyncTokenCredential:
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
    options: dict[str, Any] = {**alone, **_TIMEOUTS, **trusting(authorities)}
    if use_oidc:
        asserting = partial(identity.ClientAssertionCredential, *principal, **options)
        return _with_oidc(configuration, authorities, asserting)
    if path:
        password = text("clientCertificatePassword") or None
        return identity.CertificateCredential(*principal, path, password=password, **options)
    return identity.ClientSecretCredential(*principal, secret, **options)


def _with_oidc(
    configuration: Configuration,
    authorities: Path | None,
    asserting: Callable[[Callable[[], str]], Any],
) -> AsyncTokenCredential:
    credential: AsyncTokenCredential
    if token := configuration.text("oidcToken"):
        credential = asserting(lambda: token)
    elif path := configuration.text("oidcTokenFilePath"):
        # Read for each sign-in, too: the token expires before a long update ends.
        Path(path).read_bytes()
        credential = asserting(lambda: Path(path).read_text("utf-8").strip())
    elif url := configuration.text("oidcRequestUrl"):
        _require_https(url, "oidcRequestUrl")
        bearer = configuration.required("oidcRequestToken")
        credential = _RequestingCredential(url, bearer, authorities, asserting)
    else:
        raise ProviderError(
            "useOidc is set, but there is no token: set oidcToken, oidcTokenFilePath, or "
            "oidcRequestUrl. A job on GitHub needs `permissions: id-token: write`."
        )
    return credential


@dataclass(frozen=True)
class _RequestingCredential(AsyncTokenCredential):
    """Requests an OIDC token for each sign-in, as on GitHub's runners: it expires soon.

    The Azure SDK's credential alone would call a function that blocks all resources.
    """

    url: str
    bearer: str = field(repr=False)
    authorities: Path | None
    asserting: Callable[[Callable[[], str]], Any]

    async def get_token(self, *scopes: str, **more: Any) -> AccessToken:
        assertion = await self._assertion()
        async with self.asserting(lambda: assertion) as credential:
            token: AccessToken = await credential.get_token(*scopes, **more)
            return token

    async def close(self) -> None:
        """Has nothing to close: each sign-in closes its own connection."""

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _assertion(self) -> str:
        parts = urlsplit(self.url)
        query = urlencode([*parse_qsl(parts.query), ("audience", _AUDIENCE)])
        url = parts._replace(query=query).geturl()
        try:
            answer = await _answer(url, self.authorities, Authorization=f"Bearer {self.bearer}")
            return str(answer["value"])
        except _ERRORS as error:
            reason = Masking([self.bearer]).masked(explained(error))
            raise ProviderError(f"{parts.netloc} returned no OIDC token ({reason}).") from error
