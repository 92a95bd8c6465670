"""Capacity reservation groups, and the reservations of machines in them, as AKS reads them."""

from rehearsal.arm.state import Resource, Store

TYPE = "Microsoft.Compute/capacityReservationGroups"


def find(store: Store, identifier: str) -> Resource | None:
    """Returns the group with a resource ID."""
    found = store.find(identifier)
    return found if found is not None and found.type.lower() == TYPE.lower() else None


def reservations(store: Store, group: Resource) -> list[Resource]:
    return store.children(group.id, f"{group.type}/capacityReservations")
