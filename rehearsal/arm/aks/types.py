"""What bodies of requests to AKS hold, by the types of its API."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from catalogue.aks_types import aks_types
from rehearsal.arm import bodies, errors
from rehearsal.arm.aks import fields
from rehearsal.arm.bodies import Misfit
from rehearsal.arm.request import Json

# How Go, in which AKS is written, calls the kinds of the API, and what stands in their place.
_KINDS = {"string": "string", "boolean": "bool", "integer": "int32", "number": "float32"}
_CONTAINERS = {"list": "[]", "map": "map[string]"}
_VALUES = {str: "string", bool: "bool", list: "array", dict: "object"}


# What AKS's answers have, and the types of its API have not: clients send it back.
_IN_ANSWERS = {"ManagedClusterAADProfile": {"adminUsers": "list of string"}}
# Lists of which preview versions take one item as it is.
_ONE_OF = {"list of AutoScaleProfile": "AutoScaleProfile"}


def read(kind: str, body: Json, api_version: str) -> Json:
    """Returns a body as the type has it, without nulls; refuses one that the type does not have."""

    def unknown(name: str) -> bool:
        if fields.is_strict(api_version):
            raise errors.ArmError(errors.UNKNOWN_FIELD, field=name)
        return True

    def misfit(found: Misfit) -> Any:
        one = _ONE_OF.get(found.kind)
        if one and isinstance(found.value, dict) and api_version.endswith("-preview"):
            return reader.read(one, found.value, found.path, found.owner)
        return _refuse(found)

    reader = bodies.Reader(_types(), misfit, unknown)
    read: Json = reader.read(kind, body)
    return read


def known(kind: str, body: Json) -> Json:
    """Returns what the type has of a body, without what only newer previews know."""
    reader = bodies.Reader(_types(), lambda found: found.value, lambda _: False)
    found: Json = reader.read(kind, body)
    return found


@cache
def _types() -> Mapping[str, Mapping[str, str]]:
    return {name: {**members, **_IN_ANSWERS.get(name, {})} for name, members in aks_types().items()}


def _refuse(misfit: Misfit) -> str:
    # Resource Manager reads what stands beside the properties, and AKS the properties.
    if misfit.path[0] != "properties":
        return bodies.of_resource_manager(misfit)
    path = ".".join(name for name in misfit.path if isinstance(name, str))
    value = _VALUES.get(type(misfit.value), "number")
    if value == "number" and misfit.kind in ("integer", "number"):
        value = f"number {misfit.value}"
    raise errors.ArmError(
        errors.WRONG_KIND, value=value, field=f"{misfit.owner}.{path}", kind=_in_go(misfit.kind)
    )


def _in_go(kind: str) -> str:
    container, _, inner = kind.partition(" of ")
    return _CONTAINERS[container] + _in_go(inner) if inner else _KINDS.get(kind, kind)
