"""What is valid for node pools on AKS: system pools and GPU pools."""

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
LEGAL_TAINT = matches(TAINT, f"{{!r}} is no taint: write {TAINT_RULE}")
_NAME = matches(LINUX_POOL_NAME, f"{{!r}} is no name for a pool: AKS takes {LINUX_POOL_NAME_RULE}")


def _can_schedule_gpus(version: str | None, _: Values) -> str | None:
    minor = kubernetes.minor_version(version or "")
    if version and minor is None:
        return f"{version!r} is no version: write one as 1.35 or 1.35.2"
    if minor and minor < kubernetes.LOWEST:
        lowest = kubernetes.written(kubernetes.LOWEST)
        return f"{version} is too old for GPUs: take {lowest} or newer"
    return None


KUBERNETES_VERSION: Rule = _can_schedule_gpus


def outgrown(version: str, channel: str | None) -> str | None:
    """Why a version does not go with an upgrade channel: updates would ask for it again and again.

    A channel raises the versions of a cluster and of its pools.
    """
    if channel in ("stable", "rapid"):
        return (
            f"{channel} raises the version, and a later update would ask for {version} again: "
            "remove kubernetesVersion (to create a cluster at a version, bring it up with "
            "upgradeChannel: none first)"
        )
    if channel == "patch" and version.count(".") > 1:
        minor = version.rpartition(".")[0]
        return (
            f"patch raises the version, and a later update would ask for {version} again: "
            f"name all its releases, with kubernetesVersion {minor}"
        )
    return None


def version_beside(version: str, cluster_version: str, channel: str) -> str | None:
    """Why a pool's own version does not go with its cluster's version and upgrade channel."""
    own = kubernetes.minor_version(version)
    wanted = kubernetes.minor_version(cluster_version)
    if own is None or wanted is None:
        return outgrown(version, channel)
    if own > wanted or (own == wanted and kubernetes.is_newer_release(version, cluster_version)):
        return f"{version} is newer than the cluster's {cluster_version}: upgrade the cluster first"
    if own[1] < wanted[1] - kubernetes.MOST_BEHIND:
        return (
            f"{version} is more than {kubernetes.MOST_BEHIND} minor versions behind the cluster's "
            f"{cluster_version}: AKS refuses that"
        )
    return outgrown(version, channel)


def _is_a_gpu_size(vm_size: str, pool: Values) -> str | None:
    size = find(vm_size)
    if not is_gpu_size(vm_size):
        return f"{vm_size!r} is no GPU size: take one such as Standard_NC8as_T4_v3"
    if size and size.gpu_vendor != "NVIDIA" and pool.get("gpuStack", "none") != "none":
        return (
            f"{size.name} has {size.gpu_vendor} GPUs, which NVIDIA's driver and plugin cannot "
            f"serve: {_nearest(vm_size)}, or say gpuStack: none"
        )
    return None


def _nearest(vm_size: str) -> str:
    """The sizes that are written most like this one and can be had."""
    names = [
        size.name
        for size in gpu_sizes().values()
        if size.gpu_vendor == "NVIDIA" and size.retired_on is None and size.aks_driver is not False
    ]
    near = difflib.get_close_matches(vm_size, names, n=3, cutoff=0)
    return f"take one such as {', '.join(near)}"


def _lies_above_the_smallest(largest: int | None, pool: Values) -> str | None:
    smallest: int | None = pool.get("minCount", largest)
    if (smallest is None) != (largest is None):
        return "minCount and maxCount go together: say both, or neither"
    if smallest is not None and largest is not None and smallest > largest:
        return f"is {largest}, below minCount, which is {smallest}"
    return None


