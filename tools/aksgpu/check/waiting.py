"""Why pods wait for GPUs: what each pool that they ask for says to a new node."""

from collections.abc import Iterator

from aks_catalogue import scale_ups
from aks_catalogue.scheduling import Spec, selected_labels, selects, untolerated
from aksgpu.check.cluster_view import ClusterView
from aksgpu.check.expected import Expected, Pool
from aksgpu.outcome import listed


def barred(pool: Pool, view: ClusterView) -> str:
    """Why AKS adds no node to a pool; empty if nothing is known against it."""
    if pool.is_scaled is False:
        return "AKS does not scale it"
    growth = view.growth.get(pool.name)
    if growth and growth.state == scale_ups.BACKOFF:
        since = f" since {growth.since}" if growth.since else ""
        return f"{growth.failure}, backed off{since}"
    number = sum(node.pool == pool.name for node in view.nodes)
    number = max(number, growth.target if growth else 0)
    most = growth.most if growth else pool.most
    return f"it has its most nodes, {number} of {most}" if most and number >= most else ""


def told(text: str, spec: Spec, gpus: int, view: ClusterView, expected: Expected) -> str:
    """What is said of a pod that waits, and then what each pool that it asks for says."""
    reasons = [(pool.name, _reason(spec, gpus, pool, view)) for pool in _asked(spec, expected)]
    why = ", ".join(f"{pool} ({reason})" for pool, reason in reasons if reason)
    return f"{text.rstrip('.')}. Pools: {why}" if why else text


def node_comes(spec: Spec, gpus: int, view: ClusterView, expected: Expected) -> bool:
    """Whether AKS adds a node on which the pod can run."""
    return any(
        _grows(pool, view) and not any(_misfits(spec, gpus, pool))
        for pool in _asked(spec, expected)
    )


def _asked(spec: Spec, expected: Expected) -> list[Pool]:
    """The pools that a pod can get a node of, or at least those that it selects."""
    selected = [pool for pool in (expected.pools or {}).values() if selects(spec, pool.label_of)]
    tolerated = [pool for pool in selected if not untolerated(spec, pool.taints or ())]
    return tolerated or (selected if any(selected_labels(spec)) else [])


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
