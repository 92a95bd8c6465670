"""The Azure cloud that a provider uses, and its credential."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from azure.core import AsyncPipelineClient
from azure.core.credentials import AccessToken
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError
from azure.core.pipeline.policies import AsyncRetryPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest

from provider_kit.configuration import Configuration
from provider_kit.errors import explained
from provider_kit.serving import ProviderError

# The timeout for metadata and OIDC tokens, whose servers respond at once or not at all.
_SECONDS = 30.0
_TIMEOUTS: Mapping[str, Any] = MappingProxyType({"connection_timeout": 10, "read_timeout": 20})
_PATIENCE: Mapping[str, Any] = MappingProxyType(
    {**_TIMEOUTS, "retry_total": 4, "retry_connect": 2, "retry_backoff_factor": 0.5}
)
# The errors of reading an unexpected response.
_INVALID_RESPONSE = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
_METADATA_API_VERSION = "2022-09-01"
_METADATA_HOSTS: Mapping[str, str] = MappingProxyType(
    {
        "china": "management.chinacloudapi.cn",
        "usgovernment": "management.usgovcloudapi.net",
    }
)
# Entra ID accepts only tokens for this audience.
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
    """Returns the configured cloud, by metadata host or name. The default is the public cloud.

    `authorities` is a file of certificates to trust instead of the machine's: those of a cloud on
    this machine.
    """
    host = configuration.text("metadataHost")
    environment = configuration.text("environment").lower()
    if not host and environment != "public":
        host = _METADATA_HOSTS.get(environment, "")
        if not host:
            raise ProviderError(
                f"{environment} is not an Azure environment: use public, "
                f"{', '.join(sorted(_METADATA_HOSTS))}, or set metadataHost."
            )
    return await _read_metadata(host, authorities) if host else PUBLIC_CLOUD


async def _read_metadata(host: str, authorities: Path | None) -> AzureCloud:
    url = f"https://{host}/metadata/endpoints?api-version={_METADATA_API_VERSION}"
    try:
        return _cloud(await _answer(url, authorities))
    except (AzureError, TimeoutError, *_INVALID_RESPONSE) as error:
        raise ProviderError(
            f"The metadata of the Azure cloud at {host} cannot be read ({_reason(error)}). "
            "Check metadataHost (ARM_METADATA_HOSTNAME) and whether the cloud is available."
        ) from error


def trusting(authorities: Path | None) -> dict[str, Any]:
    """Returns the options of a client of the Azure SDK that trusts these authorities."""
    if authorities is None:
        return {}
    # The environment may have a proxy, from which the cloud on this machine cannot be reached.
    return {"connection_verify": str(authorities), "use_env_settings": False}


async def _answer(
    url: str,
    authorities: Path | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Returns a server's JSON response. Retries temporary errors for half a minute."""
    client: AsyncPipelineClient[HttpRequest, AsyncHttpResponse] = AsyncPipelineClient(
        url, policies=[AsyncRetryPolicy(**_PATIENCE)], **_PATIENCE, **trusting(authorities)
    )
    async with client, asyncio.timeout(_SECONDS):
        answer = await client.send_request(HttpRequest("GET", url, headers=dict(headers)))
        if answer.status_code != 200:
            raise HttpResponseError(response=answer)
        return answer.json()


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer in {_SECONDS:.0f} seconds"
    return explained(error) if isinstance(error, AzureError) else "the response is invalid"


def _cloud(metadata: dict[str, Any]) -> AzureCloud:
    authentication = metadata["authentication"]
    login = urlsplit(authentication["loginEndpoint"])
    return AzureCloud(
        resource_manager=_encrypted(metadata["resourceManager"]).rstrip("/"),
        # The path of a login endpoint is its tenant, which the credential adds.
        authority=_encrypted(f"{login.scheme}://{login.netloc}"),
        audience=authentication["audiences"][0],
    )


def _encrypted(url: str) -> str:
    parts = urlsplit(url)
    if not parts.hostname:
        raise ValueError(url)
    if parts.scheme != "https":
        raise ProviderError(
            f"The metadata of the Azure cloud contains {url}: tokens are only sent to https."
        )
    return url


def azure_credential(
    cloud: AzureCloud,
    configuration: Configuration,
    authorities: Path | None = None,
) -> AsyncTokenCredential:
    """Returns the credential, chosen as azure-native does. The default is the Azure CLI's."""
    try:
        return _Credential(configuration, *_sdk_credential(cloud, configuration, authorities))
    except ValueError as error:
        raise ProviderError(f"Cannot sign in to Azure: {error}") from error


