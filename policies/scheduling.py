"""Where pods land: selectors against a pool's labels, tolerations against its taints."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from catalogue import scheduling
from catalogue.nodes import ACCELERATOR_LABEL, POOL_LABEL, SPOT_LABEL, SPOT_TAINT, TAINT
from catalogue.scheduling import UNKNOWN, Spec, Taint, Unknown, selects
from policies.pools import Pool, has_nvidia_gpus

# Labels under these domains are others' to set: AKS, Kubernetes, or what discovers GPUs on nodes.
_OTHERS_DOMAINS = ("kubernetes.io", "k8s.io", "kubernetes.azure.com", "nvidia.com")


def _name(pool: Pool) -> str:
    return pool.get("agentPoolName") or pool.get("name")


def _system(pool: Pool) -> str:
    return (pool.get("osType") or "Linux").lower()


def _accelerator(pool: Pool) -> str | None:
    return "nvidia" if has_nvidia_gpus(pool) else None


# What AKS puts on the nodes of a pool by itself; None: not there.
_BY_AKS: Mapping[str, Callable[[Pool], str | None]] = MappingProxyType(
    {
        POOL_LABEL: _name,
        "agentpool": _name,
        "kubernetes.io/os": _system,
        "beta.kubernetes.io/os": _system,
        "node.kubernetes.io/instance-type": lambda pool: pool.get("vmSize"),
        "kubernetes.azure.com/mode": lambda pool: (pool.get("mode") or "User").lower(),
        ACCELERATOR_LABEL[0]: _accelerator,
        "kubernetes.azure.com/accelerator": _accelerator,
        SPOT_LABEL[0]: lambda pool: SPOT_LABEL[1] if pool.is_spot() else None,
    }
)


def is_selected(pool: Pool, pods: Spec) -> bool:
    """Whether the nodes of a pool can be what the pods' selector and required affinity ask for."""
    return selects(pods, partial(_label, pool))


def untolerated(pool: Pool, pods: Spec) -> list[str]:
    """The taints of a pool that keep the pods away."""
    texts = dict.fromkeys([*pool.taints(), *([SPOT_TAINT] if pool.is_spot() else [])])
    taints = [(text, Taint.parse(text)) for text in texts if TAINT.fullmatch(text)]
    return [text for text, taint in taints if scheduling.untolerated(pods, [taint])]


def _label(pool: Pool, key: str) -> str | Unknown | None:
    """A label of the pool's nodes; what others set nobody knows before there are nodes."""
    if by_aks := _BY_AKS.get(key):
        return by_aks(pool)
    labels = pool.part("nodeLabels")
    if key in labels:
        return str(labels[key])
    domain = key.partition("/")[0] if "/" in key else ""
    is_others = f".{domain}".endswith(tuple(f".{other}" for other in _OTHERS_DOMAINS))
    return UNKNOWN if is_others else None
