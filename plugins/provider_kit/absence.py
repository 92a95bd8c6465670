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
_MISSING_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "agentpoolnotfound": "agentpools",
        "featurenotfound": "features",
        "managedclusternotfound": "managedclusters",
        "resourcegroupnotfound": "resourcegroups",
    }
)
_PARENT_MISSING, _RESOURCE_MISSING = "parentresourcenotfound", "resourcenotfound"
# AKS's error code for any of its resources. The message may not name the resource.
_AKS_CODE, _AKS = "notfound", "/providers/microsoft.containerservice/"
# The API version for resource groups and subscriptions.
_PARENT_API_VERSION = "2022-12-01"
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
    version = api_version if "/providers/" in parent.lower() else _PARENT_API_VERSION
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
    message = error.azure_message.casefold()
    code = message.partition(":")[0].strip()
    if code == _AKS_CODE:
        return resource_id if _AKS in resource_id.casefold() else None
    lineage = [*_with_parents(resource_id)]
    if not any(name in message for name in resource_id.casefold().split("/")[4::2]):
        return None
    if code == _PARENT_MISSING:
        return _parent(resource_id)
    if code in _MISSING_TYPES:
        return next((item for item in lineage if _type(item) == _MISSING_TYPES[code]), None)
    if code != _RESOURCE_MISSING:
        return None
    # Paths first: a pool can have the same name as its resource group.
    by_path = [item for item in lineage if item.casefold().rpartition("/providers/")[2] in message]
    words = {word.rstrip(".") for word in re.findall(r"[\w.-]+", message)}
    by_name = [item for item in lineage if item.casefold().rpartition("/")[2] in words]
    return next(iter([*by_path, *by_name]), None)


def _with_parents(resource_id: str) -> Iterator[str]:
    """Yields a resource and its parents, up to the resource group."""
    current: str | None = resource_id
    while current is not None and (parent := _parent(current)) is not None:
        yield current
        current = parent


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
