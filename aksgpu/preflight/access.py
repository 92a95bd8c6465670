"""The way to Azure: whom to ask, in whose name, and whom to believe."""

import asyncio
from collections.abc import AsyncIterator, Mapping
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

from aks_preview.configuration import PACKAGE, SETTINGS
from aksgpu.preflight.price_list import Client, price_list_url
from catalogue.today import today
from provider_kit.azure_cloud import AzureCloud, azure_cloud, azure_credential
from provider_kit.configuration import Configuration
from provider_kit.serving import ProviderError
from rehearsal.cloud import Cloud

# They take half a second, and only who asks Azure needs them.
if TYPE_CHECKING:
    from azure.mgmt.compute.aio import ComputeManagementClient
    from azure.mgmt.containerservice.aio import ContainerServiceClient
    from azure.mgmt.resource.features.aio import FeatureClient
    from azure.mgmt.resource.resources.aio import ResourceManagementClient

# Signing in may start the Azure CLI.
_SIGN_IN_SECONDS = 90
# Questions change nothing, so that each may be asked again; but somebody is waiting.
_PATIENCE: Mapping[str, Any] = MappingProxyType(
    {
        "retry_total": 4,
        "retry_status": 4,
        "retry_connect": 2,
        "retry_read": 2,
        "retry_backoff_factor": 0.5,
        "retry_backoff_max": 15,
        "connection_timeout": 20,
        "read_timeout": 60,
    }
)

# The prices are worth knowing, and not worth waiting long for.
_IMPATIENCE: Mapping[str, Any] = MappingProxyType(
    {**_PATIENCE, "retry_connect": 1, "connection_timeout": 10, "read_timeout": 30}
)


class UnreachableError(ProviderError):
    """The cloud does not tell where its parts are."""


@dataclass(frozen=True)
class Access:
    """Which Azure is asked; the environment says what the configuration does not."""

    configuration: Configuration
    # Certificates to trust in place of the machine's own.
    authorities: Path | None = None
    prices: str | None = field(default_factory=price_list_url)
    # The day by which this Azure judges what is retired.
    today: date = field(default_factory=today)
    # A rehearsal knows the sizes of the catalogue alone.
    is_rehearsal: bool = False


def of_rehearsal(cloud: Cloud) -> Access:
    """The way to a rehearsal cloud, with its own credentials and its own price list."""
    given = {
        "metadataHost": cloud.url.removeprefix("https://"),
        "subscriptionId": cloud.subscription,
        "tenantId": cloud.tenant,
        "clientId": cloud.client_id,
        "clientSecret": cloud.client_secret,
    }
    authority = cloud.ca_certificate
    # Nothing of the environment: a rehearsal never signs in elsewhere.
    sealed = Configuration(given, PACKAGE, SETTINGS, environment={})
    return Access(
        sealed, authority, f"{cloud.url}/api/retail/prices", cloud.era.day, is_rehearsal=True
    )


@dataclass(frozen=True)
class Clients:
    """Azure's clients for one subscription, and one for the price list, which wants no token."""

    subscription: str
    compute: "ComputeManagementClient"
    aks: "ContainerServiceClient"
    features: "FeatureClient"
    resources: "ResourceManagementClient"
    prices: Client
    # None: nobody asks what it costs.
    prices_url: str | None


@asynccontextmanager
async def connected(access: Access) -> AsyncIterator[Clients]:
    """Signs in, and gives the clients.

    Raises ProviderError where something is not configured, AzureError where Azure says no.
    """
    from azure.mgmt.compute.aio import ComputeManagementClient  # noqa: PLC0415
    from azure.mgmt.containerservice.aio import ContainerServiceClient  # noqa: PLC0415
    from azure.mgmt.resource.features.aio import FeatureClient  # noqa: PLC0415
    from azure.mgmt.resource.resources.aio import ResourceManagementClient  # noqa: PLC0415

    subscription = access.configuration.required("subscriptionId")
    cloud = await _cloud(access)
    trust: dict[str, Any] = (
        {"connection_verify": str(access.authorities)} if access.authorities else {}
    )
    async with AsyncExitStack() as opened:
        credential = await opened.enter_async_context(
            azure_credential(cloud, access.configuration, access.authorities)
        )
        # Said once here, and not by every question in its turn.
        async with asyncio.timeout(_SIGN_IN_SECONDS):
            await credential.get_token(cloud.scope)
        version = access.configuration.text("apiVersion")
        enter = opened.enter_async_context

        def signed() -> dict[str, Any]:
            # No policy may serve two clients.
            policies = [*_plain(), AsyncARMChallengeAuthenticationPolicy(credential, cloud.scope)]
            place = {"base_url": cloud.resource_manager, **_PATIENCE, **trust}
            return {"credential": credential, "policies": policies, **place}

        yield Clients(
            subscription=subscription,
            compute=await enter(ComputeManagementClient(subscription_id=subscription, **signed())),
            aks=await enter(
                ContainerServiceClient(
                    subscription_id=subscription, api_version=version, **signed()
                )
            ),
            features=await enter(FeatureClient(subscription_id=subscription, **signed())),
            resources=await enter(
                ResourceManagementClient(subscription_id=subscription, **signed())
            ),
            prices=await enter(price_client(access.prices or "", **trust)),
            prices_url=access.prices,
        )


def price_client(url: str, **trust: Any) -> Client:
    """A client for a price list, as a context."""
    return AsyncPipelineClient(url, policies=_plain(_IMPATIENCE), **_IMPATIENCE, **trust)


async def _cloud(access: Access) -> AzureCloud:
    try:
        return await azure_cloud(access.configuration, access.authorities)
    except ProviderError as error:
        if error.__cause__ is None:
            raise
        raise UnreachableError(str(error)) from error


def _plain(patience: Mapping[str, Any] = _PATIENCE) -> list[Any]:
    """How a question goes its way without a token.

    The SDK's own clients would register a provider that is not registered, and ask again: whoever
    asks what would be does not want anything to be done.
    """
    return [
        RequestIdPolicy(),
        HeadersPolicy({"Accept": "application/json"}),
        UserAgentPolicy("aks-gpu-preflight"),
        ContentDecodePolicy(),
        AsyncRetryPolicy(**patience),
    ]
