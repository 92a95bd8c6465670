"""Names, labels, taints and other rules for nodes and node pools on AKS."""

import math
import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

from aks_catalogue.shapes import at

# The date of these facts.
AS_OF = date(2026, 11, 21)

# The taints for GPU pools, by name: that of the AKS documentation, and that of NVIDIA's charts. AKS
# itself does not taint GPU nodes.
GPU_TAINTS: Mapping[str, str] = MappingProxyType(
    {"sku=gpu": "sku=gpu:NoSchedule", "nvidia.com/gpu": "nvidia.com/gpu=present:NoSchedule"}
)

# The label and taint that AKS adds to spot nodes.
SPOT_LABEL = ("kubernetes.azure.com/scalesetpriority", "spot")
SPOT_TAINT = f"{SPOT_LABEL[0]}={SPOT_LABEL[1]}:NoSchedule"

# The deprecated label of GPU nodes, which AKS still sets.
ACCELERATOR_LABEL = ("accelerator", "nvidia")
# The labels that AKS sets: all of this domain, and these.
AKS_LABEL_DOMAIN = "kubernetes.azure.com"
AKS_LABELS = frozenset({"agentpool", "storageprofile", "storagetier", ACCELERATOR_LABEL[0]})
# The domains of Kubernetes (with subdomains), and the exceptions in which pools can have labels.
KUBERNETES_LABEL_DOMAINS = ("kubernetes.io", "k8s.io")
OPEN_LABEL_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
# The label with the name of a node's pool, which AKS sets.
POOL_LABEL = "kubernetes.azure.com/agentpool"
# The tag of a pool on which AKS manages the GPU driver and the device plugin (preview).
MANAGED_GPU_TAG = "EnableManagedGPUExperience"
# The feature that a subscription needs for pools whose GPUs AKS manages, and the label of their
# nodes, by which the metrics of DCGM are found.
MANAGED_GPU_NAMESPACE = "Microsoft.ContainerService"
MANAGED_GPU_FEATURE = "ManagedGPUExperiencePreview"
DCGM_LABEL = ("kubernetes.azure.com/dcgm-exporter", "enabled")
# The feature with which AKS puts the nodes of a new pool on one InfiniBand network, as its page on
# AMD GPUs (2026-08) and its lab of training on several nodes (2026-09) say.
INFINIBAND_NAMESPACE = "Microsoft.ContainerService"
INFINIBAND_FEATURE = "AKSInfinibandSupport"

# The tag of a pool without a driver, from the time before `gpuProfile.driver`.
SKIP_DRIVER_TAG = "SkipGPUDriverInstall"

LINUX_POOL_NAME = re.compile(r"[a-z][a-z0-9]{0,11}")
LINUX_POOL_NAME_RULE = "1 to 12 lowercase letters and digits, starting with a letter"

TAINT = re.compile(
    r"(?P<key>[A-Za-z0-9][A-Za-z0-9._/-]*)(=(?P<value>[A-Za-z0-9._-]*))?"
    r":(?P<effect>NoSchedule|PreferNoSchedule|NoExecute)"
)
TAINT_RULE = "key=value:effect, where effect is NoSchedule, PreferNoSchedule or NoExecute"

