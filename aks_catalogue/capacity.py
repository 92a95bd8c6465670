"""Capacity: pools of which the cluster autoscaler takes the first that Azure has machines for."""

from collections.abc import Sequence
from datetime import date

# When the facts about the autoscaler were true.
AS_OF = date(2026, 11, 28)

# What the nodes of all its pools have, so that one pod fits each of them, and no other pod does.
LABEL = "aks-gpu/capacity"
# The cluster autoscaler's expander, and the ConfigMap by which it chooses.
EXPANDER = "priority"
NAMESPACE, CONFIG_MAP = "kube-system", "cluster-autoscaler-priority-expander"
KEY = "priorities"
_STEP = 10


def taint(name: str) -> str:
    """Returns the taint of the nodes of all its pools."""
    return f"{LABEL}={name}:NoSchedule"


def priorities(ladders: Sequence[Sequence[str]]) -> str:
    """Returns the ConfigMap's text for the pools of each capacity, in their order.

    The autoscaler knows a pool by its scale set: aks-POOL-NUMBER-vmss. A pod selects one capacity,
    so the pools of two can have the same priorities.
    """
    ranked: dict[int, list[str]] = {}
    for pools in ladders:
        for rank, pool in enumerate(reversed(pools), start=1):
            ranked.setdefault(rank * _STEP, []).append(f'  - "^aks-{pool}-"\n')
    return "".join(f"{number}:\n{''.join(ranked[number])}" for number in sorted(ranked)[::-1])
