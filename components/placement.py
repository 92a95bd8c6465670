"""Where pods land: tolerations out of taints, and selectors out of pools."""

from collections.abc import Iterable
from typing import Any

from catalogue.nodes import POOL_LABEL
from catalogue.scheduling import Taint

Toleration = dict[str, Any]


def tolerations(taints: Iterable[str]) -> list[Toleration]:
    """What a pod has to tolerate to land on nodes with these taints, each said once."""
    return [taint.toleration for taint in dict.fromkeys(map(Taint.parse, taints))]


def node_selector(pool_name: str) -> dict[str, str]:
    """What selects the nodes of one pool."""
    return {POOL_LABEL: pool_name}
