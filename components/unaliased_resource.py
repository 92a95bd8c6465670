"""Creates the azure-native resources of components, without azure-native's aliases."""

from importlib.metadata import version
from typing import Any, TypeVar

import pulumi

AzureResource = TypeVar("AzureResource", bound=pulumi.CustomResource)

_VERSION = pulumi.ResourceOptions(version=version("pulumi-azure-native"))


def unaliased_resource(
    cls: type[AzureResource], name: str, args: Any, opts: pulumi.ResourceOptions
) -> AzureResource:
    """Creates an azure-native resource without the aliases that its constructor adds.

    The constructor adds an alias for each API version, over a hundred for a node pool, which takes
    most of the time of a preview. The aliases only help with states of older azure-native versions,
    which do not contain resources of these components.
    """
    resource = cls.__new__(cls)
    properties = object.__new__(type(args))
    # Every property of the class is an output, even without a value.
    outputs = [name for name, member in vars(cls).items() if isinstance(member, property)]
    inputs = {name: value for name, value in vars(args).items() if value is not None}
    vars(properties).update(dict.fromkeys(outputs) | inputs)
    token = vars(cls)["pulumi_type"]
    options = pulumi.ResourceOptions.merge(_VERSION, opts)
    pulumi.CustomResource.__init__(resource, token, name, properties, options)
    return resource
