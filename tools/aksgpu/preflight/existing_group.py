"""The resource group that a stack file calls `existing`: a rehearsal has it too."""

import asyncio

from aksgpu.preflight.access import connected, of_rehearsal
from rehearsal.cloud import Cloud
from stack_settings.model import Settings


def provide_group(cloud: Cloud, settings: Settings) -> None:
    """Creates the group, if the cluster in it is the stack's own: no rehearsal has another's."""
    if settings.resource_group.existing and not settings.cluster.existing:
        asyncio.run(_create(cloud, settings.resource_group.name, settings.location))


async def _create(cloud: Cloud, name: str, location: str) -> None:
    async with connected(of_rehearsal(cloud)) as clients:
        groups = clients.resources.resource_groups
        if not await groups.check_existence(name):
            await groups.create_or_update(name, {"location": location})
