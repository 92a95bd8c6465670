"""Validation rules for node pools: system pools and GPU pools."""

import difflib
from collections.abc import Mapping
from typing import Any

from aks_catalogue import kubernetes, mig, rotation
from aks_catalogue.headers import (
    GENERATION_2,
    SPECIALIZED_IMAGE,
    header_mistakes,
    is_on,
    retired_headers,
)
from aks_catalogue.mistakes import Mistake
from aks_catalogue.nodes import (
    DECIMALS_OF_PRICE,
    DEFAULT_SURGE,
    DRIVERS,
    GPU_TAINTS,
    LABEL_RULE,
    LINUX_POOL_NAME,
    LINUX_POOL_NAME_RULE,
    NUMBER_OF_NODES,
    TAINT,
    TAINT_RULE,
    is_aks_label,
    is_kubernetes_label,
    is_label,
    is_spot_price,
    is_zero,
    surge_nodes,
)
from aks_catalogue.sizes import (
    AS_OF,
    SMALLEST_OF_SYSTEM,
    find,
    gpu_sizes,
    is_gpu_size,
    is_smaller,
    rack_of,
)
from aks_catalogue.valid import Values, matches, one_of, wrong_if

_SPECIALIZED, _DEVICE_PLUGIN, _MANAGED = "specialized-image", "device-plugin", "managed"
OPERATOR = "operator"
GPU_STACK = one_of(*DRIVERS)
GPU_TAINT = one_of(*GPU_TAINTS)
VALID_TAINT = matches(TAINT, f"{{!r}} is not a valid taint: use {TAINT_RULE}")
POOL_NAME = matches(LINUX_POOL_NAME, f"{{!r}} is not a valid pool name: use {LINUX_POOL_NAME_RULE}")


def check_kubernetes_version(version: str | None, _: Values) -> str | None:
    minor = kubernetes.minor_version(version or "")
    if version and minor is None:
        return f"{version!r} is not a version: use the form 1.35 or 1.35.2"
    return None


def channel_conflict(version: str, channel: str | None) -> str | None:
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


def version_conflict(version: str, cluster_version: str, channel: str) -> str | None:
    """Returns why a pool's version conflicts with the cluster's version or channel, or None."""
    pool, cluster = map(kubernetes.minor_version, (version, cluster_version))
    if pool is None or cluster is None:
        return channel_conflict(version, channel)
    is_newer_patch = pool == cluster and kubernetes.is_newer_release(version, cluster_version)
    if pool > cluster or is_newer_patch:
        return f"{version} is newer than the cluster's {cluster_version}: upgrade the cluster first"
    if pool[1] < cluster[1] - kubernetes.MOST_BEHIND:
        return (
            f"{version} is more than {kubernetes.MOST_BEHIND} minor versions older than the "
            f"cluster's {cluster_version}: use a newer version"
        )
    return channel_conflict(version, channel)


def check_gpu_size(vm_size: str, pool: Values) -> str | None:
    size = find(vm_size)
    if not is_gpu_size(vm_size):
        return f"{vm_size!r} has no GPUs: use a GPU size, such as Standard_NC8as_T4_v3"
    if size and size.gpu_vendor != "NVIDIA" and pool.get("gpuStack", "none") != "none":
        return (
            f"{size.name} has {size.gpu_vendor} GPUs, which the NVIDIA driver and device plugin do "
            f"not support: {_suggest_sizes(vm_size)}, or set gpuStack: none"
        )
    return None


def _suggest_sizes(vm_size: str) -> str:
    """Suggests the available sizes with the most similar names."""
    names = [
        size.name
        for size in gpu_sizes().values()
        if size.gpu_vendor == "NVIDIA" and size.retired_on is None and size.aks_driver is not False
    ]
    near = difflib.get_close_matches(vm_size, names, n=3, cutoff=0)
    return f"use a size such as {', '.join(near)}"


def check_bounds(largest: int | None, pool: Values) -> str | None:
    smallest: int | None = pool.get("minCount", largest)
    if (smallest is None) != (largest is None):
        return "minCount and maxCount belong together: set both, or neither"
    if smallest is not None and largest is not None and smallest > largest:
        return f"{largest} is less than minCount, {smallest}"
    return None


def check_initial_count(largest: int | None, pool: Values) -> str | None:
    smallest, count = pool.get("minCount"), pool.get("count")
    if largest is None or smallest is None or count is None or smallest <= count <= largest:
        return None
    return (
        f"the initial count, {count}, is not between minCount, {smallest}, and maxCount, "
        f"{largest}: set count to a number between the two"
    )


def check_headers(headers: Mapping[str, Any] | None, _: Values) -> list[Mistake]:
    return [*header_mistakes(headers or {})]


