"""Makes the azure-native resources that components are made of."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, TypeVar

import pulumi

AzureResource = TypeVar("AzureResource", bound=pulumi.CustomResource)


def azure_child(
    kind: type[AzureResource],
    name: str,
    args: Any,
    opts: pulumi.ResourceOptions,
    *,
    keep_azure_aliases: bool,
    outputs: Sequence[str] = (),
) -> AzureResource:
    """A resource of azure-native at a fraction of its cost, with its id and the named outputs.

    azure-native gives each resource an alias for every API version that ever was, over a hundred
    for an agent pool, and an output for every property there is: they are most of what a preview
    costs. The aliases find resources in a state that an older azure-native wrote. A state that
    began with these components holds none; one that was migrated keeps the aliases.
    """
    if keep_azure_aliases:
        return kind(name, opts=opts, **_keywords(args))
    # azure-native's own constructor would add them all: what else it does is done here.
    resource = kind.__new__(kind)
    said = object.__new__(type(args))
    given = {key: value for key, value in vars(args).items() if value is not None}
    vars(said).update(dict.fromkeys(outputs), **given)
    own = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=_sdk_version()), opts)
    token = vars(kind)["pulumi_type"]
    pulumi.CustomResource.__init__(resource, token, name, said, own)
    return resource


@cache
def _sdk_version() -> str:
    return version("pulumi-azure-native")


def _keywords(args: Any) -> Mapping[str, Any]:
    """An arguments object as keywords; azure-native's constructors rename one that they use."""
    return {
        "resource_name_" if key == "resource_name" else key: value
        for key, value in vars(args).items()
    }
