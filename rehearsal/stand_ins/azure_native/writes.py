"""The requests that make a resource as its inputs say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rehearsal.stand_ins.azure_native.types import ArmType

_CAPITAL = re.compile(r"[A-Z]")


@dataclass(frozen=True)
class Write:
    method: Literal["PUT", "PATCH"]
    body: dict[str, Any]


def write(arm_type: ArmType, inputs: Mapping[str, Any], before: Mapping[str, Any]) -> Write:
    """The request that turns a resource with the inputs `before` into one with these inputs."""
    aside = {*arm_type.path_properties, "azureApiVersion"}
    body = {name: value for name, value in inputs.items() if name not in aside}
    for name in arm_type.dashed.intersection(body):
        body[name] = {_dashed(key): value for key, value in body[name].items()}
    has_removals = False
    for owner, name in arm_type.string_sets:
        ids = _ids(inputs, owner, name)
        if ids is None:
            continue
        removed = [one for one in _ids(before, owner, name) or () if one not in ids]
        has_removals |= bool(removed)
        members: dict[str, Any] = {one: {} for one in ids} | dict.fromkeys(removed)
        body[owner] = {**body[owner], name: members}
    # What azure-native removes from a set it names with a null, which takes a PATCH.
    return Write("PATCH" if has_removals else "PUT", _nested(arm_type, body))


def _nested(arm_type: ArmType, body: dict[str, Any]) -> dict[str, Any]:
    outside = {name: value for name, value in body.items() if name in arm_type.envelope}
    inside = {name: value for name, value in body.items() if name not in arm_type.envelope}
    return outside | {"properties": inside} if inside else outside


def _ids(inputs: Mapping[str, Any], owner: str, name: str) -> list[str] | None:
    ids: list[str] | None = (inputs.get(owner) or {}).get(name)
    return ids


def _dashed(name: str) -> str:
    return _CAPITAL.sub(lambda match: f"-{match[0].lower()}", name)
