"""Whether a resource for which ARM answers 404 is deleted.

A 404 can also mean another subscription or tenant, an API version that does not exist, or a proxy.
So the error code must be that of a missing resource, and the parent must exist or be deleted too.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from provider_kit.arm import Arm, NotFoundError
from provider_kit.serving import ProviderError

# By error code of ARM and AKS, the type of the missing resource. Other codes do not imply a type;
# their message names the resource.
_OF_A_TYPE: Mapping[str, str] = MappingProxyType(
    {
        "agentpoolnotfound": "agentpools",
        "featurenotfound": "features",
        "managedclusternotfound": "managedclusters",
        "resourcegroupnotfound": "resourcegroups",
    }
)
_OF_A_PARENT, _OF_WHAT_IT_NAMES = "parentresourcenotfound", "resourcenotfound"
# AKS's code for any of its resources; its message may not name it.
_OF_AKS, _AKS = "notfound", "/providers/microsoft.containerservice/"
_PLACES_VERSION = "2022-12-01"
# The error code for missing permission on a parent. The subscription exists then.
_NOT_AUTHORIZED = "AuthorizationFailed"


async def find(
    arm: Arm, resource_id: str, api_version: str, until: float | None
) -> dict[str, Any] | None:
    """Returns a resource as ARM returns it; None if it is certainly deleted."""
    try:
        return await arm.watched(arm.look(resource_id, api_version, until))
    except NotFoundError as error:
        await require_gone(arm, resource_id, api_version, until, error)
        return None


async def require_gone(
    arm: Arm, resource_id: str, api_version: str, until: float | None, error: NotFoundError
) -> None:
    """Raises ProviderError unless a resource for which ARM answers 404 is certainly deleted."""
    missing, parent = _missing(error, resource_id), _parent(resource_id)
    if missing is None or parent is None:
        raise _doubt(resource_id, error)
    version = api_version if "/providers/" in parent.lower() else _PLACES_VERSION
    try:
        await arm.watched(arm.look(parent, version, until))
    except NotFoundError as inner:
        await require_gone(arm, parent, version, until, inner)
    except ProviderError as inner:
        if not str(inner).startswith(_NOT_AUTHORIZED):
            raise _doubt(resource_id, inner) from inner
    else:
        if missing != resource_id:
            # The resource that is reported missing exists, or contains one that exists.
            raise _doubt(resource_id, error)


def reports_missing(error: NotFoundError, resource_id: str) -> bool:
    """Whether a 404 reports that a resource, or a parent of it, does not exist."""
    return _missing(error, resource_id) is not None


def _missing(error: NotFoundError, resource_id: str) -> str | None:
    """Returns the resource or parent that a 404 reports as missing; None if it reports none."""
    said = error.said.casefold()
    code = said.partition(":")[0].strip()
    if code == _OF_AKS:
        return resource_id if _AKS in resource_id.casefold() else None
    line = [*_line(resource_id)]
    if not any(name in said for name in resource_id.casefold().split("/")[4::2]):
        return None
    if code == _OF_A_PARENT:
        return _parent(resource_id)
    if code in _OF_A_TYPE:
        return next((each for each in line if _type(each) == _OF_A_TYPE[code]), None)
    if code != _OF_WHAT_IT_NAMES:
        return None
    # Paths are surer than names: a pool may have the name of its group.
    paths = [each for each in line if each.casefold().rpartition("/providers/")[2] in said]
    words = set(re.findall(r"[\w.-]*[\w-]", said))
    named = [each for each in line if each.casefold().rpartition("/")[2] in words]
    return next(iter([*paths, *named]), None)


def _line(resource_id: str) -> Iterator[str]:
    """A resource and its parents, up to the group."""
    each: str | None = resource_id
    while each is not None and (parent := _parent(each)) is not None:
        yield each
        each = parent


def _type(resource_id: str) -> str:
    return resource_id.casefold().split("/")[-2]


def _parent(resource_id: str) -> str | None:
    """Returns the parent resource, group or subscription; None for a subscription."""
    parts = resource_id.split("/")
    while len(parts) > 3:
        parts = parts[:-2]
        if len(parts) < 3 or parts[-2].lower() != "providers":
            return "/".join(parts)
    return None


def _doubt(resource_id: str, error: ProviderError) -> ProviderError:
    return ProviderError(
        f"Whether {resource_id} still exists is unknown, so it stays in the state: {error}"
    )
