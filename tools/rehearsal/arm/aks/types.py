"""Reads request bodies by the types of AKS's API."""

from collections.abc import Mapping
from functools import cache

from aks_catalogue.aks_types import aks_types
from rehearsal.arm import bodies, errors
from rehearsal.arm.request import Json

# Properties in AKS's responses that its API types lack: clients send them back.
_IN_ANSWERS = {"ManagedClusterAADProfile": {"adminUsers": "list of string"}}
# Older stable versions ignore unknown fields, and previews may have fields that no table has.
STRICT_SINCE = "2024-01-01"


def read(kind: str, body: Json, api_version: str) -> Json:
    """Returns a body read by its type, without nulls; refuses a body that does not match it."""
    is_strict = api_version >= STRICT_SINCE and not api_version.endswith("-preview")
    read: Json = bodies.Reader(_types(), _misfit, is_strict).read(kind, body)
    return read


@cache
def _types() -> Mapping[str, Mapping[str, str]]:
    return {name: {**members, **_IN_ANSWERS.get(name, {})} for name, members in aks_types().items()}


def _misfit(path: str, kind: str | None) -> errors.ArmError:
    if kind is None:
        return errors.ArmError(errors.UNKNOWN_FIELD, field=path.rpartition(".")[2])
    # AKS reads `properties`; Resource Manager reads the rest.
    if not path.startswith("properties"):
        return bodies.of_resource_manager(path, kind)
    return errors.ArmError(errors.WRONG_KIND, field=path, kind=kind)
