"""The table of AKS's types says what Azure's SDK does.

`python -m tests.aks_catalogue.test_aks_types` makes it anew.
"""

import csv
import enum
import typing
from collections.abc import Iterator
from typing import Any

from azure.mgmt.containerservice import ContainerServiceClient, models
from azure.mgmt.containerservice import types as wire

from aks_catalogue import aks_types
from rehearsal.arm.aks import fields
from rehearsal.offline_plug_ins.azure_native.shapes import (
    ListOf,
    MapOf,
    Members,
    ObjectOf,
    Scalar,
    Shape,
    shape_of,
)

HEADER = ("type", "field", "kind", "choices")
# The SDK's types know the enumerations under their bare names only.
NAMES = {**vars(models), **{name: it for name, it in vars(wire).items() if name[0] != "_"}}
# The bodies of requests, with whatever stands in them.
BODIES = ("ManagedCluster", "AgentPool", "TagsObject")

# The types of errors, which have themselves inside.
RECURSIVE = ("ErrorDetail", "ManagedClusterPodIdentityProvisioningErrorBody")


def members_of(hint: Any) -> Members:
    if getattr(hint, "__module__", None) != wire.__name__ or hint.__name__ in RECURSIVE:
        return None
    return typing.get_type_hints(hint, localns=NAMES), frozenset()


def kind_of(shape: Shape) -> str:
    match shape:
        case Scalar(kind=kind):
            return kind
        case ListOf(item):
            return f"list of {kind_of(item)}"
        case MapOf(value):
            return f"map of {kind_of(value)}"
        case ObjectOf(name=name):
            return name
    return "anything"


def objects_in(shape: Shape) -> Iterator[ObjectOf]:
    match shape:
        case ListOf(inner) | MapOf(inner):
            yield from objects_in(inner)
        case ObjectOf(fields=found):
            yield shape
            for inner in found.values():
                yield from objects_in(inner)


class NoCredential:
    """Nobody signs in."""


def choices_of(hint: Any) -> str:
    """The values of the enumeration in a type hint, if any."""
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return " ".join(member.value for member in hint)
    return next(filter(None, map(choices_of, typing.get_args(hint))), "")


def rows() -> list[tuple[str, str, str, str]]:
    """What the SDK says."""
    shapes = [shape_of(getattr(wire, body), members_of) for body in BODIES]
    paths = {inner.name: inner.fields for shape in shapes for inner in objects_in(shape)}
    hints = {name: typing.get_type_hints(getattr(wire, name), localns=NAMES) for name in paths}
    return [
        (name, field, kind_of(shape), choices_of(hints[name].get(field)))
        for name, members in sorted(paths.items())
        for field, shape in sorted(members.items())
    ]


def write() -> None:
    with aks_types.TABLE.open("w", newline="", encoding="utf-8") as table:
        csv.writer(table, lineterminator="\n").writerows([HEADER, *rows()])


def test_the_table_is_the_sdks() -> None:
    with aks_types.TABLE.open(newline="", encoding="utf-8") as table:
        assert [tuple(row) for row in csv.reader(table)] == [HEADER, *rows()]


def test_the_table_has_the_sdks_api_version() -> None:
    client = ContainerServiceClient(NoCredential(), "")  # type: ignore[arg-type]
    assert client._config.api_version == aks_types.API_VERSION


def test_the_server_has_a_rule_for_each_field() -> None:
    """A field of the API that the server's tables lack would come and go unnoticed."""
    known = aks_types.aks_types()
    for name, changes in (
        ("ManagedClusterProperties", fields.CLUSTER),
        ("ManagedClusterAgentPoolProfile", fields.INLINE_POOL),
        ("AgentPoolManagedClusterAgentPoolProfileProperties", fields.POOL),
    ):
        # Previews have more.
        assert {field for field in changes if "." not in field} >= set(known[name])


if __name__ == "__main__":
    write()