def check_retired_headers(headers: Mapping[str, Any] | None, pool: Values) -> list[Mistake]:
    by_stack = {SPECIALIZED_IMAGE: "true"} if pool.get("gpuStack") == _SPECIALIZED else {}
    return [
        Mistake(name, reason) for name, reason in retired_headers({**by_stack, **(headers or {})})
    ]


def check_image_owner(headers: Mapping[str, Any] | None, pool: Values) -> str | None:
    # A pool without GPUs has no GPU stack.
    if pool.get("gpuStack") in (None, _SPECIALIZED):
        return None
    if not is_on(headers, SPECIALIZED_IMAGE):
        return None
    # Only a stack file has the key `image`.
    use_image = "set image: specialized, which sends the header"
    remedy = use_image if "image" in pool else "set gpuStack: specialized-image"
    return (
        f"{SPECIALIZED_IMAGE}=true requests the specialized image, but gpuStack is "
        f"{pool['gpuStack']}: {remedy}"
    )


def check_generation(headers: Mapping[str, Any] | None, pool: Values) -> str | None:
    size = find(pool.get("vmSize", ""))
    if pool.get("gpuStack") != _SPECIALIZED or size is None:
        return None
    if size.generations != {"Gen2"} or is_on(headers, GENERATION_2):
        return None
    return (
        f"{size.name} supports only generation 2 VMs, and the specialized image defaults to "
        f"generation 1: add {GENERATION_2}=true"
    )


def check_surge(surge: str | None, pool: Values) -> str | None:
    unavailable = pool.get("maxUnavailable", "not known")
    if surge is None or unavailable == "not known":
        return None
    if unavailable is None or is_zero(unavailable):
        if not is_zero(surge):
            return None
        return (
            f"is {surge!r}, but an upgrade needs an extra node: set at least 1, or remove it, or "
            "set maxUnavailable to upgrade without extra nodes"
        )
    if is_zero(surge):
        return None
    return (
        f"is {surge!r}, but with maxUnavailable, {unavailable!r}, an upgrade adds no nodes: remove "
        "maxSurge or maxUnavailable"
    )


