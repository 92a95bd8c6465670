"""The account of one request: what its pools take of the quotas that hold for them."""

from collections import Counter

from catalogue.nodes import surge_nodes
from rehearsal.arm import errors
from rehearsal.arm.compute import usages
from rehearsal.arm.compute.offers import Offers, known_sizes
from rehearsal.arm.request import Json
from rehearsal.arm.state import Resource, Store

SPOT_QUOTA = "lowPriorityCores"


class Account:
    """What is used in a location, and what the pools of one request ask for on top."""

    def __init__(self, store: Store, offers: Offers, location: str) -> None:
        self._offers = offers
        self._location = location
        self._usage = usages.in_use(store, location)
        self._asked: Counter[str] = Counter()

    def nodes(self, pool: Resource) -> int | None:
        """How many nodes a pool has; None for a pool that is not there yet."""
        return self._usage.nodes.get(pool.id.lower())

    def take(self, pool: Resource, nodes: int) -> Json | None:
        """Refuses what quota does not hold.

        For spot machines AKS leaves that to Microsoft.Compute, and so the error that ends the
        operation is returned.
        """
        vm_size = str(pool.properties["vmSize"])
        size = known_sizes().get(vm_size.lower())
        if nodes <= 0 or size is None:
            return None
        for name in usages.quotas_of(vm_size, is_spot=_is_spot(pool)):
            self._asked[name] += nodes * size.vcpus
            limit, used = self._offers.limit(name, self._location), self._usage.cores[name]
            wanted, left = self._asked[name], max(0, limit - used)
            if wanted <= left:
                continue
            if name == SPOT_QUOTA:
                return self._exceeded(limit, used, wanted)
            fault = errors.NO_REGIONAL_QUOTA if name == "cores" else errors.NO_FAMILY_QUOTA
            raise errors.ArmError(
                fault, family=name, location=self._location, wanted=wanted, left=left
            )
        return None

    def _exceeded(self, limit: int, used: int, wanted: int) -> Json:
        message = errors.QUOTA_EXCEEDED.format(
            name="LowPriorityCores",
            location=self._location,
            limit=limit,
            used=used,
            wanted=wanted,
            needed=used + wanted,
        )
        return errors.of_compute("QuotaExceeded", "OperationNotAllowed", message)


def surge(pool: Resource, version: str | None) -> int:
    """How many nodes an upgrade from a version adds for its time."""
    has = pool.properties
    if version is None or version == has["currentOrchestratorVersion"]:
        return 0
    max_surge = (has.get("upgradeSettings") or {}).get("maxSurge")
    return surge_nodes(has["count"], str(max_surge or ""), is_spot=_is_spot(pool)) or 0


def _is_spot(pool: Resource) -> bool:
    return bool(pool.properties.get("scaleSetPriority") == "Spot")
