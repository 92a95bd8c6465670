"""Why pods wait for GPUs: what each pool that they ask for says to a new node."""

from collections.abc import Iterator
from typing import Any

from aks_catalogue import capacity, scale_ups
from aks_catalogue.scheduling import Spec, selected_labels, selects, untolerated
from aksgpu.check.cluster_view import ClusterView
from aksgpu.check.expected import Expected, Pool
from aksgpu.outcome import listed


def rung(pool: Pool, view: ClusterView) -> dict[str, Any]:
    """A pool of a capacity as it is now, for programs."""
    why = barred(pool, view) or None
    return {"pool": pool.name, "nodes": nodes(pool, view), "most": pool.most, "barred": why}


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


def told(text: str, spec: Spec, gpus: int, view: ClusterView, expected: Expected) -> str:
    """What is said of a pod that waits, and then what each pool says."""
    why = reasons(spec, gpus, view, expected)
    return f"{text.rstrip('.')}. {why}" if why else text


def reasons(spec: Spec, gpus: int, view: ClusterView, expected: Expected) -> str:
    """Why none of the pools that a pod asks for gets a node for it; empty if nothing is known."""
    if name := unknown_capacity(spec, expected):
        others = f"; the stack has {listed(expected.ladders())}" if expected.ladders() else ""
        return f"No pool of the stack has the capacity {name}{others}"
    name, pools = _asked(spec, expected)
    by_pool = [(pool.name, _reason(spec, gpus, pool, view)) for pool in pools]
    text = ", ".join(f"{pool} ({reason})" for pool, reason in by_pool if reason)
    return f"{f'Capacity {name}' if name else 'Pools'}: {text}" if text else ""


def capacity_of(spec: Spec) -> str:
    """The capacity that a pod selects; empty if it selects none."""
    named = (names for key, names in selected_labels(spec) if key == capacity.LABEL and names)
    return next(named, [""])[0]


def unknown_capacity(spec: Spec, expected: Expected) -> str:
    """The capacity that a pod selects, if no pool of the stack has it; else empty."""
    name = capacity_of(spec)
    return "" if expected.pools is None or name in expected.ladders() else name


def node_comes(spec: Spec, gpus: int, view: ClusterView, expected: Expected) -> bool:
    """Whether AKS adds a node on which the pod can run."""
    return any(
        _grows(pool, view) and not any(_misfits(spec, gpus, pool))
        for pool in _asked(spec, expected)[1]
    )


def _asked(spec: Spec, expected: Expected) -> tuple[str, list[Pool]]:
    if name := capacity_of(spec):
        return name, expected.ladders().get(name, [])
    return "", [
        pool
        for pool in (expected.pools or {}).values()
        if selects(spec, pool.label_of) and not untolerated(spec, pool.taints or ())
    ]


def _reason(spec: Spec, gpus: int, pool: Pool, view: ClusterView) -> str:
    grows = "AKS adds a node" * _grows(pool, view)
    return "; ".join(_misfits(spec, gpus, pool)) or barred(pool, view) or grows


def _misfits(spec: Spec, gpus: int, pool: Pool) -> Iterator[str]:
    if pool.gpus and gpus > pool.gpus:
        yield f"the pod requests {gpus} GPUs, a node has {pool.gpus}"
    if taints := untolerated(spec, pool.taints or ()):
        yield f"the pod does not tolerate {listed(map(str, taints))}"


def _grows(pool: Pool, view: ClusterView) -> bool:
    growth = view.growth.get(pool.name)
    return growth is not None and growth.state == scale_ups.IN_PROGRESS
