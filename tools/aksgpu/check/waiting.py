"""Why pods wait for GPUs: what each pool that they ask for says to a new node."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aks_catalogue import capacity, scale_ups
from aks_catalogue.scheduling import Spec, selected_labels, selects, untolerated
from aksgpu.check.cluster_view import ClusterView
from aksgpu.check.expected import Expected, Pool
from aksgpu.outcome import listed


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A pool of a capacity as it is now."""

    pool: str
    nodes: int
    most: int | None
    # Why AKS adds no node to it, with the error's code; empty if nothing is known against it.
    barred: str

    def __str__(self) -> str:
        number = f"{self.nodes} of {self.most}" if self.most is not None else str(self.nodes)
        return f"{number} nodes{f'; {self.barred}' * bool(self.barred)}"

    def document(self) -> dict[str, Any]:
        return {**vars(self), "barred": self.barred or None}


def ladder(pools: list[Pool], view: ClusterView) -> list[Rung]:
    """The rungs of a capacity, in their order."""
    return [
        Rung(pool=pool.name, nodes=nodes(pool, view), most=pool.most, barred=barred(pool, view))
        for pool in pools
    ]


def nodes(pool: Pool, view: ClusterView) -> int:
    return sum(node.pool == pool.name for node in view.nodes)


def barred(pool: Pool, view: ClusterView) -> str:
    """Why AKS adds no node to a pool; empty if nothing is known against it."""
    if pool.is_scaled is False:
        return "AKS does not scale it"
    growth = view.growth.get(pool.name)
    if growth and growth.state == scale_ups.BACKOFF:
        since = f" since {growth.since}" if growth.since else ""
        return f"{growth.failure}, backed off{since}"
    number = max(nodes(pool, view), growth.target if growth else 0)
    most = growth.most if growth else pool.most
    return f"it has its most nodes, {number} of {most}" if most and number >= most else ""


def reasons(spec: Spec, gpus: int, view: ClusterView, expected: Expected) -> str:
    """Why none of the pools that a pod asks for gets a node for it; empty if nothing is known."""
    name, pools = _asked(spec, expected)
    told = [(pool.name, _reason(spec, gpus, pool, view)) for pool in pools]
    text = ", ".join(f"{pool} ({reason})" for pool, reason in told if reason)
    return f"{f'Capacity {name}' if name else 'Pools'}: {text}" if text else ""


def with_reasons(text: str, why: str) -> str:
    """What the scheduler says, and then what the pools say."""
    return f"{text.rstrip('.')}. {why}" if why else text


def capacity_of(spec: Spec) -> str:
    """The capacity that a pod selects; empty if it selects none."""
    return next((names[0] for key, names in selected_labels(spec) if key == capacity.LABEL), "")


def _asked(spec: Spec, expected: Expected) -> tuple[str, list[Pool]]:
    if name := capacity_of(spec):
        return name, expected.ladders().get(name, [])
    return "", [
        pool
        for pool in (expected.pools or {}).values()
        if selects(spec, pool.label_of) and not untolerated(spec, pool.taints or ())
    ]


def _reason(spec: Spec, gpus: int, pool: Pool, view: ClusterView) -> str:
    return "; ".join(_misfits(spec, gpus, pool)) or barred(pool, view) or _grows(pool, view)


def _misfits(spec: Spec, gpus: int, pool: Pool) -> Iterator[str]:
    if pool.gpus and gpus > pool.gpus:
        yield f"the pod requests {gpus} GPUs, a node has {pool.gpus}"
    if taints := untolerated(spec, pool.taints or ()):
        yield f"the pod does not tolerate {listed(map(str, taints))}"


def _grows(pool: Pool, view: ClusterView) -> str:
    growth = view.growth.get(pool.name)
    return "AKS adds a node" if growth and growth.state == scale_ups.IN_PROGRESS else ""
