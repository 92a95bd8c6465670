"""Creates the azure-native resources of components, without azure-native's aliases."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, TypeVar

import pulumi

AzureResource = TypeVar("AzureResource", bound=pulumi.CustomResource)

_VERSION = pulumi.ResourceOptions(version=version("pulumi-azure-native"))


def unaliased_resource(
    cls: type[AzureResource],
    kind: type,
    name: str,
    inputs: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
) -> AzureResource:
    """Creates an azure-native resource, of inputs by their names in Azure's API.

    Its constructor adds an alias for each API version, over a hundred for a node pool, which takes
    most of the time of a preview. The aliases only help with states of older azure-native versions,
    which do not contain resources of these components.
    """
    resource = cls.__new__(cls)
    # Every property of the class is an output, even without a value.
    outputs = [name for name, member in vars(cls).items() if isinstance(member, property)]
    # The class of the arguments tells the SDK the names of outputs.
    properties: Any = object.__new__(kind)
    vars(properties).update({**dict.fromkeys(outputs), **inputs})
    token = vars(cls)["pulumi_type"]
    options = pulumi.ResourceOptions.merge(_VERSION, opts)
    pulumi.CustomResource.__init__(resource, token, name, properties, options)
    return resource
