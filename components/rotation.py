"""Names and checks of pools with `replacement: rotate`."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from aks_catalogue import rotation
from aks_catalogue.aks_properties import POOL
from aks_catalogue.shapes import at
from aks_preview.configuration import PACKAGE, SETTINGS, TAKE_OVER, taken_over
from components import azure_reads
from components.hooks import guard, resolved


class RotationError(Exception):
    """A new pool would have the name of one that exists."""


def rotating_name(
    pool_name: pulumi.Input[str],
    properties: Mapping[str, Any],
    headers: Mapping[str, pulumi.Input[str]] | None,
) -> pulumi.Output[str]:
    """Returns the name in Azure of a new pool. `headers` are given if they replace the pool.

    Three characters of a hash reveal no secret, so the name is none.
    """
    tops = {path.partition(".")[0] for path in POOL.fixed} & properties.keys()

    def azure_name(values: list[Any]) -> str:
        pool_name, tops, headers = values
        given = {path: at(tops, path) for path in POOL.fixed}
        return rotation.azure_name(pool_name, {**given, "customHeaders": headers})

    given = {name: properties[name] for name in tops}
    return pulumi.Output.unsecret(pulumi.Output.all(pool_name, given, headers).apply(azure_name))


def rotation_hooks(owner: pulumi.Resource) -> pulumi.ResourceHookBinding:
    """Returns the hooks of a pool that rotates."""
    # The program has its configuration here, and a hook may not.
    if not azure_reads.are_read():
        return pulumi.ResourceHookBinding()
    name = _FreeName(owner.get_provider(azure_reads.POOL), _named_by_user())
    return pulumi.ResourceHookBinding(before_create=[guard(name.require)])


@dataclass(frozen=True)
class _FreeName:
    """Refuses to create a pool whose name is taken, unless the user has named that pool."""

    provider: azure_reads.Provider
    named: frozenset[str]

    async def require(self, args: pulumi.ResourceHookArgs) -> None:
        names = await resolved(args.new_inputs)
        live = await azure_reads.find(self.provider, azure_reads.POOL, names)
        if not live or str(live.get("id")).lower() in self.named:
            return
        raise RotationError(
            f"Azure has a pool {names['agentPoolName']!r} already, with the properties that this "
            "update asks for. Do not import it or take it over before you know whether an "
            "unfinished rotation is to delete it: see docs/rotate.md"
        )


def _named_by_user() -> frozenset[str]:
    """Returns the IDs of the pools that aks-preview takes over, as its plug-in reads them."""
    variables = map(os.environ.get, SETTINGS[TAKE_OVER].variables)
    text = pulumi.Config(PACKAGE).get(TAKE_OVER) or next(filter(None, variables), "")
    return taken_over(text)
