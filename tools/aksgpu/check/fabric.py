"""Whether the nodes of a pool are on one InfiniBand network: its scale set has one placement group.

Only Azure knows that. Its answer is worth a line, and no problem: not every job needs the network.
"""

import asyncio
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from azure.core.exceptions import AzureError
from azure.mgmt.compute.aio import ComputeManagementClient

from aks_catalogue.nodes import INFINIBAND_FEATURE, INFINIBAND_NAMESPACE
from aks_preview.configuration import PACKAGE, SETTINGS
from aksgpu.check.cluster_view import ScaleSet
from aksgpu.outcome import Cause, Finding
from provider_kit.azure_cloud import azure_cloud, azure_credential, trusting
from provider_kit.configuration import Configuration
from provider_kit.errors import explained
from provider_kit.serving import ProviderError

_SECONDS = 30.0
_REGISTER = (
    f"register {INFINIBAND_NAMESPACE}/{INFINIBAND_FEATURE} (infinibandFeature: register), and make "
    "the pool anew: its nodes stay where they are"
)


async def placement(
    these: Iterable[ScaleSet], environment: Mapping[str, str]
) -> dict[str, bool | str]:
    """Whether each pool's scale set has one placement group, or why that is not known."""
    # A rehearsal's cloud has certificates of its own.
    trusted = environment.get("SSL_CERT_FILE")
    authorities = Path(trusted) if trusted else None
    variables = {**os.environ, **environment}

    async def answer(of: ScaleSet) -> bool | str:
        own = Configuration({"subscriptionId": of.subscription}, PACKAGE, SETTINGS, variables)
        try:
            async with asyncio.timeout(_SECONDS):
                return await _has_one_group(of, own, authorities)
        except (AzureError, ProviderError) as error:
            return explained(error)
        except TimeoutError:
            return "Azure did not answer in time"

    asked = [*these]
    answers = await asyncio.gather(*map(answer, asked))
    return {of.pool: answered for of, answered in zip(asked, answers, strict=True)}


async def _has_one_group(
    scale_set: ScaleSet, configuration: Configuration, authorities: Path | None
) -> bool:
    cloud = await azure_cloud(configuration, authorities)
    async with (
        azure_credential(cloud, configuration) as credential,
        ComputeManagementClient(
            credential,
            scale_set.subscription,
            base_url=cloud.resource_manager,
            credential_scopes=[cloud.scope],
            **trusting(cloud.authorities),
        ) as client,
    ):
        *_, group, _, _, _, name = scale_set.id.split("/")
        found = await client.virtual_machine_scale_sets.get(group, name)
        return bool(found.properties and found.properties.single_placement_group)


def findings(placed: Mapping[str, bool | str]) -> list[Finding]:
    """A line for each pool whose nodes are not known to be on one network."""
    found = []
    for pool, answer in placed.items():
        if answer is True:
            continue
        several = "the pool's scale set is not limited to one placement group, so its nodes may "
        several += "be on several InfiniBand networks"
        unknown = f"whether the pool's nodes are on one InfiniBand network is not known: {answer}"
        what, advice = (
            (several, _REGISTER)
            if answer is False
            else (unknown, "sign in to Azure (`az login`), and check again")
        )
        found.append(Finding(Cause.SEVERAL_FABRICS, what, advice, pool=pool))
    return found
