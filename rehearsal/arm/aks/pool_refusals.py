"""What AKS refuses in an agent pool, each with its source."""

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

from catalogue import mig, nodes, retirement, sizes
from catalogue.shapes import at
from catalogue.sizes import Size
from rehearsal.arm import errors
from rehearsal.arm.aks import fields
from rehearsal.arm.aks.refusals import (
    CODES,
    MOST_POOLS,
    NOT_AN_ID,
    SPEC,
    SPEC_AND_WORDS,
    TOO_MANY_POOLS,
    UNRECORDED,
    Case,
    Check,
    Rule,
    Words,
    enumeration,
    invalid,
    not_an_id,
    not_like,
    outside,
    required,
    when,
)
from rehearsal.arm.offers import known_sizes

MOST_NODES = 1000
SMALLEST_DISK, LARGEST_DISK = 30, 2048
# The taint and the effect that a System pool may have.
SYSTEM_TAINT, SYSTEM_EFFECT = "CriticalAddonsOnly", "PreferNoSchedule"

_PAGE = "page: "


def _is_system(case: Case) -> bool:
    return bool(case.at("mode") == "System")


def _is_spot(case: Case) -> bool:
    return bool(case.at("scaleSetPriority") == "Spot")


def _becomes_system(case: Case) -> bool:
    return _is_system(case) and case.changes("mode")


def _asks(case: Case, path: str) -> Any:
    """Returns an upgrade setting of the request."""
    value = (case.sent.get("upgradeSettings") or {}).get(path)
    return None if value is None else str(value).strip()


def _taints(case: Case) -> Iterator[str]:
    for name in ("nodeTaints", "nodeInitializationTaints"):
        yield from map(str, case.sent.get(name) or ())


def _labels(case: Case) -> dict[str, Any]:
    """Returns the new labels; AKS accepts those that it has returned itself."""
    before = (case.before or {}).get("nodeLabels") or {}
    labels: dict[str, Any] = case.sent.get("nodeLabels") or {}
    return {
        key: value
        for key, value in labels.items()
        if before.get(key) != value and (key, value) != nodes.SPOT_LABEL
    }


def _label(is_refused: Any) -> Check:
    def refuses(case: Case) -> Words | None:
        for key, value in _labels(case).items():
            if is_refused(case, key, value):
                return {"key": key, "label": f"{key}={value}"}
        return None

    return refuses


def _is_another_pools_label(case: Case, key: str, value: object) -> bool:
    own = {"agentpool": case.name}
    return key in nodes.AKS_LABELS and own.get(key) != value


def _count(name: str) -> Rule:
    def refuses(case: Case) -> Words | None:
        # A stopped pool has count 0, even a System pool, and clients send it back.
        was_stopped = at(case.before, "powerState.code") == "Stopped"
        number, fewest = case.at(name), 1 if _is_system(case) and not was_stopped else 0
        if number is None or (type(number) is int and fewest <= number <= MOST_NODES):
            return None
        return {"value": number, "fewest": fewest, "reasons": _WHY_ONE if fewest else ""}

    return Rule(
        name=f"pool-{name}",
        summary=f"`{name}` is 0 to {MOST_NODES}, and at least 1 for a System pool.",
        source="issue: kubernetes-sigs/cluster-api-provider-azure#5947 (2025-10), for `count`",
        refuses=refuses,
        error=invalid(
            f"agentPoolProfile.{name}",
            f"agentPoolProfile.{name} was {{value}}. It must be greater or equal to "
            f"minCount:{{fewest}} and less than or equal to maxCount:{MOST_NODES}.{{reasons}}",
        ),
        target=f"agentPoolProfile.{name}",
    )


_WHY_ONE = (
    " If allowedMinCount was expected to be 0 but is 1: 1) The nodepool is a VMAS pool. 2) api "
    "Version is less than 2020-03-01. 3) The node is a system pool."
)


def _limit(name: str) -> Rule:
    return Rule(
        name=f"pool-autoscaled-{name}",
        summary=f"An autoscaled pool requires `{name}`.",
        source=f"{_PAGE}Use the cluster autoscaler in AKS; {UNRECORDED}",
        refuses=when(lambda case: case.at("enableAutoScaling") and case.at(name) is None),
        error=required(f"agentPoolProfile.{name}"),
        target=f"agentPoolProfile.{name}",
    )