def _sdk_credential(
    cloud: AzureCloud, configuration: Configuration, authorities: Path | None
) -> tuple[Any, Callable[[], Awaitable[None]]]:
    """Returns the Azure SDK's credential, and a function to call before it gets a token."""
    # A slow import, which a preview without changes does not need.
    from azure.identity import aio as identity  # noqa: PLC0415

    required = configuration.required
    options: dict[str, Any] = {
        "authority": cloud.authority,
        # Discovery asks the public cloud, which does not know the authorities of other clouds.
        "disable_instance_discovery": cloud != PUBLIC_CLOUD,
        **_TIMEOUTS,
        **trusting(authorities),
    }
    if configuration.is_on("useOidc"):
        source, token = assertion(configuration, authorities), [""]

        async def read_token() -> None:
            token[0] = await source()

        ids = (required("tenantId"), required("clientId"))
        return identity.ClientAssertionCredential(*ids, lambda: token[0], **options), read_token
    if configuration.is_on("useMsi"):
        client = configuration.text("clientId") or None
        return identity.ManagedIdentityCredential(client_id=client, **_TIMEOUTS), _nothing
    if path := configuration.text("clientCertificatePath"):
        ids = (required("tenantId"), required("clientId"))
        create = partial(identity.CertificateCredential, *ids, **options)
        return _certificate(configuration, path, create), _nothing
    if secret := configuration.text("clientSecret"):
        ids = (required("tenantId"), required("clientId"))
        return identity.ClientSecretCredential(*ids, secret, **options), _nothing
    return identity.AzureCliCredential(tenant_id=configuration.text("tenantId")), _nothing


async def _nothing() -> None:
    """For credentials that need no preparation."""


class _Credential(AsyncTokenCredential):
    """Wraps the Azure SDK's credential. Its errors have no traceback and no secrets."""

    def __init__(
        self, configuration: Configuration, credential: Any, before: Callable[[], Awaitable[None]]
    ) -> None:
        self.credential = credential
        self._configuration = configuration
        self._before = before

    async def get_token(self, *scopes: str, **more: Any) -> AccessToken:
        await self._before()
        try:
            token: AccessToken = await self.credential.get_token(*scopes, **more)
        except ClientAuthenticationError as error:
            # Without the response, which may repeat the request.
            raise ClientAuthenticationError(self._configuration.masked(error.message)) from error
        except AzureError:
            raise
        except Exception as error:
            # The response is not a token, for example because a proxy sent it.
            raise ClientAuthenticationError(
                f"the response is not a token ({type(error).__name__})"
            ) from error
        return token

    async def close(self) -> None:
        await self.credential.close()

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _certificate(configuration: Configuration, path: str, create: Callable[..., Any]) -> Any:
    """Creates a credential with the certificate in a file."""
    password = configuration.text("clientCertificatePassword") or None
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise ProviderError(f"clientCertificatePath cannot be read: {error}") from error
    try:
        return create(certificate_data=content, password=password)
    except Exception as error:
        # The libraries raise many types of errors for invalid certificates.
        raise ProviderError(
            "The certificate of clientCertificatePath cannot be used: the file must be PEM or "
            "PKCS12 with an RSA key, and clientCertificatePassword must be its password, if it has "
            "one."
        ) from error


def assertion(
    configuration: Configuration, authorities: Path | None = None
) -> Callable[[], Coroutine[Any, Any, str]]:
    """Returns a function that gets the OIDC token, from its configured source.

    The token expires before a long update ends, so each call gets it again.
    """
    if token := configuration.text("oidcToken"):
        return partial(_of_the_settings, token)
    if path := configuration.text("oidcTokenFilePath"):
        return partial(_from_file, path)
    if url := configuration.text("oidcRequestUrl"):
        return partial(_requested, configuration, url, authorities)
    raise ProviderError(
        "useOidc is set, but there is no token: set oidcToken (ARM_OIDC_TOKEN), oidcTokenFilePath "
        "(ARM_OIDC_TOKEN_FILE_PATH), or oidcRequestUrl (ARM_OIDC_REQUEST_URL)."
    )


async def _of_the_settings(token: str) -> str:
    return token


async def _from_file(path: str) -> str:
    try:
        token = (await asyncio.to_thread(Path(path).read_text, encoding="utf-8")).strip()
    except (OSError, ValueError) as error:
        raise ProviderError(f"oidcTokenFilePath cannot be read: {error}") from error
    if not token:
        raise ProviderError("The file of oidcTokenFilePath is empty.")
    return token


async def _requested(configuration: Configuration, url: str, authorities: Path | None) -> str:
    parts, bearer = urlsplit(url), configuration.required("oidcRequestToken")
    address = parts._replace(query=urlencode([*parse_qsl(parts.query), ("audience", _AUDIENCE)]))
    try:
        headers = {"Authorization": f"Bearer {bearer}"}
        answer = await _answer(address.geturl(), authorities, headers)
        token: str = answer["value"]
        if not isinstance(token, str) or not token:
            raise ValueError(_AUDIENCE)
    except (AzureError, TimeoutError, *_INVALID_RESPONSE) as error:
        reason = configuration.masked(_reason(error))
        raise ProviderError(f"{parts.netloc} did not return an OIDC token ({reason}).") from error
    return token