# The syntax of Kubernetes labels: the prefix is a DNS domain.
_PART_OF_DOMAIN = "[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_WORD = "[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_LABEL = re.compile(
    rf"((?=[^/]{{1,253}}/){_PART_OF_DOMAIN}(\.{_PART_OF_DOMAIN})*/)?{_WORD}=({_WORD})?"
)
LABEL_RULE = (
    "a name, optionally with a DNS prefix and '/', and a value; name and value have at most 63 "
    "letters, digits, '-', '_' and '.', and start and end with a letter or digit"
)

# By GPU stack, the value of gpuProfile.driver. With `operator` it depends on gpuOperator.driver.
DRIVERS: Mapping[str, str] = MappingProxyType(
    {
        "device-plugin": "Install",
        "managed": "Install",
        "operator": "Install",
        "specialized-image": "Install",
        "none": "None",
    }
)

# The feature that a subscription needs for encryption at host.
ENCRYPTION_AT_HOST_NAMESPACE = "Microsoft.Compute"
ENCRYPTION_AT_HOST_FEATURE = "EncryptionAtHost"


# How many pods all nodes of a new pool need room for.
ROOM_FOR_PODS = 30

# The default of maxSurge: how many extra nodes AKS adds during an upgrade.
DEFAULT_SURGE = "10%"
# The property of a cluster that lists its inline pools.
INLINE_POOLS = "agentPoolProfiles"

# A number of nodes or a percentage of a pool, and what AKS takes for the bounds of drains.
NUMBER_OF_NODES = re.compile(r"([0-9]{1,9})(%?)")
DRAIN_MINUTES, MOST_DRAIN_MINUTES = 5, 1440

# The spot price that stands for the on-demand price, and the decimals of other prices.
PRICE_ON_DEMAND, DECIMALS_OF_PRICE = -1, 5


def is_left_by_refresh(pool: Mapping[str, Any]) -> bool:
    """Whether an inline pool is there because a refresh has read it: with its power state.

    A system pool is the program's own, which an import, or a refresh after an interrupted creation,
    has read whole.
    """
    return bool(pool.get("powerState")) and str(pool.get("mode")).lower() != "system"


def has_managed_gpus(pool: Mapping[str, Any]) -> bool:
    """Whether AKS manages the GPU driver and the device plugin of a pool."""
    return str(at(pool, "gpuProfile.nvidia.managementMode")).lower() == "managed"


def is_label(key: str, value: object) -> bool:
    """Whether a key and value are valid as a node label."""
    return _LABEL.fullmatch(f"{key}={value}") is not None


def is_aks_label(key: str) -> bool:
    """Whether AKS sets the label and reserves it."""
    return key in AKS_LABELS or key.startswith(f"{AKS_LABEL_DOMAIN}/")


def is_kubernetes_label(key: str) -> bool:
    """Whether Kubernetes reserves the domain of the label."""
    domain = key.partition("/")[0] if "/" in key else ""
    return _is_below(domain, KUBERNETES_LABEL_DOMAINS) and not _is_below(domain, OPEN_LABEL_DOMAINS)


def is_spot_price(price: float) -> bool:
    """Whether AKS accepts the maximum price of a spot pool."""
    is_price = price > 0 and round(price, DECIMALS_OF_PRICE) == price
    return is_price or price == PRICE_ON_DEMAND


def _is_below(domain: str, others: tuple[str, ...]) -> bool:
    return any(domain == other or domain.endswith(f".{other}") for other in others)


def is_zero(number: object) -> bool:
    """Whether maxSurge or maxUnavailable is 0, as a number or as a percentage."""
    found = NUMBER_OF_NODES.fullmatch(str(number).strip())
    return found is not None and not int(found[1])


def max_surge_beside(max_unavailable: str) -> str:
    """Returns the maxSurge to send with maxUnavailable: AKS wants one of them above 0, not both."""
    return DEFAULT_SURGE if is_zero(max_unavailable) else "0"


def node_number(count: int, number: str) -> int | None:
    """The number of nodes of a number, or of a percentage of `count`, rounded up; else None."""
    found = NUMBER_OF_NODES.fullmatch(number.strip())
    if found is None:
        return None
    return math.ceil(count * int(found[1]) / 100) if found[2] else int(found[1])


def surge_nodes(
    count: int, max_surge: str | None, max_unavailable: str | None = None, *, is_spot: bool
) -> int | None:
    """Returns how many extra nodes an upgrade adds; None if maxSurge is invalid."""
    if is_spot or not count:
        return 0
    return node_number(count, max_surge or max_surge_beside(max_unavailable or "0"))


def lost_nodes(name: str, sent: Mapping[str, Any], live: Mapping[str, Any]) -> str | None:
    """Returns why a request must not turn off autoscaling and change the node count at once."""
    is_scaled = live.get("enableAutoScaling") and not sent.get("enableAutoScaling")
    nodes = live.get("count")
    if not is_scaled or not isinstance(nodes, int | float) or sent.get("count") in (None, nodes):
        return None
    nodes = int(nodes)
    return (
        f"AKS has scaled pool {name!r} to {nodes} nodes, and this request has "
        f"{int(sent['count'])}: set its count to {nodes} when you remove minCount and maxCount, "
        "and change it afterwards"
    )