def _no_limit(name: str) -> Rule:
    return Rule(
        name=f"pool-not-autoscaled-{name}",
        summary=f"Only an autoscaled pool may have `{name}`.",
        source=f"{_PAGE}Use the cluster autoscaler in AKS; {UNRECORDED}",
        refuses=when(
            lambda case: not case.at("enableAutoScaling") and at(case.sent, name) is not None
        ),
        error=invalid(f"agentPoolProfile.{name}", "it must be set only with enableAutoScaling."),
        target=f"agentPoolProfile.{name}",
    )


def _starts_outside(case: Case) -> Words | None:
    count, least, most = (case.at(name) for name in ("count", "minCount", "maxCount"))
    if not case.at("enableAutoScaling") or least <= count <= most:
        return None
    return {"count": count, "least": least, "most": most}


def _number_or_share(path: str) -> Rule:
    def refuses(case: Case) -> Words | None:
        value = _asks(case, path)
        return None if value is None or nodes.NUMBER_OF_NODES.fullmatch(value) else {}

    parameter = f"agentPoolProfile.upgradeSettings.{path}"
    return Rule(
        name=f"pool-{path}-grammar",
        summary=f"`{path}` is a number or a percentage.",
        source=f"{_PAGE}Upgrade node pools, rolling; {UNRECORDED}",
        refuses=refuses,
        error=invalid(parameter, "it must be a number, or one with '%'."),
        target=parameter,
    )


def _some(value: object) -> bool:
    return value is not None and not nodes.is_zero(value)


def _restricted_taint(case: Case) -> bool:
    """Also of a pool that becomes a System pool with the taints that it had."""
    if not _is_system(case):
        return False
    kept = (str(taint) for taint in case.at("nodeTaints") or ())
    return any(
        taint is not None and taint["key"] != SYSTEM_TAINT and taint["effect"] != SYSTEM_EFFECT
        for taint in map(nodes.TAINT.fullmatch, (*_taints(case), *kept))
    )


def _is_smaller(case: Case, smallest: tuple[int, int]) -> bool:
    return sizes.is_smaller(str(case.at("vmSize")), smallest)


def _spot_price(case: Case) -> bool:
    price = case.at("spotMaxPrice")
    return _is_spot(case) and isinstance(price, int | float) and not nodes.is_spot_price(price)


def _is_crowded(case: Case) -> Words | None:
    count, pods = case.at("count"), case.at("maxPods")
    if not isinstance(count, int) or not isinstance(pods, int):
        return None
    room = count * pods
    return {"room": room} if count and room < nodes.ROOM_FOR_PODS else None


def _disks(is_refused: Callable[[Case, Size], bool]) -> Check:
    """Returns a check of a size's local disks, where the catalogue has them."""

    def refuses(case: Case) -> Words | None:
        size = known_sizes().get(str(case.at("vmSize")).lower())
        if size is None or not is_refused(case, size):
            return None
        requested = case.at("osDiskSizeGB") or 0
        return {
            "size": size.name,
            "cache": (size.cache_gib or 0) << 30,
            "temp": (size.temp_gib or 0) << 30,
            "wanted": requested << 30,
        }

    return refuses


def _is_ephemeral(case: Case) -> bool:
    return bool(case.at("osDiskType") == "Ephemeral")


def _does_not_fit(case: Case, size: Size) -> bool:
    most, requested = size.most_ephemeral_gib, case.at("osDiskSizeGB")
    is_number = isinstance(requested, int)
    return _is_ephemeral(case) and bool(most) and is_number and requested > (most or 0)


def _has_no_room_for_kubelet(case: Case, size: Size) -> bool:
    is_asked = case.at("kubeletDiskType") == "Temporary"
    return is_asked and size.temp_gib is not None and size.temp_gib < SMALLEST_DISK


def _cannot_be_divided(case: Case) -> Words | None:
    name = str(case.at("vmSize"))
    size = sizes.find(name)
    is_known = name.lower() in known_sizes()
    if not case.at("gpuInstanceProfile") or not is_known or (size and size.mig is not False):
        return None
    return {"profile": case.at("gpuInstanceProfile"), "size": name}


def _needs_a_skipped_driver(case: Case) -> Words | None:
    size = sizes.find(str(case.at("vmSize")))
    if size is None or size.is_nvidia or case.at("gpuProfile.driver") == "None":
        return None
    if size.retired_on is not None and size.retired_on <= case.today:
        return None  # Retired sizes have a refusal of their own.
    gpu = f"GPU, {size.gpu_vendor} {size.gpu_model}"
    return {"size": size.name, "location": case.location, "gpu": gpu}


