"""Validation rules for capacity: its name, and its rungs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aks_catalogue import valid_pools
from aks_catalogue.capacity import LABEL
from aks_catalogue.mistakes import Mistake
from aks_catalogue.sizes import AS_OF, find, is_below, is_gpu_size
from aks_catalogue.valid import Values, matches

CAPACITY_NAME = matches(
    re.compile(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?"),
    "{!r} is not a valid name: use up to 40 lowercase letters, digits and '-', and start with a "
    "letter",
)


def check_size(vm_size: str | None, _: Values) -> str | None:
    return valid_pools.check_gpu_size(vm_size, {}) if vm_size else None


def check_size_is_known(vm_size: str | None, _: Values) -> str | None:
    """Azure never sees this size, so nobody else tells of a typo in it."""
    if not vm_size or not is_gpu_size(vm_size) or find(vm_size):
        return None
    return f"{vm_size} is not in the table of GPU sizes of {AS_OF}: no rung is compared with it."


def check_rungs(rungs: Sequence[Any], capacity: Values) -> str | list[Mistake] | None:
    """Judges the rungs: arguments of pools, or sections of a stack file."""
    if not rungs:
        return "needs at least one rung, a pool"
    return [
        *_unscaled(rungs),
        *_labelled(rungs),
        *_too_small(rungs, capacity),
        *_cut_otherwise(rungs),
    ]


def _unscaled(rungs: Sequence[Any]) -> Iterator[Mistake]:
    for number, rung in enumerate(rungs):
        if rung.max_count is None:
            reason = "is required: AKS adds nodes to rungs one after the other"
            yield Mistake(f"[{number}].maxCount", reason)
        if rung.extra.get("scaleDownMode") == "Deallocate":
            reason = (
                "scaleDownMode: Deallocate keeps AKS on a rung without machines (Azure/AKS#5589): "
                "use Delete"
            )
            yield Mistake(f"[{number}].extra", reason)


def _labelled(rungs: Sequence[Any]) -> Iterator[Mistake]:
    for number, rung in enumerate(rungs):
        if isinstance(rung.labels, Mapping) and LABEL in rung.labels:
            yield Mistake(f"[{number}].labels.{LABEL}", "is set by the capacity; remove it")


def _too_small(rungs: Sequence[Any], capacity: Values) -> Iterator[Mistake]:
    """The sizes with fewer GPUs, or with less memory, than pods count on."""
    made_for = capacity.get("vmSize") or rungs[0].vm_size
    floor = find(made_for) if isinstance(made_for, str) else None
    for number, rung in enumerate(rungs):
        size = find(rung.vm_size) if isinstance(rung.vm_size, str) else None
        if size and floor and is_below(size, floor):
            reason = (
                f"{size.name} has fewer GPUs, or less memory on each, than {floor.name}, for which "
                "the pods are made: use a size with at least as many, or set the capacity's vmSize "
                "to its smallest size"
            )
            yield Mistake(f"[{number}].vmSize", reason)


def _cut_otherwise(rungs: Sequence[Any]) -> Iterator[Mistake]:
    """The rungs whose GPUs are cut or shared in another way: pods count on a part of one size."""
    for number, rung in enumerate(rungs):
        is_known = all(isinstance(each.mig_profile, str | None) for each in (rung, rungs[0]))
        if is_known and _cut(rung) != _cut(rungs[0]):
            reason = "use the same migProfile, migStrategy and sharing as on the first rung"
            yield Mistake(f"[{number}]", reason)


def _cut(rung: Any) -> tuple[Any, ...]:
    return rung.mig_profile, rung.mig_strategy or "single", rung.sharing
