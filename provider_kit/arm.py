"""The clients of Azure's SDK that the provider works with, made once and shared by all resources.

Azure's own pipeline retries what is worth it: throttling, with the wait that Azure asks for, 5xx
and dropped connections. How long that may go on, the caller's time limit says, not a number here.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from azure.core.pipeline.transport import AioHttpTransport
from azure.mgmt.containerservice.aio import ContainerServiceClient
from azure.mgmt.resource.features.aio import FeatureClient
from azure.mgmt.resource.resources.aio import ResourceManagementClient

from provider_kit.azure_cloud import azure_cloud, azure_credential
from provider_kit.cancellation import Cancellation
from provider_kit.configuration import Configuration
from provider_kit.serving import ProviderError

_ALWAYS = 1_000_000
_RETRIES: Mapping[str, Any] = MappingProxyType(
    {
        "retry_total": _ALWAYS,
        "retry_status": _ALWAYS,
        "retry_read": _ALWAYS,
        # Whether there is an Azure to reach at all is known after half a minute.
        "retry_connect": 6,
        "retry_backoff_factor": 0.5,
        "retry_backoff_max": 15,
    }
)


class _Transport(AioHttpTransport):  # type: ignore[misc]
    """Waits for the next poll or the next try no longer than until the update is cancelled."""

    def __init__(self, cancellation: Cancellation) -> None:
        super().__init__()
        self._cancellation = cancellation

    async def sleep(self, duration: float) -> None:
        await self._cancellation.watch(asyncio.sleep(duration))


@dataclass(frozen=True)
class Clients:
    """Azure's clients for one subscription."""

    subscription: str
    api_version: str
    aks: ContainerServiceClient
    features: FeatureClient
    resources: ResourceManagementClient

    def require(self, resource_id: str) -> None:
        """Refuses a resource of another subscription, which would seem to be gone from here."""
        own = f"/subscriptions/{self.subscription}/"
        if not resource_id.lower().startswith(own.lower()):
            raise ProviderError(
                f"{resource_id} lies in another subscription than the one that is configured, "
                f"{self.subscription}. Set subscriptionId, or ARM_SUBSCRIPTION_ID, to its own."
            )


class Connection:
    """Connects when it is first needed: a preview of new resources needs no credentials."""

    def __init__(self, cancellation: Cancellation) -> None:
        self.configuration = Configuration(MappingProxyType({}))
        self._cancellation = cancellation
        self._connecting = asyncio.Lock()
        self._clients: Clients | None = None

    async def clients(self) -> Clients:
        async with self._connecting:
            if self._clients is None:
                self._clients = await self._connect()
            return self._clients

    async def _connect(self) -> Clients:
        subscription = self.configuration.required("subscriptionId")
        cloud = await azure_cloud(self.configuration)
        credential = azure_credential(cloud, self.configuration)
        place = {
            "base_url": cloud.resource_manager,
            "credential_scopes": [cloud.scope],
            **_RETRIES,
        }
        version = self.configuration.text("apiVersion")
        aks = ContainerServiceClient(
            credential,
            subscription,
            api_version=version,
            transport=_Transport(self._cancellation),
            **place,
        )
        return Clients(
            subscription=subscription,
            api_version=version,
            aks=aks,
            features=FeatureClient(
                credential, subscription, transport=_Transport(self._cancellation), **place
            ),
            resources=ResourceManagementClient(
                credential, subscription, transport=_Transport(self._cancellation), **place
            ),
        )