def _managed(name: str, summary: str, refuses: Callable[[Case], Any], reason: str) -> Rule:
    """Returns a rule for pools whose GPUs AKS manages."""
    parameter = "agentPoolProfile.gpuProfile.nvidia.managementMode"
    return Rule(
        name=f"managed-gpu-{name}",
        summary=f"AKS does not manage GPUs {summary}",
        source=f"{_PAGE}Create a fully managed GPU node pool (2026-04), Limitations; {UNRECORDED}",
        refuses=when(lambda case: nodes.has_managed_gpus(case.values) and refuses(case)),
        error=invalid(parameter, reason),
        target=parameter,
    )


def _has_skip_tag(case: Case) -> bool:
    return any(key.lower() == nodes.SKIP_DRIVER_TAG.lower() for key in case.sent.get("tags") or {})


def _os_sku(is_refused: Any) -> Check:
    def refuses(case: Case) -> Words | None:
        sku = case.sent.get("osSKU")
        return {"sku": sku} if sku and is_refused(case, str(sku).lower()) else None

    return refuses


_UPGRADE_NODES = ("upgradeSettings.maxSurge", "upgradeSettings.maxUnavailable")
_OS_SKUS = "ubuntu ubuntu2004 ubuntu2204 ubuntu2404 azurelinux azurelinux3"

_INVALID_OS_SKU = "400 InvalidOSSKU: OSSKU='{sku}' is invalid, details: "

# Enumerations with the same values in preview versions.
_ENUMERATIONS = {
    "gpuInstanceProfile": " ".join(mig.PROFILES),
    "gpuProfile.driver": "Install None",
    "gpuProfile.nvidia.managementMode": "Unmanaged Managed",
    "kubeletDiskType": "OS Temporary",
    "osDiskType": "Managed Ephemeral",
    "osType": "Linux Windows",
    "powerState.code": "Running Stopped",
    "scaleDownMode": "Delete Deallocate",
    "scaleSetEvictionPolicy": "Delete Deallocate",
    "scaleSetPriority": "Regular Spot",
    "type": "VirtualMachineScaleSets VirtualMachines AvailabilitySet",
    "upgradeSettings.undrainableNodeBehavior": "Cordon Schedule",
}


def _too_many(case: Case) -> Words | None:
    """Judges a PUT of a pool; inline pools are judged with their cluster."""
    most = case.cluster.get("maxAgentPools", MOST_POOLS)
    return {"most": most} if len({*case.others} - {case.name.lower()}) >= most else None


def _not_played(case: Case) -> Words | None:
    for path, kinds in fields.NOT_PLAYED.items():
        kind = case.at(path)
        if str(kind).lower() in map(str.lower, kinds):
            return {"what": f"pools with {path} {kind}"}
    return None