def check_racks(nodes: int | None, pool: Values) -> str | None:
    vm_size = pool.get("vmSize", "")
    rack = rack_of(vm_size)
    if rack == 1 or not nodes or nodes % rack == 0:
        return None
    whole = -(-nodes // rack) * rack
    return f"is {nodes}, and {_in_racks(vm_size)}: use a multiple of {rack}, such as {whole}"


def check_surge_of_racks(surge: str | None, pool: Values) -> str | None:
    vm_size, unavailable = pool.get("vmSize", ""), pool.get("maxUnavailable", "1")
    # What is not known yet may be what needs no extra nodes.
    rack, is_spot = rack_of(vm_size), bool(pool.get("spot", True))
    if rack == 1:
        return None
    for nodes in filter(None, (pool.get(name) for name in ("count", "minCount", "maxCount"))):
        more = surge_nodes(nodes, surge, unavailable, is_spot=is_spot) or 0
        if more % rack and nodes % rack == 0:
            return (
                f"is {surge or f'{DEFAULT_SURGE} by default'}, so an upgrade of {nodes} nodes adds "
                f"{more}, and {_in_racks(vm_size)}: set maxUnavailable, such as 1, to upgrade "
                f"without extra nodes, or maxSurge: {rack}"
            )
    return None


def _in_racks(vm_size: str) -> str:
    size = find(vm_size)
    name = size.name if size else vm_size
    return f"Azure gives {name} only in racks of {rack_of(vm_size)} nodes"


NODES_OR_PERCENT = wrong_if(
    lambda number, _: number is not None and not NUMBER_OF_NODES.fullmatch(str(number)),
    "{!r} is neither a number of nodes nor a percentage: use, for example, 2 or 33%",
)


def check_mig_profile(profile: str | None, pool: Values) -> str | None:
    size = find(pool.get("vmSize", ""))
    if profile is not None and profile not in mig.PROFILES:
        return f"{profile!r} is not a MIG profile: use one of {', '.join(mig.PROFILES)}"
    if profile is None or size is None or size.mig is not False:
        return None
    return (
        f"{size.name} does not support MIG: use a size with A100, H100 or H200 GPUs, such as "
        "Standard_NC24ads_A100_v4"
    )


def operator_conflict(driver: str, pool: Values) -> str | None:
    """Returns why a pool of the GPU Operator conflicts with who installs its driver, or None."""
    size = find(pool.get("vmSize", ""))
    if pool.get("gpuStack") != OPERATOR:
        return None
    if driver == "operator" and pool.get("migProfile") is not None:
        return (
            f"AKS partitions GPUs only with a driver of its own, and the pool has migProfile "
            f"{pool['migProfile']}: let AKS install the driver, or remove migProfile"
        )
    if driver == "aks" and size and size.aks_driver is False:
        return (
            f"AKS does not install a GPU driver on {size.name} (as of {AS_OF}): let the GPU "
            "Operator install it"
        )
    return None


def check_os_disk(disk: str | None, pool: Values) -> str | None:
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


def check_length_with_rotation(name: str, pool: Values) -> str | None:
    if pool.get("replacement") != rotation.ROTATE or len(name) <= rotation.LONGEST_NAME:
        return None
    return (
        f"{name!r} is too long for replacement: rotate, which adds characters to the name in "
        f"Azure: use at most {rotation.LONGEST_NAME} characters"
    )


def check_labels(labels: Mapping[str, Any], pool: Values) -> list[Mistake]:
    of_rotation = (rotation.LABEL, rotation.STACK_LABEL)
    reserved = of_rotation if pool.get("replacement") == rotation.ROTATE else ()
    found = []
    for name, value in labels.items():
        # The reason leaves out the value, which may be a secret.
        if not is_label(name, value):
            found.append(Mistake(name, f"is not a valid label: use {LABEL_RULE}"))
        elif is_aks_label(name) or is_kubernetes_label(name):
            found.append(Mistake(name, "is reserved for AKS and Kubernetes: use another name"))
        elif name in reserved:
            found.append(Mistake(name, "is set by replacement: rotate; remove it"))
    return found


LARGE_ENOUGH = wrong_if(
    lambda size, _: size and is_smaller(size, SMALLEST_OF_SYSTEM),
    "{!r} is too small for a system pool: use a size with at least "
    f"{SMALLEST_OF_SYSTEM[0]} vCPUs and {SMALLEST_OF_SYSTEM[1]} GiB of memory",
)


def check_plugin_is_ours(value: object, pool: Values) -> str | None:
    stack = pool.get("gpuStack", _DEVICE_PLUGIN)
    if value is None or stack == _DEVICE_PLUGIN:
        return None
    return (
        f"is a setting of the device plugin of gpuStack: {_DEVICE_PLUGIN}, and gpuStack is "
        f"{stack}: remove it, or change gpuStack"
    )


MIG_STRATEGY = one_of("single", "mixed")
OF_PARTITIONS = wrong_if(
    lambda strategy, pool: strategy and not pool.get("migProfile", "unknown"),
    "applies only to partitioned GPUs: set migProfile, or remove it",
)
OF_PLUGIN_WITH_PARTITIONS = wrong_if(
    lambda strategy, pool: strategy and pool.get("hasMig") is False,
    "applies only to partitioned GPUs: set hasMig, or remove it",
)
NOT_BESIDE_MIXED = wrong_if(
    lambda sharing, pool: sharing and pool.get("migStrategy") == "mixed",
    "shares nvidia.com/gpu, but with migStrategy: mixed the partitions have other names: use "
    "migStrategy: single, or remove sharing",
)
REQUIRED_TO_SHARE = wrong_if(
    lambda slicing, _: slicing is None,
    "is required: set timeSlicing.replicas, or remove sharing",
)
WHOLE = wrong_if(lambda number, _: type(number) is not int, "must be a whole number, not {!r}")
SEVERAL = wrong_if(
    lambda replicas, _: replicas < 2,
    "is {!r}, which shares nothing: use at least 2, or remove sharing",
)
NOT_MANAGED_IN_SYSTEM_POOL = wrong_if(
    lambda size, pool: pool.get("gpuStack") == _MANAGED and is_gpu_size(size),
    "{!r} has GPUs, which AKS does not manage in a system pool: use a size without GPUs, or set "
    "gpuStack: device-plugin for this pool",
)
NO_OPERATOR_IN_SYSTEM_POOL = wrong_if(
    lambda size, pool: pool.get("gpuStack") == OPERATOR and is_gpu_size(size),
    "{!r} has GPUs, and the GPU Operator of a stack serves only gpuPools: use a size without GPUs, "
    "or set gpuStack: device-plugin for this pool",
)
WITHOUT_GPUS = wrong_if(
    lambda size, _: is_gpu_size(size),
    "{!r} has GPUs: use a size without GPUs, or add the pool to the GPU pools",
)
OF_SYSTEM_POOLS = wrong_if(
    lambda taint, _: (
        taint != "CriticalAddonsOnly=true:NoSchedule" and not taint.endswith(":PreferNoSchedule")
    ),
    "{!r} keeps AKS's own pods away: a system pool takes CriticalAddonsOnly=true:NoSchedule, and "
    "taints of the effect PreferNoSchedule",
)
ONLY_LINUX = wrong_if(
    lambda os_type, _: os_type != "Linux", "is {!r}: GPU pools support only Linux"
)
ONLY_OF_SPOT = wrong_if(
    lambda price, pool: price != -1 and not pool.get("spot", True),
    "applies only to spot pools: set spot: true, or remove it",
)
SPOT_PRICE = wrong_if(
    lambda price, _: not is_spot_price(price),
    f"is {{}}: use a price above 0 with at most {DECIMALS_OF_PRICE} decimals, or -1 for the "
    "on-demand price",
)
NOT_UNAVAILABLE_OF_SPOT = wrong_if(
    lambda nodes, pool: nodes is not None and pool.get("spot"),
    "AKS accepts no maxUnavailable for spot pools: remove maxUnavailable, or spot",
)
NO_SURGE_OF_SPOT = wrong_if(
    lambda surge, pool: surge is not None and pool.get("spot"),
    "AKS upgrades spot pools without extra nodes: remove maxSurge, or spot",
)
NOT_RESERVED_FOR_SPOT = wrong_if(
    lambda group, pool: group and pool.get("spot"),
    "Azure reserves no capacity for spot nodes: remove capacityReservationGroupId, or spot",
)
# https://learn.microsoft.com/azure/aks/reduce-latency-ppg, 2026-11-29
PLACED_IN_ONE_ZONE = wrong_if(
    lambda group, pool: group and len({*pool.get("zones", ())}) > 1,
    "AKS puts nodes close to each other only in one zone: use one of zones, or remove "
    "proximityPlacementGroupId",
)
NOT_SCALED_IF_MANAGED = wrong_if(
    lambda stack, pool: stack == _MANAGED and pool.get("maxCount") is not None,
    "AKS does not scale a pool with gpuStack: managed: remove minCount and maxCount, or set "
    "another gpuStack",
)
NOT_DIVIDED_IF_MANAGED = wrong_if(
    lambda profile, pool: pool.get("gpuStack") == _MANAGED and profile,
    "needs gpuProfile.nvidia.migStrategy with gpuStack: managed, which only preview versions of "
    "AKS's API have: set gpuStack: device-plugin, or remove it",
)
FITS_SPECIALIZED = wrong_if(
    lambda owner, pool: pool.get("image") == "specialized" and owner != _SPECIALIZED,
    "is {!r}, but image: specialized contains the driver and device plugin: remove image or "
    "gpuStack",
)
FITS_REGULAR = wrong_if(
    lambda owner, pool: pool.get("image") == "regular" and owner == _SPECIALIZED,
    "is specialized-image, but image: regular contains no driver and no device plugin: set "
    "gpuStack: device-plugin for this pool, or image: specialized",
)
OS_SKU = one_of("Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux", "AzureLinux3")


def check_os_of_amd(os_sku: str | None, pool: Values) -> str | None:
    """AKS's page on AMD GPUs (2025-10) has no other Linux for them than Ubuntu."""
    size = find(pool.get("vmSize") or "")
    if size is None or size.gpu_vendor != "AMD" or (os_sku or "Ubuntu").startswith("Ubuntu"):
        return None
    return (
        f"AKS does not support {os_sku} on sizes with AMD GPUs, such as {size.name}: use Ubuntu, "
        "or remove it"
    )


def check_driver(vm_size: str, pool: Values) -> str | None:
    size = find(vm_size)
    if size is None or size.aks_driver is not False:
        return None
    # A pool of the GPU Operator is judged together with who installs its driver.
    if pool.get("gpuStack", "none") in ("none", OPERATOR):
        return None
    way = "operator and gpuOperator.driver: operator, so that NVIDIA's GPU Operator installs"
    if not size.is_nvidia:
        way = f"none, and install {size.gpu_vendor}'s"
    return (
        f"AKS does not install a GPU driver on {size.name} (as of {AS_OF}): set gpuStack: {way} "
        "driver and device plugin."
    )


def check_autoscaler_knows_the_name(value: object, pool: Values) -> str | None:
    """The name by which pods ask for GPUs is not the one that the autoscaler knows."""
    slicing = getattr(value, "time_slicing", None)
    if pool.get("maxCount") is None or not (value == "mixed" or getattr(slicing, "rename", False)):
        return None
    return (
        "The cluster autoscaler adds nodes only for pods that ask for nvidia.com/gpu, but pods ask "
        "for the GPUs of this pool by another name: remove minCount and maxCount, or keep the name."
    )


def check_shares_without_nodes(sharing: object, pool: Values) -> str | None:
    """The autoscaler learns from a node how many GPUs it offers (Azure/AKS#3427)."""
    is_cut = sharing is not None or pool.get("migProfile") is not None
    if pool.get("minCount") != 0 or (pool.get("maxCount") or 0) < 2 or not is_cut:
        return None
    return (
        "While the pool has no node, the cluster autoscaler counts whole GPUs: each waiting pod "
        "gets a node of its own, up to maxCount, and AKS removes those in excess later. Set "
        "minCount: 1 or more, so that it knows how many pods fit on a node."
    )
