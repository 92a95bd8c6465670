"""Which pods can run on a pool: selectors and its labels, tolerations and its taints."""

from collections.abc import Callable, Mapping
from functools import partial

from aks_catalogue import scheduling
from aks_catalogue.nodes import ACCELERATOR_LABEL, POOL_LABEL, SPOT_LABEL, SPOT_TAINT, TAINT
from aks_catalogue.scheduling import UNKNOWN, UNMET, Spec, Taint, Unknown, selects
from aks_catalogue.sizes import architecture, cpu_sizes, gpu_sizes
from aks_pools.gpus import are_nvidias
from aks_pools.pools import Pool
from aks_pools.values import text
from policies.certainty import Certainty

Label = str | Unknown | None

# AKS, Kubernetes, or software that discovers GPUs sets labels with these domains.
_SYSTEM_DOMAINS = (
    "kubernetes.io", "k8s.io", "kubernetes.azure.com", "csi.azure.com", "nvidia.com", "amd.com"
)  # fmt: skip


def _name(pool: Pool) -> str:
    return pool.text("agentPoolName") or pool.text("name")


def _system(pool: Pool) -> str:
    return (pool.text("osType") or "Linux").lower()


def _accelerator(pool: Pool) -> Label:
    return {True: "nvidia", False: None, None: UNKNOWN}[are_nvidias(pool)]


def _instance_type(pool: Pool) -> Label:
    """The VM size in Azure's spelling; the program can use any case."""
    vm_size = pool.text("vmSize").lower()
    size = gpu_sizes().get(vm_size) or cpu_sizes().get(vm_size)
    return size.name if size else UNKNOWN


def _architecture(pool: Pool) -> Label:
    names = {architecture(vm_size) for vm_size in pool.sizes()}
    return (names.pop() if len(names) == 1 else None) or UNKNOWN


# The labels that AKS sets on the nodes of a pool; None: not set.
_BY_AKS: Mapping[str, Callable[[Pool], Label]] = {
    POOL_LABEL: _name,
    "agentpool": _name,
    "kubernetes.io/os": _system,
    "beta.kubernetes.io/os": _system,
    "kubernetes.io/arch": _architecture,
    "beta.kubernetes.io/arch": _architecture,
    "node.kubernetes.io/instance-type": _instance_type,
    "kubernetes.azure.com/mode": lambda pool: (pool.text("mode") or "User").lower(),
    ACCELERATOR_LABEL[0]: _accelerator,
    "kubernetes.azure.com/accelerator": _accelerator,
    SPOT_LABEL[0]: lambda pool: SPOT_LABEL[1] if pool.is_spot() else None,
}


def is_selected(pool: Pool, pods: Spec) -> Certainty:
    """Whether the pool's nodes match the pods' selectors and required affinity.

    That is certain if they match whatever the labels are that nobody knows before there are nodes.
    """
    if not selects(pods, partial(_label, pool)):
        return Certainty.NO
    return Certainty.of(selects(pods, partial(_known_label, pool), UNMET) or None)


def untolerated(pool: Pool, pods: Spec) -> list[str]:
    """Returns the taints of a pool that the pods do not tolerate."""
    return _untolerated([*pool.taints(), *[SPOT_TAINT] * pool.is_spot()], pods)


def tolerates(pool: Pool, pods: Spec) -> Certainty:
    """Whether the pods tolerate the pool's taints. Taints of new nodes only are uncertain."""
    if untolerated(pool, pods):
        return Certainty.NO
    new = _untolerated(pool.texts("nodeInitializationTaints"), pods)
    return Certainty.POSSIBLE if new else Certainty.CERTAIN


def _untolerated(texts: list[str], pods: Spec) -> list[str]:
    taints = [one for one in dict.fromkeys(texts) if TAINT.fullmatch(one)]
    return [one for one in taints if scheduling.untolerated(pods, [Taint.parse(one)])]


def _label(pool: Pool, key: str) -> Label:
    """Returns a label of the pool's nodes, or UNKNOWN if other software may set it."""
    if by_aks := _BY_AKS.get(key):
        return by_aks(pool)
    labels = pool.part("nodeLabels")
    if key in labels:
        return text(labels[key], f"nodeLabels.{key}")
    domain = key.partition("/")[0] if "/" in key else ""
    is_system = f".{domain}".endswith(tuple(f".{system}" for system in _SYSTEM_DOMAINS))
    return UNKNOWN if is_system else None


def _known_label(pool: Pool, key: str) -> Label:
    """Returns the same, but a label that nobody knows meets no requirement."""
    label = _label(pool, key)
    return UNMET if label is UNKNOWN else label