# Rules that judge the request as it was sent.
ON_REQUEST: tuple[Rule, ...] = (
    Rule(
        name="pool-not-played",
        summary="The rehearsal plays Ubuntu and Azure Linux on scale sets, System or User.",
        source="page: The rehearsal, of this project",
        refuses=_not_played,
        error=errors.NOT_REHEARSED,
        # In the article's days AKS had words of its own for Windows pools with GPUs.
        since=date(2021, 7, 2),
    ),
    Rule(
        name="pool-subnet-id",
        summary="`vnetSubnetID` is a resource id; Resource Manager refuses it, before AKS.",
        source="issue: hashicorp/terraform-provider-azurerm#1166 (2018), of an inline pool",
        refuses=lambda case: not_an_id(case.at("vnetSubnetID"), "properties.vnetSubnetID"),
        error=NOT_AN_ID,
    ),
    Rule(
        name="pool-name",
        summary=f"A pool name is {nodes.LINUX_POOL_NAME_RULE}.",
        source="issue: kubernetes-sigs/cluster-api-provider-azure#3968 (2023-09)",
        refuses=not_like(nodes.LINUX_POOL_NAME),
        error=invalid("agentPoolProfile.name"),
        target="agentPoolProfile.name",
        only_new=True,
    ),
    Rule(
        name="pool-name-of-aks",
        summary=f"The pool name `{nodes.AKS_POOL_NAME}` is reserved for AKS.",
        source=f"{_PAGE}AKS release notes of 2025-06; {UNRECORDED}",
        refuses=when(lambda case: case.name == nodes.AKS_POOL_NAME),
        error=invalid("agentPoolProfile.name"),
        target="agentPoolProfile.name",
        only_new=True,
    ),
    Rule(
        name="pool-mode",
        summary="`mode` is System or User in this case.",
        source=f"issue: Azure/AKS#4468; release notes of 2025-01; {UNRECORDED}",
        refuses=lambda case: (
            {"value": case.at("mode")}
            if case.at("mode") not in (None, "", "System", "User") and case.changes("mode")
            else None
        ),
        error=invalid(
            "agentPoolProfile.mode",
            "value {value} is not allowed. Only Gateway, System and User are allowed.",
        ),
        target="agentPoolProfile.mode",
    ),
    *(
        enumeration(path, choices.split(), prefix="agentPool", source=SPEC_AND_WORDS)
        for path, choices in _ENUMERATIONS.items()
    ),
    Rule(
        name="pool-os-sku",
        summary=(
            "`osSKU` is one that AKS knows; since July 2025 an unknown one no longer becomes "
            "Ubuntu."
        ),
        source=f"{_PAGE}AKS release notes of 2025-07; code and words from a public Terraform log",
        refuses=_os_sku(lambda _, sku: sku not in _OS_SKUS.split()),
        error=errors.of_aks(f"{_INVALID_OS_SKU}Unrecognized OSSKU", "InvalidOSSKU"),
    ),
    Rule(
        name="pool-taint-grammar",
        summary=f"A taint is {nodes.TAINT_RULE}.",
        source=f"{_PAGE}Use node taints in AKS; {UNRECORDED}",
        refuses=when(lambda case: not all(map(nodes.TAINT.fullmatch, _taints(case)))),
        error=invalid("agentPoolProfile.nodeTaints", f"it must be {nodes.TAINT_RULE}."),
        target="agentPoolProfile.nodeTaints",
    ),
    Rule(
        name="pool-label-grammar",
        summary=f"A label is {nodes.LABEL_RULE}.",
        source=f"{_PAGE}Use labels in AKS; {UNRECORDED}",
        refuses=_label(lambda _, key, value: not nodes.is_label(key, value)),
        error=invalid("agentPoolProfile.nodeLabels", f"it must be {nodes.LABEL_RULE}."),
        target="agentPoolProfile.nodeLabels",
    ),
    Rule(
        name="pool-label-of-aks",
        summary=f"Labels of `{nodes.AKS_LABEL_DOMAIN}` are reserved for AKS.",
        source="issue: ams0/aks-nvme-ssd-provisioner#5 (2023-04)",
        refuses=_label(lambda _, key, __: key.startswith(f"{nodes.AKS_LABEL_DOMAIN}/")),
        error=errors.of_aks(
            "400 BadRequest: Invalid node label key {key}. The 'kubernetes.azure.com' prefix is "
            "preserved by aks system labels"
        ),
    ),
    Rule(
        name="pool-label-of-kubernetes",
        summary=(
            "A label key of `kubernetes.io` or `k8s.io` begins with `node.kubernetes.io` or "
            "`kubelet.kubernetes.io`."
        ),
        source="issue: Azure/AKS#4613 (2024-10), Azure/AKS#2866; the target is the label",
        refuses=_label(lambda _, key, __: nodes.is_kubernetes_label(key)),
        error=errors.of_aks(
            "400 BadRequest: For Kubernetes version greater than or equal to 1.16, node label keys "
            "in the 'kubernetes.io' or 'k8s.io' namespace must begin with an allowed prefix "
            "(kubelet.kubernetes.io, node.kubernetes.io). For more information, please check "
            "https://aka.ms/aks-node-labels-116."
        ),
        target="{label}",
    ),
    Rule(
        name="pool-label-without-prefix",
        summary="The labels `agentpool` (of another pool), `accelerator`, `storageprofile` and "
        "`storagetier` are reserved for AKS.",
        source=(
            "issue: hashicorp/terraform-provider-azurerm#28636 (2025-01), "
            f"Azure/karpenter-provider-azure#1707 (2026-06); {CODES}; {UNRECORDED}"
        ),
        refuses=_label(_is_another_pools_label),
        error=errors.of_aks("400 NodeLabelKeyNotAllowed: Node label key {key} is not allowed."),
        target="agentPoolProfile.nodeLabels",
    ),
    *map(_number_or_share, ("maxSurge", "maxUnavailable")),
)

