"""Whether a resource that ARM answers 404 for is gone.

A 404 may also mean another subscription or tenant, a version of the API that there is not, or a
proxy. So its code has to be of a resource that is not there, and the parent has to be there, or be
gone itself.
"""

from typing import Any

from provider_kit.arm import Arm, NotFoundError
from provider_kit.serving import ProviderError

# The codes of ARM and AKS for a resource that is not there, and for a parent of it.
_NOT_THERE = frozenset(
    {
        "agentpoolnotfound",
        "featurenotfound",
        "managedclusternotfound",
        "notfound",
        "parentresourcenotfound",
        "resourcegroupnotfound",
        "resourcenotfound",
    }
)
# AKS's own for any of its resources; its message need not say which.
_OF_ANYTHING = "notfound"
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
    if not says_not_there(error, resource_id):
        raise _doubt(resource_id, error)
    parent = _parent(resource_id)
    if parent is None:
        raise _doubt(resource_id, error)
    version = api_version if "/providers/" in parent.lower() else _PLACES_VERSION
    try:
        await arm.watched(arm.look(parent, version, until))
    except NotFoundError as inner:
        await require_gone(arm, parent, version, until, inner)
    except ProviderError as inner:
        if not str(inner).startswith(_MAY_NOT_LOOK):
            raise _doubt(resource_id, inner) from inner


def says_not_there(error: NotFoundError, resource_id: str) -> bool:
    """Whether a 404 says of a resource, or a parent of it, that it is not there."""
    said = error.said.casefold()
    code = said.partition(":")[0].strip()
    names = resource_id.casefold().split("/")[4::2]
    return code == _OF_ANYTHING or (code in _NOT_THERE and any(name in said for name in names))


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
