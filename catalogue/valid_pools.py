"""Validation rules for node pools: system pools and GPU pools."""

import difflib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from catalogue import kubernetes, mig, retirement
from catalogue.headers import GENERATION_2, SPECIALIZED_IMAGE, header_mistakes, is_on
from catalogue.images import SPECIALIZED_IMAGE_RETIRED_ON
from catalogue.nodes import (
    DECIMALS_OF_PRICE,
    DRIVERS,
    LABEL_RULE,
    LINUX_POOL_NAME,
    LINUX_POOL_NAME_RULE,
    NO_SURGE,
    SURGE,
    TAINT,
    TAINT_RULE,
    is_aks_label,
    is_kubernetes_label,
    is_label,
    is_spot_price,
)
from catalogue.sizes import (
    AS_OF,
    SMALLEST_OF_SYSTEM,
    find,
    gpu_sizes,
    is_gpu_size,
    is_smaller,
)
from catalogue.valid import Rule, Rules, Values, between, matches, one_of, wrong_if

_SPECIALIZED = "specialized-image"
GPU_STACK = one_of(*DRIVERS)
LEGAL_TAINT = matches(TAINT, f"{{!r}} is not a valid taint: use {TAINT_RULE}")
_NAME = matches(LINUX_POOL_NAME, f"{{!r}} is not a valid pool name: use {LINUX_POOL_NAME_RULE}")


def _can_schedule_gpus(version: str | None, _: Values) -> str | None:
    minor = kubernetes.minor_version(version or "")
    if version and minor is None:
        return f"{version!r} is not a version: use the form 1.35 or 1.35.2"
    if minor and minor < kubernetes.LOWEST:
        lowest = kubernetes.written(kubernetes.LOWEST)
        return f"{version} is too old for GPUs: use {lowest} or newer"
    return None


KUBERNETES_VERSION: Rule = _can_schedule_gpus


def outgrown(version: str, channel: str | None) -> str | None:
    """Returns why a version conflicts with an upgrade channel, or None.

    The channel upgrades the cluster and its pools, and an update would request the old version.
    """
    if channel in ("stable", "rapid"):
        return (
            f"{channel} upgrades the version, and a later update would request {version} again: "
            "remove kubernetesVersion (to create a cluster with a certain version, use "
            "upgradeChannel: none first)"
        )
    if channel == "patch" and version.count(".") > 1:
        minor = version.rpartition(".")[0]
        return (
            f"patch upgrades the version, and a later update would request {version} again: "
            f"use only the minor version, {minor}"
        )
    return None


def version_beside(version: str, cluster_version: str, channel: str) -> str | None:
    """Returns why a pool's version conflicts with the cluster's version or channel, or None."""
    own, cluster = map(kubernetes.minor_version, (version, cluster_version))
    if own is None or cluster is None:
        return outgrown(version, channel)
    if own > cluster or (own == cluster and kubernetes.is_newer_release(version, cluster_version)):
        return f"{version} is newer than the cluster's {cluster_version}: upgrade the cluster first"
    if own[1] < cluster[1] - kubernetes.MOST_BEHIND:
        return (
            f"{version} is more than {kubernetes.MOST_BEHIND} minor versions older than the "
            f"cluster's {cluster_version}: use a newer version"
        )
    return outgrown(version, channel)


def _is_a_gpu_size(vm_size: str, pool: Values) -> str | None:
    size = find(vm_size)
    if not is_gpu_size(vm_size):
        return f"{vm_size!r} has no GPUs: use a GPU size, such as Standard_NC8as_T4_v3"
    if size and size.gpu_vendor != "NVIDIA" and pool.get("gpuStack", "none") != "none":
        return (
            f"{size.name} has {size.gpu_vendor} GPUs, which the NVIDIA driver and device plugin do "
            f"not support: {_nearest(vm_size)}, or set gpuStack: none"
        )
    return None


def _nearest(vm_size: str) -> str:
    """Suggests the available sizes with the most similar names."""
    names = [
        size.name
        for size in gpu_sizes().values()
        if size.gpu_vendor == "NVIDIA" and size.retired_on is None and size.aks_driver is not False
    ]
    near = difflib.get_close_matches(vm_size, names, n=3, cutoff=0)
    return f"use a size such as {', '.join(near)}"


def _lies_above_the_smallest(largest: int | None, pool: Values) -> str | None:
    smallest: int | None = pool.get("minCount", largest)
    if (smallest is None) != (largest is None):
        return "minCount and maxCount belong together: set both, or neither"
    if smallest is not None and largest is not None and smallest > largest:
        return f"{largest} is less than minCount, {smallest}"
    return None