# Rules that judge the resulting pool, with what AKS keeps and fills in.
ON_RESULT: tuple[Rule, ...] = (
    *map(_limit, ("minCount", "maxCount")),
    *map(_no_limit, ("minCount", "maxCount")),
    Rule(
        name="pool-most",
        summary=f"A cluster has at most {MOST_POOLS} pools, and one if it is an availability set.",
        source=f"{_PAGE}Quotas in AKS; {CODES}; maxAgentPools (720; 7); {UNRECORDED}",
        refuses=_too_many,
        error=TOO_MANY_POOLS,
        only_new=True,
    ),
    Rule(
        name="pool-zones-numbers",
        summary="A zone is a number: 1, not eastus-1.",
        source=f"{CODES}; {UNRECORDED}",
        refuses=lambda case: next(
            (
                {"zone": zone}
                for zone in case.at("availabilityZones") or ()
                if not str(zone).isdigit()
            ),
            None,
        ),
        error=errors.of_aks(
            "400 InvalidAvailabilityZoneFormat: Availability zone {zone} is not numeric."
        ),
        target="agentPoolProfile.availabilityZones",
        only_new=True,
    ),
    *map(_count, ("count", "minCount", "maxCount")),
    Rule(
        name="pool-limits-in-order",
        summary="`minCount` is not greater than `maxCount`.",
        source=f"{_PAGE}Use the cluster autoscaler in AKS; {UNRECORDED}",
        refuses=when(
            lambda case: case.at("enableAutoScaling") and case.at("minCount") > case.at("maxCount")
        ),
        error=invalid("agentPoolProfile.minCount", "it must not be greater than maxCount."),
        target="agentPoolProfile.minCount",
    ),
    Rule(
        name="pool-count-within-limits",
        summary="The `count` of a new autoscaled pool is within `minCount` and `maxCount`.",
        source=(
            "issue: MicrosoftDocs/azure-docs#56294, where `az` refuses it; the words are those "
            "of AKS for the limits of all pools"
        ),
        refuses=_starts_outside,
        error=invalid(
            "agentPoolProfile.count",
            "agentPoolProfile.count was {count}. It must be greater or equal to "
            "minCount:{least} and less than or equal to maxCount:{most}.",
        ),
        target="agentPoolProfile.count",
        only_new=True,
    ),
    Rule(
        name="system-pool-regular",
        summary="A System pool cannot be a spot pool.",
        source=f"{_PAGE}Use system node pools in AKS; {CODES}; {UNRECORDED}",
        refuses=when(lambda case: _is_system(case) and _is_spot(case)),
        error=errors.of_aks("400 SystemPoolMustBeRegular: System node pool must be regular."),
        target="agentPoolProfile.scaleSetPriority",
    ),
    Rule(
        name="system-pool-taints",
        summary=(
            f"A System pool has no taints except `{SYSTEM_TAINT}` and those of effect "
            f"`{SYSTEM_EFFECT}`; `nodeInitializationTaints` count too."
        ),
        source="test_aks_create_cluster_with_taints (1, 2025-04)",
        refuses=when(_restricted_taint),
        error=errors.of_aks(
            "400 SystemPoolHasRestrictedTaint: Placing custom taints on system pool is not "
            f"supported(except '{SYSTEM_TAINT}' taint or taint effect is '{SYSTEM_EFFECT}'). "
            "Please refer to https://aka.ms/aks/system-taints for detail"
        ),
        target="agentPoolProfile.nodeTaints",
    ),
    Rule(
        name="system-pool-size",
        summary=(
            "A System pool requires a VM size with at least 2 cores and 4 GB. The page says 4 "
            "cores "
            "and no B-series, but recordings have Standard_DS2_v2 (4,294), and logs of 2026 "
            "Standard_B2pls_v2."
        ),
        source="issue: jamesbannan/pluralsight#10 (2021), and public logs to 2026-08",
        refuses=lambda case: (
            {"pool": case.name}
            if _becomes_system(case) and _is_smaller(case, sizes.SMALLEST_OF_SYSTEM)
            else None
        ),
        error=errors.of_aks(
            "400 SystemPoolSkuTooLow: System node pool must use VM sku with more than 2 cores and "
            "4GB memory. Nodepool name: {pool}."
        ),
    ),
    Rule(
        name="system-pool-unavailable",
        summary="A System pool cannot have `maxUnavailable`.",
        source=f"{_PAGE}Upgrade node pools, rolling; code and words are not on record",
        refuses=when(lambda case: _is_system(case) and _some(_asks(case, "maxUnavailable"))),
        error=invalid(
            "agentPoolProfile.upgradeSettings.maxUnavailable",
            "System pools can't set maxUnavailable.",
        ),
        target="agentPoolProfile.upgradeSettings.maxUnavailable",
    ),
    Rule(
        name="pool-size-restricted",
        summary="A pool requires a VM size with at least 2 cores and 2 GB.",
        source=f"{_PAGE}Quotas, VM size restrictions; the code from public logs of 2026; "
        f"{UNRECORDED}",
        refuses=lambda case: (
            {"size": case.at("vmSize")} if _is_smaller(case, sizes.SMALLEST) else None
        ),
        error=errors.of_aks("400 VMSizeRestrictedByAKS: The VM size {size} is restricted by AKS."),
        target="agentPoolProfile.vmSize",
        only_new=True,
    ),
    Rule(
        name="spot-surge",
        summary="A spot pool cannot have `maxSurge`.",
        source="issue: hashicorp/terraform-provider-azurerm#19355, Azure/bicep#14517 (2024-07)",
        refuses=when(lambda case: _is_spot(case) and _asks(case, "maxSurge") is not None),
        error=invalid(
            "agentPoolProfile.upgradeSettings.maxSurge", "Spot pools can't set max surge."
        ),
        target="agentPoolProfile.upgradeSettings.maxSurge",
    ),
    Rule(
        name="spot-unavailable",
        summary="A spot pool cannot have `maxUnavailable`.",
        source="issue: hashicorp/terraform-provider-azurerm#31129 (2025-11)",
        refuses=when(lambda case: _is_spot(case) and _some(_asks(case, "maxUnavailable"))),
        error=invalid(
            "agentPoolProfile.upgradeSettings.maxUnavailable",
            "Spot pools can't set maxUnavailable.",
        ),
        target="agentPoolProfile.upgradeSettings.maxUnavailable",
    ),
    Rule(
        name="surge-or-unavailable",
        summary="`maxSurge` and `maxUnavailable` are not both 0.",
        source=f"{_PAGE}Upgrade node pools, rolling; the words from a public log",
        refuses=when(
            lambda case: (
                nodes.is_zero(case.at("upgradeSettings.maxSurge"))
                and not _some(case.at("upgradeSettings.maxUnavailable"))
            )
        ),
        error=invalid(
            "agentPoolProfile.upgradeSettings.maxUnavailable",
            "maxSurge and maxUnavailable cannot both be 0.",
        ),
        target="agentPoolProfile.upgradeSettings.maxUnavailable",
    ),
    Rule(
        name="surge-and-unavailable",
        summary=(
            "`maxSurge` and `maxUnavailable` do not both come to be above 0; preview versions "
            "accept both, and any version keeps what they accepted."
        ),
        source=f"{_PAGE}Upgrade node pools, rolling; the words from a public log",
        refuses=when(
            lambda case: (
                not case.is_preview
                and all(_some(case.at(path)) for path in _UPGRADE_NODES)
                and any(map(case.changes, _UPGRADE_NODES))
            )
        ),
        error=invalid(
            "agentPoolProfile.upgradeSettings.maxUnavailable",
            "maxSurge and maxUnavailable cannot both bigger than 0.",
        ),
        target="agentPoolProfile.upgradeSettings.maxUnavailable",
    ),
    Rule(
        name="pool-drain-timeout",
        summary="`drainTimeoutInMinutes` is 5 to 1440.",
        source=f"{_PAGE}AKS release notes of 2024-08, Upgrade node pools, rolling; {UNRECORDED}",
        refuses=outside("upgradeSettings.drainTimeoutInMinutes", 5, 1440, unless=0),
        error=invalid(
            "agentPoolProfile.upgradeSettings.drainTimeoutInMinutes",
            "it was {value}. It must be between {lowest} and {highest} minutes.",
        ),
        target="agentPoolProfile.upgradeSettings.drainTimeoutInMinutes",
    ),
    Rule(
        name="pool-node-soak",
        summary="`nodeSoakDurationInMinutes` is 0 to 30.",
        source=f"{_PAGE}Upgrade node pools, rolling; {SPEC}; {UNRECORDED}",
        refuses=outside("upgradeSettings.nodeSoakDurationInMinutes", 0, 30),
        error=invalid(
            "agentPoolProfile.upgradeSettings.nodeSoakDurationInMinutes",
            "it was {value}. It must be between {lowest} and {highest} minutes.",
        ),
        target="agentPoolProfile.upgradeSettings.nodeSoakDurationInMinutes",
    ),
    Rule(
        name="spot-price",
        summary="`spotMaxPrice` of a spot pool is -1, or above 0 with at most five decimal places.",
        source=f"{_PAGE}Add a spot node pool; {UNRECORDED}",
        refuses=when(_spot_price),
        error=invalid(
            "agentPoolProfile.spotMaxPrice",
            "it must be -1 or a positive value with up to five decimal places.",
        ),
        target="agentPoolProfile.spotMaxPrice",
        only_new=True,
    ),
    Rule(
        name="pool-pods-too-few",
        summary=f"`maxPods` is at least {nodes.FEWEST_PODS}.",
        source=(
            f"{_PAGE}IP address planning in AKS; the code as in the tests of "
            f"rancher/hosted-providers-e2e, which run on AKS; {UNRECORDED}"
        ),
        refuses=outside("maxPods", nodes.FEWEST_PODS, float("inf")),
        error=errors.of_aks(
            "400 InsufficientMaxPods: The maxPods of the agent pool is {value}. It must be at "
            "least {lowest}."
        ),
        target="agentPoolProfile.maxPods",
        only_new=True,
    ),
    Rule(
        name="pool-pods-too-many",
        summary=f"`maxPods` is at most {nodes.MOST_PODS}.",
        source=f"{_PAGE}IP address planning in AKS; {CODES}; {UNRECORDED}",
        refuses=outside("maxPods", nodes.FEWEST_PODS, nodes.MOST_PODS),
        error=errors.of_aks(
            "400 MaxPodsLimitExceeded: The maxPods of the agent pool is {value}. It must be at "
            "most {highest}."
        ),
        target="agentPoolProfile.maxPods",
        only_new=True,
    ),
    Rule(
        name="pool-pods-in-all",
        summary=(
            f"The nodes of a new pool have room for {nodes.ROOM_FOR_PODS} pods in all; the pool "
            "may shrink below that later."
        ),
        source=f"{_PAGE}IP address planning in AKS; issue: Azure/AKS#1422; {CODES}; {UNRECORDED}",
        refuses=_is_crowded,
        error=errors.of_aks(
            "400 InsufficientAgentPoolMaxPodsPerAgentPool: The nodes of the agent pool have room "
            f"for {{room}} pods. They must have room for {nodes.ROOM_FOR_PODS} at least."
        ),
        target="agentPoolProfile.maxPods",
        only_new=True,
    ),
    Rule(
        name="pool-os-disk-size",
        summary=f"`osDiskSizeGB` is {SMALLEST_DISK} to {LARGEST_DISK}, or 0 for the default.",
        source=f"{SPEC}: 0 to 2048; the help of `az aks nodepool add`: at least 30; {UNRECORDED}",
        refuses=outside("osDiskSizeGB", SMALLEST_DISK, LARGEST_DISK, unless=0),
        error=invalid(
            "agentPoolProfile.osDiskSizeGB",
            "it was {value}. It must be between {lowest} and {highest} GB.",
        ),
        target="agentPoolProfile.osDiskSizeGB",
        only_new=True,
    ),
    Rule(
        name="ephemeral-disk",
        summary="An ephemeral OS disk requires a VM size with a cache or a temporary disk.",
        source="public logs of 2022 (Standard_E4_v3) and of 2026 (Standard_D2s_v7)",
        refuses=_disks(lambda case, size: _is_ephemeral(case) and size.most_ephemeral_gib == 0),
        error=errors.of_aks(
            "400 VMSizeDoesNotSupportEphemeralOS: The Virtual Machine size {size} does not support "
            "Ephemeral OS disk."
        ),
        only_new=True,
    ),
    Rule(
        name="ephemeral-disk-fits",
        summary="An ephemeral OS disk fits on the cache or the temporary disk of the VM size.",
        source="issue: Azure/azure-cli#28719 (2024-04); the code from public logs",
        refuses=_disks(_does_not_fit),
        error=errors.of_aks(
            "400 VMCannotFitEphemeralOSDisk: The virtual machine size {size} has a cache size of "
            "{cache} bytes and temporary disk size of {temp} bytes, but the OS disk requires "
            "{wanted} bytes. Use a VM size with larger cache, larger temp disk, or disable "
            "ephemeral OS."
        ),
        only_new=True,
    ),
    Rule(
        name="pool-deallocate-ephemeral",
        summary="`scaleDownMode: Deallocate` requires a managed OS disk, said or by default.",
        source=f"{_PAGE}Use scale-down mode in AKS; {UNRECORDED}",
        refuses=when(lambda case: _is_ephemeral(case) and case.at("scaleDownMode") == "Deallocate"),
        error=invalid(
            "agentPoolProfile.scaleDownMode",
            "Deallocate needs a managed OS disk; this pool's is ephemeral.",
        ),
        target="agentPoolProfile.scaleDownMode",
    ),
    Rule(
        name="kubelet-disk",
        summary=f"With kubelet on the temporary disk, that disk has at least {SMALLEST_DISK} GiB.",
        source="public Terraform logs (Standard_B2s, Standard_A2_v2)",
        refuses=_disks(_has_no_room_for_kubelet),
        error=errors.of_aks(
            "400 VMTemporaryDiskTooSmall: The virtual machine size {size} has a max temporary disk "
            f"size of {{temp}} bytes, but the kubelet disk requires {SMALLEST_DISK << 30} bytes. "
            "Use a VM size with larger temporary disk or use the OS disk for kubelet."
        ),
        only_new=True,
    ),
    Rule(
        name="mig-size",
        summary="`gpuInstanceProfile` requires a VM size with A100, H100 or H200.",
        source=(
            f"{_PAGE}AKS release notes of 2026-08-07 (Azure/AKS#5913), Multi-instance GPU; code "
            "and words are not on record"
        ),
        refuses=_cannot_be_divided,
        error=invalid(
            "agentPoolProfile.gpuInstanceProfile", "{profile} is not supported on VM size {size}."
        ),
        target="agentPoolProfile.gpuInstanceProfile",
        only_new=True,
    ),
    Rule(
        name="gpu-without-driver",
        summary=(
            "Since October 2025 a size whose GPU has no driver from AKS is accepted if the "
            "driver is "
            "skipped (`gpuProfile.driver: None`)."
        ),
        source=f"{_PAGE}AKS release notes of 2025-10; the words are those for sizes",
        refuses=_needs_a_skipped_driver,
        error=errors.of_aks(
            "400 BadRequest: The VM size of {size} is not allowed in your subscription in location "
            "'{location}': AKS has no driver for its {gpu}. Set gpuProfile.driver to None. For "
            "more details, please visit https://aka.ms/aks/quotas-skus-regions",
            "VMSizeNotSupported",
        ),
        target="agentPoolProfile.vmSize",
        only_new=True,
        since=date(2023, 9, 6),
    ),
    _managed(
        "autoscaler",
        "on a pool with the cluster autoscaler.",
        lambda case: case.at("enableAutoScaling"),
        "the cluster autoscaler is not supported on managed GPU node pools.",
    ),
    _managed(
        "nvidia",
        "that are not NVIDIA's.",
        lambda case: not sizes.may_have_nvidia_gpus(str(case.at("vmSize"))),
        "managed GPU node pools need a VM size with NVIDIA GPUs.",
    ),
    _managed(
        "user-pool",
        "of a System pool. The page does not say so: this is cautious.",
        _is_system,
        "managed GPU node pools have the mode User.",
    ),
    Rule(
        name="gpu-skip-tag",
        summary=f"Since August 2025 the tag `{nodes.SKIP_DRIVER_TAG}` is refused at creation.",
        source=f"issue: Azure/azure-cli#32531 (2025-12), Azure/AKS#4925; {UNRECORDED}",
        refuses=when(_has_skip_tag),
        error=errors.of_aks(
            f"400 BadRequest: The tag {nodes.SKIP_DRIVER_TAG} is no longer supported. Set "
            "gpuProfile.driver to None instead."
        ),
        target="agentPoolProfile.tags",
        only_new=True,
        since=retirement.TAGS[nodes.SKIP_DRIVER_TAG][0],
    ),
)