def _admits_the_count(largest: int | None, pool: Values) -> str | None:
    smallest, count = pool.get("minCount"), pool.get("count")
    if largest is None or smallest is None or count is None or smallest <= count <= largest:
        return None
    return (
        f"is {largest}, and minCount is {smallest}, but count, how many nodes there are at first, "
        f"is {count}: set count to a number between the two"
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
    by_image = "say image: specialized, which sends the header by itself"
    remedy = by_image if "image" in pool else "say gpuStack: specialized-image"
    asked = f"{SPECIALIZED_IMAGE}=true asks for the specialized image, which this pool has not"
    return f"{asked}: {remedy}"


def _ask_for_the_generation(headers: Mapping[str, Any] | None, pool: Values) -> str | None:
    size = find(pool.get("vmSize", ""))
    if pool.get("gpuStack") != _SPECIALIZED or size is None:
        return None
    if size.generations != {"Gen2"} or is_on(headers, GENERATION_2):
        return None
    return (
        f"{size.name} is of generation 2 only, which the specialized image has to be asked for: "
        f"add {GENERATION_2}=true"
    )


def _divides_what_can_be_divided(profile: str | None, pool: Values) -> str | None:
    size = find(pool.get("vmSize", ""))
    if profile is not None and profile not in mig.PROFILES:
        return f"{profile!r} is no profile: take one of {', '.join(mig.PROFILES)}"
    if profile is None or size is None or size.mig is not False:
        return None
    return (
        f"{size.name} cannot be divided: MIG is for A100, H100 and H200, such as "
        "Standard_NC24ads_A100_v4"
    )


def _fits_on_the_machine(disk: str | None, pool: Values) -> str | None:
    size, wanted = find(pool.get("vmSize", "")), pool.get("osDiskSizeGb")
    most = size.most_ephemeral_gib if size else None
    if disk != "Ephemeral" or size is None or most is None:
        return None
    if most == 0:
        return f"{size.name} has no disk for it: say Managed"
    if wanted is None or wanted <= most:
        return None
    return f"{size.name} has room for {most} GB, and osDiskSizeGb is {wanted}: say Managed, or less"


def _leave_reserved_names_alone(labels: Mapping[str, Any], _: Values) -> str | None:
    reserved = sorted(name for name in labels if is_aks_label(name) or is_kubernetes_label(name))
    own = "set by AKS and Kubernetes themselves; take a name of your own"
    return f"{', '.join(reserved)}: {own}" if reserved else None


def _are_labels(labels: Mapping[str, Any], _: Values) -> str | None:
    # Without the values: one may be a secret.
    wrong = ", ".join(repr(name) for name, value in labels.items() if not is_label(name, value))
    return f"{wrong}: no label: a label is {LABEL_RULE}" if wrong else None


_EVERY_POOL: Rules = {
    # A stack file's key, and a component's property.
    "name": (_NAME,),
    "poolName": (_NAME,),
    "image": (one_of("regular", "specialized"),),
    "gpuStack": (
        GPU_STACK,
        wrong_if(
            lambda owner, pool: pool.get("image") == "specialized" and owner != _SPECIALIZED,
            "is {!r}, but image: specialized brings driver and device plugin itself: they would be "
            "there twice, or be nobody's; leave one of both out",
        ),
        wrong_if(
            lambda owner, pool: pool.get("image") == "regular" and owner == _SPECIALIZED,
            "is specialized-image, but image: regular brings neither driver nor device plugin; say "
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

# What is true of nodes without GPUs too.
_OF_NODES = ("name", "poolName", "count", "minCount", "maxCount", "zones[]", "osSku")

_LARGE_ENOUGH = wrong_if(
    lambda size, _: size and is_smaller(size, SMALLEST_OF_SYSTEM),
    "{!r} is too small for a system pool, which has at least "
    f"{SMALLEST_OF_SYSTEM[0]} cores and {SMALLEST_OF_SYSTEM[1]} GiB",
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
                "{!r} has GPUs, which system pools do without: add it to the GPU pools",
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
                lambda os_type, _: os_type != "Linux", "is {!r}: GPU pools are for Linux only"
            ),
        ),
        "spotMaxPrice": (
            wrong_if(
                lambda price, pool: price != -1 and not pool.get("spot", True),
                "has a meaning for spot pools alone: say spot: true as well",
            ),
            wrong_if(
                lambda price, _: not is_spot_price(price),
                "is {}: say a price above 0 with at most "
                f"{DECIMALS_OF_PRICE} decimals, or -1 for that on demand",
            ),
        ),
        "maxSurge": (
            wrong_if(
                lambda surge, pool: surge is not None and pool.get("spot"),
                "AKS upgrades spot pools without a surge: leave it out, or spot",
            ),
            wrong_if(
                lambda surge, _: surge is not None and not SURGE.fullmatch(str(surge)),
                "{!r} is neither a number of nodes nor a share: write 2 or 33%",
            ),
            wrong_if(
                lambda surge, _: str(surge) in NO_SURGE,
                "is {!r}, and an upgrade needs a node more: say 1 at least, or leave it out",
            ),
        ),
        "migProfile": (_divides_what_can_be_divided,),
        "osDiskSizeGb": between(30, 2048),
        "osDiskType": (one_of("Managed", "Ephemeral"), _fits_on_the_machine),
        "taints[]": (LEGAL_TAINT,),
        "updatableHeaders": (
            wrong_if(
                lambda names, _: names,
                "no header replaces a pool by itself any more: remove updatableHeaders; "
                "replaceOnHeaderChange: true replaces the pool for each change",
            ),
        ),
        "labels": (_are_labels, _leave_reserved_names_alone),
    }
)


def _is_known(vm_size: str, _: Values) -> str | None:
    if not is_gpu_size(vm_size) or find(vm_size):
        return None
    return (
        f"{vm_size} is not in the table of GPU sizes of {AS_OF}: how many GPUs it has and what "
        f"they can do is not known. If it is misspelled, {_nearest(vm_size)}."
    )


def _gets_a_driver(vm_size: str, pool: Values) -> str | None:
    size = find(vm_size)
    if size is None or size.aks_driver is not False or pool.get("gpuStack", "none") == "none":
        return None
    return (
        f"{size.name} is not among the sizes on which AKS installs a driver ({AS_OF}): set "
        "gpuStack: none, and bring driver and device plugin, such as by NVIDIA's GPU Operator."
    )


def _is_of_today(vm_size: str, _: Values) -> str | None:
    size = find(vm_size)
    if size is None or not retirement.has_come(size.retired_on):
        return None
    successor = retirement.SUCCESSORS[size.family]
    return f"{size.name} was retired on {size.retired_on}; {successor} takes its place."


# What is worth a word in a pool that Azure may take, or may have taken in earlier days: nobody
# refuses it before the pool is asked for.
DOUBTS: Rules = MappingProxyType(
    {
        "vmSize": (_is_known, _is_of_today, _gets_a_driver),
        "customHeaders": (
            wrong_if(
                lambda _, pool: (
                    pool.get("gpuStack") == _SPECIALIZED
                    and retirement.has_come(SPECIALIZED_IMAGE_RETIRED_ON)
                ),
                f"The specialized GPU image was retired on {SPECIALIZED_IMAGE_RETIRED_ON}; the "
                "regular image, with gpuStack: device-plugin, takes its place.",
            ),
        ),
    }
)
