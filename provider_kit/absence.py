"""Whether a resource that ARM answers 404 for is gone.

A 404 may also mean another subscription or tenant, a version of the API that there is not, or a
proxy. So its code has to be of a resource that is not there, and the parent has to be there, or be
gone itself.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from provider_kit.arm import Arm, NotFoundError
from provider_kit.serving import ProviderError

# The codes of ARM and AKS for a type that is not there; where they are not of one type, the message
# names what is not there.
_OF_A_TYPE: Mapping[str, str] = MappingProxyType(
    {
        "agentpoolnotfound": "agentpools",
        "featurenotfound": "features",
        "managedclusternotfound": "managedclusters",
        "resourcegroupnotfound": "resourcegroups",
    }
)
_OF_A_PARENT, _OF_WHAT_IT_NAMES = "parentresourcenotfound", "resourcenotfound"
# AKS's own for any of its resources; its message need not say which.
_OF_AKS, _AKS = "notfound", "/providers/microsoft.containerservice/"
_PLACES_VERSION = "2022-12-01"
# Whoever may not look at a parent is told so by the subscription, which so is there.
_MAY_NOT_LOOK = "AuthorizationFailed"


async def find(
    arm: Arm, resource_id: str, api_version: str, until: float | None
) -> dict[str, Any] | None:
    """Returns a resource as ARM answers it; None if it is gone for certain."""
    try:
        return await arm.watched(arm.look(resource_id, api_version, until))
    except NotFoundError as error:
        await require_gone(arm, resource_id, api_version, until, error)
        return None


async def require_gone(
    arm: Arm, resource_id: str, api_version: str, until: float | None, error: NotFoundError
) -> None:
    """Raises ProviderError unless a resource that ARM answers 404 for is gone for certain."""
    missing, parent = _missing(error, resource_id), _parent(resource_id)
    if missing is None or parent is None:
        raise _doubt(resource_id, error)
    version = api_version if "/providers/" in parent.lower() else _PLACES_VERSION
    try:
        await arm.watched(arm.look(parent, version, until))
    except NotFoundError as inner:
        await require_gone(arm, parent, version, until, inner)
    except ProviderError as inner:
        if not str(inner).startswith(_MAY_NOT_LOOK):
            raise _doubt(resource_id, inner) from inner
    else:
        if missing != resource_id:
            # What is said to be missing is there, or holds what is there.
            raise _doubt(resource_id, error)


def says_not_there(error: NotFoundError, resource_id: str) -> bool:
    """Whether a 404 says of a resource, or a parent of it, that it is not there."""
    return _missing(error, resource_id) is not None


def _missing(error: NotFoundError, resource_id: str) -> str | None:
    """Which of a resource and its parents a 404 says is not there; None if it says it of none."""
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
    """The resource, group or subscription that a resource lies in; None for a subscription."""
    parts = resource_id.split("/")
    while len(parts) > 3:
        parts = parts[:-2]
        if len(parts) < 3 or parts[-2].lower() != "providers":
            return "/".join(parts)
    return None


def _doubt(resource_id: str, error: ProviderError) -> ProviderError:
    return ProviderError(
        f"Nobody can say whether {resource_id} is gone, so it stays in the state: {error}"
    )
