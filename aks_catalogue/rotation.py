"""Pools that are replaced without loss: names of their own in Azure, and labels that stay."""

import hashlib
import json
import string
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

ROTATE, IN_PLACE = "rotate", "in-place"

# The labels by which pods find a pool: its name in Azure changes.
LABEL = "aks-gpu/pool"
# What the nodes need of a device plugin: other than those of the pool that is to go.
STACK_LABEL = "aks-gpu/stack"

_DIGITS = string.digits + string.ascii_lowercase
_CHARACTERS = 3
# AKS allows 12 characters.
LONGEST_NAME = 12 - _CHARACTERS


def azure_name(pool_name: str, replacing: Mapping[str, Any]) -> str:
    """Returns the name in Azure of a pool with these values of what replaces it."""
    text = json.dumps([pool_name, _plain(replacing)], sort_keys=True).casefold()
    number = int.from_bytes(hashlib.sha256(text.encode()).digest())
    places = (number // len(_DIGITS) ** place for place in range(_CHARACTERS))
    return pool_name + "".join(_DIGITS[place % len(_DIGITS)] for place in places)


def is_name_of(name: str, pool_name: str, labels: Mapping[str, Any] | None) -> bool:
    """Whether a pool in Azure is a pool of the program, from before its rotation or after."""
    return name == pool_name or (labels or {}).get(LABEL) == pool_name


def labels(pool_name: str, stack: str, *, has_mig: bool) -> Mapping[str, str]:
    """Returns the labels of the nodes of such a pool."""
    return MappingProxyType({LABEL: pool_name, STACK_LABEL: stack_of(stack, has_mig=has_mig)})


def stack_of(stack: str, *, has_mig: bool) -> str:
    """Returns what STACK_LABEL says: AKS has partitions of one kind in a pool."""
    return f"{stack}-mig" if has_mig else stack


def _plain(value: Any) -> Any:
    """Returns a value that is the same in every run: Pulumi turns integers into floats, and
    AKS ignores case.
    """
    match value:
        case Mapping():
            return {name: _plain(inner) for name, inner in value.items() if inner is not None}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case float() if value.is_integer():
            return int(value)
    return value
