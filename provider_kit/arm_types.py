"""One of AKS's resource types as this provider has it: its properties, and where ARM has it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from provider_kit.sdk_shapes import object_shape
from provider_kit.serving import ProviderError
from provider_kit.shapes import STRING, STRING_MAP, STRINGS, ObjectOf, Shape

# Stands for whatever value Azure chooses.
ANY_VALUE: Final = object()
HEADERS: Final = "customHeaders"
UPDATABLE_HEADERS: Final = "updatableHeaders"
# How the headers are sent is ours: Azure has no property for it.
_OURS: Mapping[str, Shape] = MappingProxyType({HEADERS: STRING_MAP, UPDATABLE_HEADERS: STRINGS})

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class AksType:
    """One of AKS's types: where ARM has it, what it takes, and what AKS does not let change."""

    name: str
    description: str
    path: str
    # What the SDK's client calls the operations on it.
    operations: str
    # The name of what stands in ARM's `properties`, in the SDK.
    properties: str
    # What stands beside `properties` in ARM's form.
    envelope: Mapping[str, Shape]
    required: frozenset[str]
    # Of the SDK's properties, those that Azure alone writes.
    read_only: frozenset[str]
    # What cannot change, by its path, and why: a change of it replaces the resource.
    replaces: Mapping[str, str]
    # Lists whose order says nothing.
    unordered: frozenset[str]
    # What AKS fills in by itself, and with which value: no input of an imported resource.
    filled_in: Mapping[str, Any]

    @property
    def token(self) -> str:
        return f"aks-preview:containerservice:{self.name}"

    @cached_property
    def path_names(self) -> tuple[str, ...]:
        return tuple(_PLACEHOLDER.findall(self.path))

    @cached_property
    def inputs(self) -> ObjectOf:
        own = object_shape(self.properties).fields
        fields = {
            **dict.fromkeys(self.path_names, STRING),
            **{name: shape for name, shape in own.items() if name not in self.read_only},
            **self.envelope,
            **_OURS,
        }
        required = self.required.union(self.path_names)
        return ObjectOf(self.name, MappingProxyType(fields), required)

    @cached_property
    def outputs(self) -> Mapping[str, Shape]:
        """What Azure tells of the resource, beside its inputs."""
        own = object_shape(self.properties).fields
        return {name: own[name] for name in sorted(self.read_only & own.keys())} | {
            "name": STRING,
            "azureApiVersion": STRING,
        }

    def is_filled_in(self, name: str, value: Any) -> bool:
        """Whether AKS has this value unasked."""
        return name in self.filled_in and self.filled_in[name] in (ANY_VALUE, value)

    def resource_id(self, subscription: str, inputs: Mapping[str, Any]) -> str:
        return f"/subscriptions/{subscription}{self.path.format_map(inputs)}"

    def names_in(self, resource_id: str) -> dict[str, str]:
        """The names that an id is made of."""
        pattern = _PLACEHOLDER.sub(r"(?P<\1>[^/]+)", self.path)
        match = re.fullmatch(f"/subscriptions/[^/]+{pattern}", resource_id, re.IGNORECASE)
        if match is None:
            raise ProviderError(
                f"{resource_id} is no id of a {self.name}: that has the form "
                f"/subscriptions/SUBSCRIPTION{self.path}"
            )
        return match.groupdict()
