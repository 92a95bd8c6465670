"""Where pods land: selectors against a pool's labels, tolerations against its taints."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from types import MappingProxyType

from catalogue import scheduling
from catalogue.nodes import ACCELERATOR_LABEL, POOL_LABEL, SPOT_LABEL, SPOT_TAINT, TAINT
from catalogue.scheduling import (
    UNKNOWN,
    UNMET,
    LabelOf,
    Spec,
    Taint,
    Unknown,
    asked_labels,
    selects,
)
from catalogue.sizes import architecture, cpu_sizes, gpu_sizes
from policies.certainty import Certainty
from policies.pools import Pool, nvidia_gpus

# Labels under these domains are others' to set: AKS, Kubernetes, or what discovers GPUs on nodes.
_OTHERS_DOMAINS = ("kubernetes.io", "k8s.io", "kubernetes.azure.com", "nvidia.com", "amd.com")
# No more combinations of labels are tried out than these.
_MOST_COMBINATIONS = 1000
_OTHER_VALUE = "a value that no pod asks for"


def _name(pool: Pool) -> str:
    return pool.get("agentPoolName") or pool.get("name")


def _system(pool: Pool) -> str:
    return (pool.get("osType") or "Linux").lower()


def _accelerator(pool: Pool) -> str | Unknown | None:
    found = nvidia_gpus(pool)
    if found is Certainty.POSSIBLE:
        return UNKNOWN
    return "nvidia" if found else None


def _instance_type(pool: Pool) -> str | Unknown:
    """The size as Azure writes it, whatever its case in the program."""
    vm_size = pool.get("vmSize").lower()
    size = gpu_sizes().get(vm_size) or cpu_sizes().get(vm_size)
    return size.name if size else UNKNOWN


def _architecture(pool: Pool) -> str | Unknown:
    found = {architecture(vm_size) for vm_size in pool.sizes()}
    return (found.pop() if len(found) == 1 else None) or UNKNOWN


# What AKS puts on the nodes of a pool by itself; None: not there.
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
    """Whether a node of the pool is what each of the pods asks for by selector and affinity."""
    return chosen(partial(_label, pool), *pods)


def chosen(label_of: LabelOf, *pods: Spec) -> Certainty:
    """The same of a node whose labels are known, or not."""
    if not all(selects(spec, label_of) for spec in pods):
        return Certainty.NO

    def unmet(key: str) -> str | Unknown | None:
        label = label_of(key)
        return UNMET if label is UNKNOWN else label

    if all(selects(spec, unmet, UNMET) for spec in pods):
        return Certainty.CERTAIN
    # What is met and unmet one by one may be neither together: one value at a time is on a node.
    for count, labels in enumerate(_combinations(label_of, pods)):
        if count == _MOST_COMBINATIONS or all(selects(spec, labels) for spec in pods):
            return Certainty.POSSIBLE
    return Certainty.NO


def _combinations(label_of: LabelOf, pods: tuple[Spec, ...]) -> Iterator[LabelOf]:
    """Each way in which the labels that nobody knows can be: as somebody asks, others, or none."""
    asked: dict[str, set[str]] = {}
    for spec in pods:
        for key, values in asked_labels(spec):
            if label_of(key) is UNKNOWN:
                asked.setdefault(key, set()).update(*map(_near, values))
    values_of = [[None, _OTHER_VALUE, *sorted(values)] for values in asked.values()]
    for combination in product(*values_of):
        known = dict(zip(asked, combination, strict=True))
        yield partial(_known_or, known, label_of)


def _known_or(known: Mapping[str, str | None], label_of: LabelOf, key: str) -> str | Unknown | None:
    return known[key] if key in known else label_of(key)


def _near(value: str) -> list[str]:
    """A value and, of a number, those beside it: bounds are asked for, too."""
    if not value.lstrip("+-").isdecimal():
        return [value]
    return [value, str(int(value) - 1), str(int(value) + 1)]


def untolerated(pool: Pool, pods: Spec) -> list[str]:
    """The taints of a pool that keep the pods away."""
    return _untolerated([*pool.taints(), *([SPOT_TAINT] if pool.is_spot() else [])], pods)


def tolerates(pool: Pool, pods: Spec) -> Certainty:
    """Whether no taint keeps the pods away; those that nodes begin with may be there or not."""
    if untolerated(pool, pods):
        return Certainty.NO
    return Certainty.POSSIBLE if _untolerated(pool.first_taints(), pods) else Certainty.CERTAIN


def _untolerated(texts: list[str], pods: Spec) -> list[str]:
    taints = [(text, Taint.parse(text)) for text in dict.fromkeys(texts) if TAINT.fullmatch(text)]
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
