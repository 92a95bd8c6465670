"""Which pods can run on a pool: selectors and its labels, tolerations and its taints."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from types import MappingProxyType

from aks_catalogue import scheduling
from aks_catalogue.nodes import ACCELERATOR_LABEL, POOL_LABEL, SPOT_LABEL, SPOT_TAINT, TAINT
from aks_catalogue.scheduling import (
    UNKNOWN,
    UNMET,
    LabelOf,
    Spec,
    Taint,
    Unknown,
    number,
    selected_labels,
    selects,
)
from aks_catalogue.sizes import architecture, cpu_sizes, gpu_sizes
from aks_pools.pools import Pool, nvidia_gpus
from policies.certainty import Certainty

# AKS, Kubernetes, or software that discovers GPUs sets labels with these domains.
_SYSTEM_DOMAINS = (
    "kubernetes.io", "k8s.io", "kubernetes.azure.com", "csi.azure.com", "nvidia.com", "amd.com"
)  # fmt: skip
# The limit for combinations of labels to try.
_MOST_COMBINATIONS = 1000
_OTHER_VALUE = "a value that no pod selects"


def _name(pool: Pool) -> str:
    return pool.get("agentPoolName") or pool.get("name")


def _system(pool: Pool) -> str:
    return (pool.get("osType") or "Linux").lower()


def _accelerator(pool: Pool) -> str | Unknown | None:
    certainty = nvidia_gpus(pool)
    if certainty is Certainty.POSSIBLE:
        return UNKNOWN
    return "nvidia" if certainty else None


def _instance_type(pool: Pool) -> str | Unknown:
    """The VM size in Azure's spelling; the program can use any case."""
    vm_size = pool.get("vmSize").lower()
    size = gpu_sizes().get(vm_size) or cpu_sizes().get(vm_size)
    return size.name if size else UNKNOWN


def _architecture(pool: Pool) -> str | Unknown:
    names = {architecture(vm_size) for vm_size in pool.sizes()}
    return (names.pop() if len(names) == 1 else None) or UNKNOWN


# The labels that AKS sets on the nodes of a pool; None: not set.
_BY_AKS: Mapping[str, Callable[[Pool], str | Unknown | None]] = MappingProxyType(
    {
        POOL_LABEL: _name,
        "agentpool": _name,
        "kubernetes.io/os": _system,
        "beta.kubernetes.io/os": _system,
        "kubernetes.io/arch": _architecture,
        "beta.kubernetes.io/arch": _architecture,
        "node.kubernetes.io/instance-type": _instance_type,
        "kubernetes.azure.com/mode": lambda pool: (pool.get("mode") or "User").lower(),
        ACCELERATOR_LABEL[0]: _accelerator,
        "kubernetes.azure.com/accelerator": _accelerator,
        SPOT_LABEL[0]: lambda pool: SPOT_LABEL[1] if pool.is_spot() else None,
    }
)


def is_selected(pool: Pool, *pods: Spec) -> Certainty:
    """Whether one node of the pool can match the selectors and the affinity of all the pods."""
    return chosen(partial(_label, pool), *pods)


def chosen(label_of: LabelOf, *pods: Spec) -> Certainty:
    """Whether a node with these labels, of which some can be unknown, matches all the pods."""
    if not all(selects(spec, label_of) for spec in pods):
        return Certainty.NO

    def unmet(key: str) -> str | Unknown | None:
        label = label_of(key)
        return UNMET if label is UNKNOWN else label

    if all(selects(spec, unmet, UNMET) for spec in pods):
        return Certainty.CERTAIN
    # Try all values: a label has one value, so it may match each requirement, but never all.
    for count, labels in enumerate(_combinations(label_of, pods)):
        if count == _MOST_COMBINATIONS or all(selects(spec, labels) for spec in pods):
            return Certainty.POSSIBLE
    return Certainty.NO


def _combinations(label_of: LabelOf, pods: tuple[Spec, ...]) -> Iterator[LabelOf]:
    """Yields the combinations of unknown labels: unset, a selected value, or any other value."""
    selected: dict[str, set[str]] = {}
    for spec in pods:
        for key, values in selected_labels(spec):
            if label_of(key) is UNKNOWN:
                selected.setdefault(key, set()).update(*map(_near, values))
    candidates = [[None, _OTHER_VALUE, *sorted(values)] for values in selected.values()]
    for combination in product(*candidates):
        assumed = dict(zip(selected, combination, strict=True))
        yield partial(_assumed_or, assumed, label_of)


def _assumed_or(
    assumed: Mapping[str, str | None], label_of: LabelOf, key: str
) -> str | Unknown | None:
    return assumed[key] if key in assumed else label_of(key)


def _near(value: str) -> list[str]:
    """Returns a value and, for a number, its neighbors: the operators Gt and Lt are bounds."""
    bound = number(value)
    return [value] if bound is None else [value, str(bound - 1), str(bound + 1)]


def unmet(pool: Pool, pods: Spec) -> list[str]:
    """Returns what the pods select, and no node of the pool has."""
    label_of = partial(_label, pool)
    return [
        *scheduling.unmet_selector(pods, label_of), *scheduling.unmet_affinity(pods, label_of)
    ]  # fmt: skip


def untolerated(pool: Pool, pods: Spec) -> list[str]:
    """Returns the taints of a pool that the pods do not tolerate."""
    return _untolerated([*pool.taints(), *([SPOT_TAINT] if pool.is_spot() else [])], pods)


def tolerates(pool: Pool, pods: Spec) -> Certainty:
    """Whether the pods tolerate the pool's taints. Taints of new nodes only are uncertain."""
    if untolerated(pool, pods):
        return Certainty.NO
    return Certainty.POSSIBLE if _untolerated(pool.first_taints(), pods) else Certainty.CERTAIN


def _untolerated(texts: list[str], pods: Spec) -> list[str]:
    taints = [(text, Taint.parse(text)) for text in dict.fromkeys(texts) if TAINT.fullmatch(text)]
    return [text for text, taint in taints if scheduling.untolerated(pods, [taint])]


def _label(pool: Pool, key: str) -> str | Unknown | None:
    """Returns a label of the pool's nodes, or UNKNOWN if other software may set it."""
    if by_aks := _BY_AKS.get(key):
        return by_aks(pool)
    labels = pool.part("nodeLabels")
    if key in labels:
        return str(labels[key])
    domain = key.partition("/")[0] if "/" in key else ""
    is_system = f".{domain}".endswith(tuple(f".{system}" for system in _SYSTEM_DOMAINS))
    return UNKNOWN if is_system else None
