"""Checks the pools of one request against quota."""

from collections import Counter

from aks_catalogue.nodes import surge_nodes
from aks_catalogue.sizes import Size
from rehearsal.arm import errors
from rehearsal.arm.compute import usages
from rehearsal.arm.compute.capacity import is_spot
from rehearsal.arm.offers import Offers, known_sizes
from rehearsal.arm.request import Json
from rehearsal.arm.state import Resource, Store


class Account:
    """The cores in use in a location, and those that one request adds."""

    def __init__(self, store: Store, offers: Offers, location: str) -> None:
        self._offers = offers
        self._location = location
        self._usage = usages.in_use(store, location)
        self._requested: Counter[str] = Counter()

    def nodes(self, pool: Resource) -> int | None:
        """Returns the node count of a pool; None if the pool does not exist yet."""
        return self._usage.nodes.get(pool.id.lower())

    def has_room_for(self, size: Size) -> bool:
        """Returns whether quota allows one more machine of a size."""
        return all(
            self._usage.cores[name] + size.vcpus <= self._offers.limit(name, self._location)
            for name in usages.quotas_of(size, is_spot=False)
        )

    def reserve(self, pool: Resource, nodes: int) -> Json | None:
        """Refuses more nodes than quota allows.

        For spot machines AKS leaves that to Microsoft.Compute: then it returns the error with
        which the operation will fail.
        """
        size = known_sizes().get(str(pool.properties["vmSize"]).lower())
        if nodes <= 0 or size is None:
            return None
        for name in usages.quotas_of(size, is_spot=is_spot(pool)):
            self._requested[name] += nodes * size.vcpus
            limit, used = self._offers.limit(name, self._location), self._usage.cores[name]
            requested, left = self._requested[name], max(0, limit - used)
            if requested <= left:
                continue
            if name == usages.SPOT_QUOTA:
                return self._exceeded(limit, used, requested)
            refusal = errors.NO_REGIONAL_QUOTA if name == "cores" else errors.NO_FAMILY_QUOTA
            raise errors.ArmError(
                refusal, family=name, location=self._location, requested=requested, left=left
            )
        return None

    def _exceeded(self, limit: int, used: int, requested: int) -> Json:
        message = (
            "Operation could not be completed as it results in exceeding approved LowPriorityCores "
            "quota. Additional details - Deployment Model: Resource Manager, Location: "
            f"{self._location}, Current Limit: {limit}, Current Usage: {used}, Additional "
            f"Required: {requested}, (Minimum) New Limit Required: {used + requested}."
        )
        return errors.of_compute("QuotaExceeded", "OperationNotAllowed", message)


def surge(pool: Resource, version: str | None) -> int:
    """Returns the number of surge nodes of an upgrade from a version."""
    has = pool.properties
    if version is None or version == has["currentOrchestratorVersion"]:
        return 0
    settings = has.get("upgradeSettings") or {}
    limits = (str(settings.get(name) or "") for name in ("maxSurge", "maxUnavailable"))
    return surge_nodes(has["count"], *limits, is_spot=is_spot(pool)) or 0
