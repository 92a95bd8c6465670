"""Validation rules for capacity: its name, and its rungs."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from aks_catalogue.gpu_resources import gpu_resource
from aks_catalogue.mistakes import Mistake
from aks_catalogue.sizes import find, is_below
from aks_catalogue.valid import Values, matches

CAPACITY_NAME = matches(
    re.compile(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?"),
    "{!r} is not a valid name: use up to 40 lowercase letters, digits and '-', and start with a "
    "letter",
)


def check_rungs(rungs: Sequence[Any], capacity: Values) -> str | list[Mistake] | None:
    """Judges the rungs: arguments of pools, or sections of a stack file."""
    if not rungs:
        return "needs at least one rung, a pool"
    return [
        *_twice(rungs),
        *_unscaled(rungs),
        *_too_small(rungs, capacity),
        *_others(rungs),
    ]


def _twice(rungs: Sequence[Any]) -> Iterator[Mistake]:
    # The names of a stack file's pools are judged beside those of all others.
    names = [getattr(rung, "pool_name", None) for rung in rungs]
    for number, name in enumerate(names):
        if isinstance(name, str) and (others := names.count(name)) > 1:
            reason = f"{others} rungs are named {name!r}: give each its own name"
            yield Mistake(f"[{number}].poolName", reason)


def _unscaled(rungs: Sequence[Any]) -> Iterator[Mistake]:
    for number, rung in enumerate(rungs):
        if rung.max_count is None:
            reason = "is required: AKS adds nodes to rungs one after the other"
            yield Mistake(f"[{number}].maxCount", reason)
        if (rung.extra or {}).get("scaleDownMode") == "Deallocate":
            reason = (
                "scaleDownMode: Deallocate keeps AKS on a rung without machines (Azure/AKS#5589): "
                "use Delete"
            )
            yield Mistake(f"[{number}].extra", reason)


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


def _others(rungs: Sequence[Any]) -> Iterator[Mistake]:
    """The rungs whose GPUs have another name than those of the first: a pod asks for one name."""
    names = [_resource(rung) for rung in rungs]
    for number, name in enumerate(names):
        if name and names[0] and name != names[0]:
            reason = (
                f"its GPUs are {name}, and those of the first rung are {names[0]}: use the same "
                "migProfile, migStrategy and sharing on all rungs"
            )
            yield Mistake(f"[{number}]", reason)


def _resource(rung: Any) -> str | None:
    if not isinstance(rung.vm_size, str) or not isinstance(rung.mig_profile, str | None):
        return None
    shared = rung.sharing.time_slicing if rung.sharing else None
    return gpu_resource(
        rung.vm_size,
        mig_profile=rung.mig_profile,
        mig_strategy=rung.mig_strategy,
        time_slicing=shared,
    ).name