def _admits_the_count(largest: int | None, pool: Values) -> str | None:
    smallest, count = pool.get("minCount"), pool.get("count")
    if largest is None or smallest is None or count is None or smallest <= count <= largest:
        return None
    return (
        f"the initial count, {count}, is not between minCount, {smallest}, and maxCount, "
        f"{largest}: set count to a number between the two"
    )


def _are_legal(headers: Mapping[str, Any] | None, _: Values) -> str | None:
    return "; ".join(f"{wrong.path!r} {wrong.reason}" for wrong in header_mistakes(headers or {}))


def _ask_for_one_image(headers: Mapping[str, Any] | None, pool: Values) -> str | None:
    # A pool without GPUs has no GPU stack.
    if pool.get("gpuStack") in (None, _SPECIALIZED):
        return None
    if not is_on(headers, SPECIALIZED_IMAGE):
        return None
    # Only a stack file has the key `image`.
    by_image = "set image: specialized, which sends the header"
    remedy = by_image if "image" in pool else "set gpuStack: specialized-image"
    return (
        f"{SPECIALIZED_IMAGE}=true requests the specialized image, but gpuStack is "
        f"{pool['gpuStack']}: {remedy}"
    )


def _ask_for_the_generation(headers: Mapping[str, Any] | None, pool: Values) -> str | None:
    size = find(pool.get("vmSize", ""))
    if pool.get("gpuStack") != _SPECIALIZED or size is None:
        return None
    if size.generations != {"Gen2"} or is_on(headers, GENERATION_2):
        return None
    return (
        f"{size.name} supports only generation 2 VMs, and the specialized image defaults to "
        f"generation 1: add {GENERATION_2}=true"
    )


def _divides_what_can_be_divided(profile: str | None, pool: Values) -> str | None:
    size = find(pool.get("vmSize", ""))
    if profile is not None and profile not in mig.PROFILES:
        return f"{profile!r} is not a MIG profile: use one of {', '.join(mig.PROFILES)}"
    if profile is None or size is None or size.mig is not False:
        return None
    return (
        f"{size.name} does not support MIG: use a size with A100, H100 or H200 GPUs, such as "
        "Standard_NC24ads_A100_v4"
    )


def _fits_on_the_machine(disk: str | None, pool: Values) -> str | None:
    size, gb = find(pool.get("vmSize", "")), pool.get("osDiskSizeGb")
    most = size.most_ephemeral_gib if size else None
    if disk != "Ephemeral" or size is None or most is None:
        return None
    if most == 0:
        return f"{size.name} has no local disk for Ephemeral: use Managed"
    if gb is None or gb <= most:
        return None
    return (
        f"{size.name} has room for {most} GB, but osDiskSizeGb is {gb}: use Managed, or lower "
        "osDiskSizeGb"
    )


def _leave_reserved_names_alone(labels: Mapping[str, Any], _: Values) -> str | None:
    reserved = sorted(name for name in labels if is_aks_label(name) or is_kubernetes_label(name))
    reason = "reserved for AKS and Kubernetes; use another name"
    return f"{', '.join(reserved)}: {reason}" if reserved else None


def _are_labels(labels: Mapping[str, Any], _: Values) -> str | None:
    # Without the values, which may be secrets.
    wrong = ", ".join(repr(name) for name, value in labels.items() if not is_label(name, value))
    return f"{wrong}: not a valid label: use {LABEL_RULE}" if wrong else None


_EVERY_POOL: Rules = {
    # The key in a stack file, and the property of a component.
    "name": (_NAME,),
    "poolName": (_NAME,),
    "image": (one_of("regular", "specialized"),),
    "gpuStack": (
        GPU_STACK,
        wrong_if(
            lambda owner, pool: pool.get("image") == "specialized" and owner != _SPECIALIZED,
            "is {!r}, but image: specialized contains the driver and device plugin: remove image "
            "or gpuStack",
        ),
        wrong_if(
            lambda owner, pool: pool.get("image") == "regular" and owner == _SPECIALIZED,
            "is specialized-image, but image: regular contains no driver and no device plugin: set "
            "gpuStack: device-plugin for this pool, or image: specialized",
        ),
    ),
    "count": between(0, 1000),
    "minCount": between(0, 1000),
    "maxCount": (*between(1, 1000), _lies_above_the_smallest, _admits_the_count),
    "zones[]": (one_of("1", "2", "3"),),
    "osSku": (one_of("Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux", "AzureLinux3"),),
    "customHeaders": (_are_legal, _ask_for_one_image, _ask_for_the_generation),
}

# The properties of pools without GPUs.
_OF_NODES = ("name", "poolName", "count", "minCount", "maxCount", "zones[]", "osSku")

