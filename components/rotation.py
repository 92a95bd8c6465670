"""Names of pools with `replacement: rotate`."""

from collections.abc import Mapping
from typing import Any

import pulumi

from aks_catalogue import rotation
from aks_catalogue.aks_properties import POOL
from aks_catalogue.shapes import at


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
