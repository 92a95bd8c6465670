"""Resource types of Azure Resource Manager, and the conversion of their properties.

A program has all properties on one level. ARM has most of them inside `properties`.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aks_catalogue.mistakes import Mistake
from provider_kit.serving import ProviderError

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class ArmType:
    """A resource type of ARM: its path, and the places of its properties."""

    name: str
    path: str
    # The properties outside `properties`.
    envelope: Collection[str] = ()
    # Inputs that are not sent to ARM, in addition to the names in the path.
    not_sent: frozenset[str] = frozenset()
    # Lists of IDs that are maps in ARM, each as the object and its list.
    id_lists: frozenset[tuple[str, str]] = frozenset()

    @cached_property
    def path_names(self) -> tuple[str, ...]:
        """The names of the inputs in the resource ID."""
        return tuple(_PLACEHOLDER.findall(self.path))

    def name_mistakes(self, inputs: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yields the names that are missing, or with which the path would be another resource's."""
        for name in self.path_names:
            value = inputs.get(name)
            if value is None:
                yield Mistake(name, "is required")
            elif isinstance(value, str) and (value.strip() in ("", ".", "..") or "/" in value):
                yield Mistake(name, "must be a name: not empty, not `.` or `..`, and without `/`")

    def resource_id(self, subscription: str, inputs: Mapping[str, Any]) -> str:
        return f"/subscriptions/{subscription}{self.path.format_map(inputs)}"

    def names_in(self, resource_id: str) -> dict[str, str]:
        """Returns the inputs in a resource ID."""
        pattern = _PLACEHOLDER.sub(r"(?P<\1>[^/]+)", self.path)
        match = re.fullmatch(f"/subscriptions/[^/]+{pattern}", resource_id, re.IGNORECASE)
        if match is None:
            raise ProviderError(
                f"{resource_id} is not the ID of a {self.name}: use the form "
                f"/subscriptions/SUBSCRIPTION{self.path}"
            )
        return match.groupdict()

    def body(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the body of the PUT request for the inputs."""
        omitted = self.not_sent.union(self.path_names)
        sent = {name: value for name, value in inputs.items() if name not in omitted}
        for owner, name in self.id_lists:
            ids = (sent.get(owner) or {}).get(name)
            if ids is not None:
                sent[owner] = {**sent[owner], name: {resource_id: {} for resource_id in ids}}
        outside = {name: value for name, value in sent.items() if name in self.envelope}
        inside = {name: value for name, value in sent.items() if name not in self.envelope}
        return outside | {"properties": inside} if inside else outside


def flat(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns ARM's properties on one level; those outside `properties` have precedence."""
    outside = {name: value for name, value in answer.items() if name != "properties"}
    return {**(answer.get("properties") or {}), **outside}
