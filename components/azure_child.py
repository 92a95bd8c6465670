"""Makes the azure-native resources that components are made of."""

from importlib.metadata import version
from typing import Any, TypeVar

import pulumi

AzureResource = TypeVar("AzureResource", bound=pulumi.CustomResource)

_VERSION = pulumi.ResourceOptions(version=version("pulumi-azure-native"))


def azure_child(
    kind: type[AzureResource], name: str, args: Any, opts: pulumi.ResourceOptions
) -> AzureResource:
    """Returns a resource of azure-native, made without the aliases of azure-native's constructor.

    The constructor adds an alias for every API version that ever was, over a hundred for a node
    pool: most of what a preview costs. They find resources in states that an older azure-native
    wrote, and the resources of these components are in no such state.
    """
    resource = kind.__new__(kind)
    properties = object.__new__(type(args))
    # An output is what has a property, even without a value.
    outputs = [name for name, member in vars(kind).items() if isinstance(member, property)]
    inputs = {name: value for name, value in vars(args).items() if value is not None}
    vars(properties).update(dict.fromkeys(outputs) | inputs)
    token = vars(kind)["pulumi_type"]
    own = pulumi.ResourceOptions.merge(_VERSION, opts)
    pulumi.CustomResource.__init__(resource, token, name, properties, own)
    return resource
