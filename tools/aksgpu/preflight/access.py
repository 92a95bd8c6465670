"""Access to Azure: which cloud and subscription, the credentials, and the trusted certificates."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from azure.core import AsyncPipelineClient
from azure.core.pipeline.policies import (
    AsyncRetryPolicy,
    ContentDecodePolicy,
    HeadersPolicy,
    RequestIdPolicy,
    UserAgentPolicy,
)
from azure.mgmt.core.policies import AsyncARMChallengeAuthenticationPolicy

from aks_catalogue.today import today
from aks_preview.configuration import PACKAGE, SETTINGS
from aksgpu.outcome import AZURE, REHEARSAL
from aksgpu.preflight.price_list import Client, price_list_url
from provider_kit.azure_cloud import AzureCloud, azure_cloud, azure_credential, trusting
from provider_kit.configuration import Configuration
from provider_kit.serving import ProviderError
from rehearsal.cloud import Cloud, is_rehearsal

# These imports take half a second, and only a preflight needs them.
if TYPE_CHECKING:
    from azure.mgmt.compute.aio import ComputeManagementClient
    from azure.mgmt.containerservice.aio import ContainerServiceClient
    from azure.mgmt.resource.features.aio import FeatureClient
    from azure.mgmt.resource.resources.aio import ResourceManagementClient

# Signing in may start the Azure CLI.
_SIGN_IN_SECONDS = 90
# Requests change nothing, so they can be retried; but not for long, as the user is waiting.
_RETRIES: Mapping[str, Any] = MappingProxyType(
    {"retry_total": 4, "retry_connect": 2, "retry_backoff_factor": 0.5, "retry_backoff_max": 15}
)
_TIMEOUTS: Mapping[str, Any] = MappingProxyType({"connection_timeout": 10, "read_timeout": 60})


class UnreachableError(ProviderError):
    """The cloud's metadata endpoint does not answer."""


@dataclass(frozen=True)
class Access:
    """Which Azure to ask. Settings that the configuration lacks come from the environment."""

    configuration: Configuration
    # A file of certificates to trust instead of the machine's.
    authorities: Path | None = None
    prices: str | None = field(default_factory=price_list_url)
    # The day for which retirements are judged.
    today: date = field(default_factory=today)

    @property
    def is_rehearsal(self) -> bool:
        """Also in a shell of `aksgpu env`, whose variables name the rehearsal cloud."""
        return is_rehearsal(self.configuration.text("metadataHost"))

    @property
    def cloud(self) -> str:
        return REHEARSAL if self.is_rehearsal else AZURE


def of_rehearsal(cloud: Cloud) -> Access:
    """Access to a rehearsal cloud, with its credentials and its price list."""
    values = {
        "metadataHost": cloud.url.removeprefix("https://"),
        "subscriptionId": cloud.subscription,
        "tenantId": cloud.tenant,
        "clientId": cloud.client_id,
        "clientSecret": cloud.client_secret,
    }
    authority = cloud.ca_certificate
    # Without the environment, so that a rehearsal never signs in to the real Azure.
    configuration = Configuration(values, PACKAGE, SETTINGS, environment={})
    return Access(configuration, authority, f"{cloud.url}/api/retail/prices", cloud.era.day)


@dataclass(frozen=True)
class Clients:
    """Azure's clients for one subscription, and one for the price list, which needs no token."""

    subscription: str
    compute: "ComputeManagementClient"
    aks: "ContainerServiceClient"
    features: "FeatureClient"
    resources: "ResourceManagementClient"
    prices: Client
    # None: do not read prices.
    prices_url: str | None


@asynccontextmanager
async def connected(access: Access) -> AsyncIterator[Clients]:
    """Signs in, and yields the clients.

    Raises ProviderError if a setting is missing, AzureError if Azure refuses the credentials.
    """
    from azure.mgmt.compute.aio import ComputeManagementClient  # noqa: PLC0415
    from azure.mgmt.containerservice.aio import ContainerServiceClient  # noqa: PLC0415
    from azure.mgmt.resource.features.aio import FeatureClient  # noqa: PLC0415
    from azure.mgmt.resource.resources.aio import ResourceManagementClient  # noqa: PLC0415

    subscription = access.configuration.required("subscriptionId")
    cloud, trust = await _cloud(access), trusting(access.authorities)
    async with AsyncExitStack() as opened:
        credential = await opened.enter_async_context(azure_credential(cloud, access.configuration))
        # A refusal is reported here once, not by every request.
        async with asyncio.timeout(_SIGN_IN_SECONDS):
            await credential.get_token(cloud.scope)

        async def entered(kind: Callable[..., Any], **more: Any) -> Any:
            # Clients cannot share policies.
            signs = AsyncARMChallengeAuthenticationPolicy(credential, cloud.scope)
            client = kind(
                credential=credential,
                subscription_id=subscription,
                base_url=cloud.resource_manager,
                policies=[*_policies(), signs],
                **_TIMEOUTS,
                **trust,
                **more,
            )
            return await opened.enter_async_context(client)

        version = access.configuration.text("apiVersion")
        yield Clients(
            subscription=subscription,
            compute=await entered(ComputeManagementClient),
            aks=await entered(ContainerServiceClient, api_version=version),
            features=await entered(FeatureClient),
            resources=await entered(ResourceManagementClient),
            prices=await opened.enter_async_context(
                price_client(access.prices or "", access.authorities)
            ),
            prices_url=access.prices,
        )


def price_client(url: str, authorities: Path | None = None) -> Client:
    """A client for a price list, as an async context manager."""
    return AsyncPipelineClient(url, policies=_policies(), **_TIMEOUTS, **trusting(authorities))


async def _cloud(access: Access) -> AzureCloud:
    try:
        return await azure_cloud(access.configuration, access.authorities)
    except ProviderError as error:
        if error.__cause__ is None:
            raise
        raise UnreachableError(str(error)) from error


def _policies() -> list[Any]:
    """The pipeline of a request, without authentication.

    The SDK's default pipeline registers a resource provider that is not registered. A preflight
    must not change anything.
    """
    return [
        RequestIdPolicy(),
        HeadersPolicy({"Accept": "application/json"}),
        UserAgentPolicy("aks-gpu-preflight"),
        ContentDecodePolicy(),
        AsyncRetryPolicy(**_RETRIES),
    ]