_LARGE_ENOUGH = wrong_if(
    lambda size, _: size and is_smaller(size, SMALLEST_OF_SYSTEM),
    "{!r} is too small for a system pool: use a size with at least "
    f"{SMALLEST_OF_SYSTEM[0]} vCPUs and {SMALLEST_OF_SYSTEM[1]} GiB of memory",
)

SYSTEM_POOL: Rules = MappingProxyType(
    {
        **_EVERY_POOL,
        "count": between(1, 1000),
        "minCount": between(1, 1000),
        "vmSize": (_LARGE_ENOUGH,),
    }
)

SYSTEM_NODE_POOL: Rules = MappingProxyType(
    {
        **{key: rules for key, rules in _EVERY_POOL.items() if key in _OF_NODES},
        "count": between(1, 1000),
        "minCount": between(1, 1000),
        "vmSize": (
            wrong_if(
                lambda size, _: is_gpu_size(size),
                "{!r} has GPUs: use a size without GPUs, or add the pool to the GPU pools",
            ),
            _LARGE_ENOUGH,
        ),
        "kubernetesVersion": (KUBERNETES_VERSION,),
    }
)

GPU_POOL: Rules = MappingProxyType(
    {
        **_EVERY_POOL,
        "vmSize": (_is_a_gpu_size,),
        "kubernetesVersion": (KUBERNETES_VERSION,),
        "osType": (
            wrong_if(
                lambda os_type, _: os_type != "Linux", "is {!r}: GPU pools support only Linux"
            ),
        ),
        "spotMaxPrice": (
            wrong_if(
                lambda price, pool: price != -1 and not pool.get("spot", True),
                "applies only to spot pools: set spot: true, or remove it",
            ),
            wrong_if(
                lambda price, _: not is_spot_price(price),
                "is {}: use a price above 0 with at most "
                f"{DECIMALS_OF_PRICE} decimals, or -1 for the on-demand price",
            ),
        ),
        "maxSurge": (
            wrong_if(
                lambda surge, pool: surge is not None and pool.get("spot"),
                "AKS upgrades spot pools without extra nodes: remove maxSurge, or spot",
            ),
            wrong_if(
                lambda surge, _: surge is not None and not SURGE.fullmatch(str(surge)),
                "{!r} is neither a number of nodes nor a percentage: use, for example, 2 or 33%",
            ),
            wrong_if(
                lambda surge, _: str(surge) in NO_SURGE,
                "is {!r}, but an upgrade needs an extra node: set at least 1, or remove it",
            ),
        ),
        "migProfile": (_divides_what_can_be_divided,),
        "osDiskSizeGb": between(30, 2048),
        "osDiskType": (one_of("Managed", "Ephemeral"), _fits_on_the_machine),
        "taints[]": (LEGAL_TAINT,),
        "updatableHeaders": (
            wrong_if(
                lambda names, _: names,
                "is no longer supported, because headers do not replace a pool: remove it, or set "
                "replaceOnHeaderChange: true to replace the pool when its headers change",
            ),
        ),
        "labels": (_are_labels, _leave_reserved_names_alone),
    }
)


def _is_known(vm_size: str, _: Values) -> str | None:
    if not is_gpu_size(vm_size) or find(vm_size):
        return None
    return (
        f"{vm_size} is not in the table of GPU sizes of {AS_OF}, so its GPUs are unknown. Check "
        f"the spelling: if it is wrong, {_nearest(vm_size)}."
    )


def _gets_a_driver(vm_size: str, pool: Values) -> str | None:
    size = find(vm_size)
    if size is None or size.aks_driver is not False or pool.get("gpuStack", "none") == "none":
        return None
    return (
        f"AKS does not install a GPU driver on {size.name} (as of {AS_OF}): set gpuStack: none, "
        "and install the driver and device plugin, for example with the NVIDIA GPU Operator."
    )


def _is_of_today(vm_size: str, _: Values) -> str | None:
    size = find(vm_size)
    if size is None or not retirement.has_come(size.retired_on):
        return None
    successor = retirement.SUCCESSORS[size.family]
    return f"Azure retired {size.name} on {size.retired_on}: use {successor} instead."


# Only warnings: Azure may accept these values, or has accepted them for existing pools.
DOUBTS: Rules = MappingProxyType(
    {
        "vmSize": (_is_known, _is_of_today, _gets_a_driver),
        "customHeaders": (
            wrong_if(
                lambda _, pool: (
                    pool.get("gpuStack") == _SPECIALIZED
                    and retirement.has_come(SPECIALIZED_IMAGE_RETIRED_ON)
                ),
                f"Azure retired the specialized GPU image on {SPECIALIZED_IMAGE_RETIRED_ON}: use "
                "the regular image, with gpuStack: device-plugin, instead.",
            ),
        ),
    }
)
