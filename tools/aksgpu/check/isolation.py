"""Whether a pod has GPUs that it did not ask for: one that looks, on a node with GPUs."""

from collections.abc import Mapping
from typing import Any

from aks_catalogue.sample_pod import LOOKED, isolation_pod
from aks_catalogue.shapes import at, mapping
from aksgpu.check.cluster_view import ClusterView
from aksgpu.check.expected import Expected
from aksgpu.check.job import Place, SampleJob, pod_for
from aksgpu.outcome import Cause, Finding, listed

Json = Mapping[str, Any]

_HOSTNAME = "kubernetes.io/hostname"
_PAGE = "docs/isolation.md"


def place(view: ClusterView, expected: Expected) -> Place | None:
    """A node with GPUs, free or not, or a pool without nodes that gets one; None if neither."""
    for node in view.nodes:
        if node.takes_pods and node.capacity:
            name = node.labels.get(_HOSTNAME, node.name)
            return Place(_looking(pod_for(node, expected), {_HOSTNAME: name}))
    for pool in (expected.pools or {}).values():
        has_nodes = any(node.pool == pool.name for node in view.nodes)
        if not has_nodes and pool.can_grow(0):
            selector = mapping(at(pool.pod, "spec.nodeSelector"))
            return Place(_looking(pool.pod, selector), grows=pool.name)
    return None


def _looking(pod: Json, selector: Mapping[str, str]) -> Json:
    """A pod that looks, where another one would get a GPU."""
    return isolation_pod(selector, at(pod, "spec.tolerations") or ())


def devices(job: SampleJob) -> list[str] | None:
    """The device files that the pod had; None if it did not look."""
    *files, last = job.log.splitlines() or [""]
    return files if last == LOOKED else None


def finding(job: SampleJob) -> Finding | None:
    """What the pod saw, if that is more than nothing, or why it did not look."""
    seen = devices(job)
    if seen is None:
        why = job.finding.what if job.finding else "its log cannot be read"
        advice = job.finding.advice if job.finding else "check again; reading logs may need a role"
        return Finding(Cause.ISOLATION_UNKNOWN, f"no pod told what it sees: {why}", advice)
    if not seen:
        return None
    what = f"a pod that asked for no GPU had {listed(seen)} on {job.node}: any pod there can"
    advice = f"set gpuIsolation.enabled, or read {_PAGE} for what else closes it"
    return Finding(Cause.GPUS_OPEN, what, advice, nodes=(job.node or "",))


def not_looked(why: str, advice: str) -> Finding:
    return Finding(Cause.ISOLATION_UNKNOWN, f"isolation was not looked at: {why}", advice)
