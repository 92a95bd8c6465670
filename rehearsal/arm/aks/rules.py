"""Checks that a PUT changes no fixed property and has no properties of newer API versions."""

from collections.abc import Collection

from catalogue import nodes
from catalogue.shapes import at
from rehearsal.arm import errors
from rehearsal.arm.aks import fields
from rehearsal.arm.request import Json


def in_version(resource: str, body: Json, api_version: str) -> None:
    """Refuses properties that only newer API versions have."""
    if not fields.is_strict(api_version):
        return
    for path in sorted(fields.hidden(resource, api_version)):
        if at(body, path) is not None:
            raise errors.ArmError(errors.UNKNOWN_FIELD, field=path.rpartition(".")[2])


def unchanged(present: Json, after: Json, names: Collection[str], prefix: str, given: Json) -> None:
    """Refuses changes of properties that are fixed at creation.

    Of several changes it names one that the request has sent.
    """
    for name in sorted(names, key=lambda name: at(given, name) is None):
        implied = fields.IMPLIED.get(name)
        before, requested = at(present, name) or implied, at(after, name) or implied
        if not _same(before, requested) and not _is_allowed_change(name, requested, present):
            target = f"{prefix}{name}"
            raise errors.ArmError(errors.IMMUTABLE, target, property=target)


def not_changed_to(present: Json, after: Json) -> None:
    """Refuses changes that AKS allows only in the other direction, or not at all."""
    for path, *pair in fields.NOT_CHANGED_TO:
        if [str(at(body, path)).lower() for body in (present, after)] == pair:
            raise errors.ArmError(errors.IMMUTABLE, path, property=path)


def _is_allowed_change(name: str, requested: object, present: Json) -> bool:
    """Returns whether AKS allows this change of a fixed property."""
    tags = {str(tag).lower(): str(value) for tag, value in (present.get("tags") or {}).items()}
    is_skipped = tags.get(nodes.SKIP_DRIVER_TAG.lower(), "").lower() == "true"
    # The tag has skipped the driver before (Azure/azure-cli#32531).
    return name == "gpuProfile.driver" and requested == "None" and is_skipped


def _same(value: object, other: object) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return value.lower() == other.lower()
    if isinstance(value, list) and isinstance(other, list):
        return sorted(map(str, value)) == sorted(map(str, other))
    return value == other
