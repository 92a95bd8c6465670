"""Where pods land: selectors against a pool's labels, tolerations against its taints."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from catalogue.nodes import ACCELERATOR_LABEL, POOL_LABEL, SPOT_LABEL, SPOT_TAINT, TAINT
from catalogue.scheduling import BLOCKING, LABEL_TESTS
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


@dataclass(frozen=True, kw_only=True)
class Placement:
    """What pods say of the nodes that they land on."""

    node_selector: Mapping[str, Any] = field(default_factory=dict)
    affinity: Mapping[str, Any] = field(default_factory=dict)
    tolerations: Iterable[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, pods: Mapping[str, Any]) -> "Placement":
        return cls(
            node_selector=pods.get("nodeSelector") or {},
            affinity=pods.get("affinity") or {},
            tolerations=pods.get("tolerations") or (),
        )


def is_selected(pool: Pool, placement: Placement) -> bool:
    """Whether the nodes of a pool can be what the pods' selector and required affinity ask for.

    What a label that others set is, nobody knows before there are nodes: it can be what is asked.
    """
    selector = placement.node_selector
    if not all(_satisfies(pool, key, "In", [selector[key]]) for key in selector):
        return False
    required = (placement.affinity.get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if not required:
        return True
    return any(_is_met(pool, term) for term in required.get("nodeSelectorTerms") or ())


def untolerated(pool: Pool, placement: Placement) -> list[str]:
    """The taints of a pool that keep the pods away."""
    taints = [*pool.taints(), *([SPOT_TAINT] if pool.is_spot() else [])]
    tolerations = list(placement.tolerations)
    return [
        taint
        for taint in dict.fromkeys(taints)
        if (read := TAINT.fullmatch(taint)) and read["effect"] in BLOCKING
        if not any(_tolerates(toleration, read) for toleration in tolerations)
    ]


def _is_met(pool: Pool, term: Mapping[str, Any]) -> bool:
    expressions = term.get("matchExpressions") or ()
    # Kubernetes takes a term that asks for nothing for one that nothing meets.
    if not expressions and not term.get("matchFields"):
        return False
    return all(
        _satisfies(pool, one["key"], one["operator"], one.get("values") or ())
        for one in expressions
    )


def _satisfies(pool: Pool, key: str, operator: str, values: Iterable[Any]) -> bool:
    is_known, actual = _label(pool, key)
    is_met = LABEL_TESTS.get(operator)
    if not is_known or is_met is None:
        return True
    return is_met(actual, [str(value) for value in values])


def _label(pool: Pool, key: str) -> tuple[bool, str | None]:
    """Whether it is known what a label is on a pool's nodes, and what it is."""
    if by_aks := _BY_AKS.get(key):
        return True, by_aks(pool)
    labels = pool.part("nodeLabels")
    if key in labels:
        return True, str(labels[key])
    domain = key.partition("/")[0] if "/" in key else ""
    return not f".{domain}".endswith(tuple(f".{other}" for other in _OTHERS_DOMAINS)), None


def _tolerates(toleration: Mapping[str, Any], taint: re.Match[str]) -> bool:
    effect, key = toleration.get("effect"), toleration.get("key")
    if effect and effect != taint["effect"]:
        return False
    if toleration.get("operator") == "Exists":
        return not key or key == taint["key"]
    return key == taint["key"] and (toleration.get("value") or "") == (taint["value"] or "")
