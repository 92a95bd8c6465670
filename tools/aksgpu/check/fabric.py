"""Whether the nodes of a pool are on one InfiniBand network: its scale set has one placement group.

Only Azure knows that. Its answer is worth a line, and no problem: not every job needs the network.
"""

import asyncio
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from azure.core import AsyncPipelineClient
from azure.core.exceptions import AzureError, HttpResponseError
from azure.core.pipeline.policies import AsyncRetryPolicy
from azure.core.rest import AsyncHttpResponse, HttpRequest
from azure.mgmt.core.policies import AsyncARMChallengeAuthenticationPolicy

from aks_catalogue.nodes import INFINIBAND_FEATURE, INFINIBAND_NAMESPACE
from aks_catalogue.shapes import at
from aks_preview.configuration import PACKAGE, SETTINGS
from aksgpu.check.cluster_view import ScaleSet
from aksgpu.outcome import Cause, Finding
from provider_kit.azure_cloud import azure_cloud, azure_credential, trusting
from provider_kit.configuration import Configuration
from provider_kit.errors import explained
from provider_kit.serving import ProviderError

_API_VERSION = "2024-07-01"
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
        except ValueError:
            return "what answered in Azure's place sent no JSON"

    asked = [*these]
    answers = await asyncio.gather(*map(answer, asked))
    return {of.pool: answered for of, answered in zip(asked, answers, strict=True)}


async def _has_one_group(
    scale_set: ScaleSet, configuration: Configuration, authorities: Path | None
) -> bool:
    cloud = await azure_cloud(configuration, authorities)
    async with azure_credential(cloud, configuration) as credential:
        policies = [
            AsyncRetryPolicy(),
            AsyncARMChallengeAuthenticationPolicy(credential, cloud.scope),
        ]
        client: AsyncPipelineClient[HttpRequest, AsyncHttpResponse] = AsyncPipelineClient(
            cloud.resource_manager, policies=policies, **trusting(cloud.authorities)
        )
        async with client:
            url = f"{cloud.resource_manager.rstrip('/')}{scale_set.id}?api-version={_API_VERSION}"
            answer = await client.send_request(HttpRequest("GET", url))
            if answer.status_code != 200:
                raise HttpResponseError(response=answer)
            return at(answer.json(), "properties.singlePlacementGroup") is True


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
