"""What no condition of refusals.toml can say of an agent pool."""

from collections.abc import Iterator
from typing import Any

from aks_catalogue import nodes, sizes
from aks_catalogue.shapes import at
from aks_catalogue.sizes import Size
from rehearsal.arm.aks import fields
from rehearsal.arm.aks.refusals import MOST_POOLS, Case, Words, not_an_id
from rehearsal.arm.offers import known_sizes

MOST_NODES = 1000
# The smallest disk for a node's kubelet.
_SMALLEST_DISK = 30
# The taint and the effect that a System pool may have.
_SYSTEM_TAINT, _SYSTEM_EFFECT = "CriticalAddonsOnly", "PreferNoSchedule"
_OS_SKUS = ("ubuntu", "ubuntu2004", "ubuntu2204", "ubuntu2404", "azurelinux", "azurelinux3")
_UPGRADE_NODES = ("upgradeSettings.maxSurge", "upgradeSettings.maxUnavailable")
_WHY_ONE = (
    " If allowedMinCount was expected to be 0 but is 1: 1) The nodepool is a VMAS pool. 2) api "
    "Version is less than 2020-03-01. 3) The node is a system pool."
)


def not_played(case: Case) -> Words | None:
    for path, kinds in fields.NOT_PLAYED.items():
        kind = case.at(path)
        # `az aks stop` stops the pools, and a client sends back what it got.
        if case.changes(path) and str(kind).lower() in map(str.lower, kinds):
            return {"what": f"pools with {path} {kind}"}
    return None


def no_subnet_id(case: Case) -> Words | None:
    return not_an_id(case.at("vnetSubnetID"), "properties.vnetSubnetID")


def bad_name(case: Case) -> bool:
    return not nodes.LINUX_POOL_NAME.fullmatch(case.name)


def other_mode(case: Case, at: str) -> Words | None:
    mode = case.at(at)
    is_known = mode in (None, "", "System", "User") or not case.changes(at)
    return None if is_known else {"value": mode}


def unknown_os_sku(case: Case) -> Words | None:
    sku = case.sent.get("osSKU")
    return {"sku": sku} if sku and str(sku).lower() not in _OS_SKUS else None


def no_taint(case: Case) -> bool:
    return not all(map(nodes.TAINT.fullmatch, _taints(case)))


def no_label(case: Case) -> bool:
    return any(not nodes.is_label(key, value) for key, value in _labels(case))


def label_of_aks(case: Case) -> Words | None:
    return _label(case, lambda key, _: key.startswith(f"{nodes.AKS_LABEL_DOMAIN}/"))


def label_of_kubernetes(case: Case) -> Words | None:
    return _label(case, lambda key, _: nodes.is_kubernetes_label(key))


def label_of_another_pool(case: Case) -> Words | None:
    own = {"agentpool": case.name}
    return _label(case, lambda key, value: key in nodes.AKS_LABELS and own.get(key) != value)


def no_number_of_nodes(case: Case, at: str) -> bool:
    value = _asks(case, at)
    return value is not None and not nodes.NUMBER_OF_NODES.fullmatch(value)


def too_many(case: Case) -> Words | None:
    """Judges a PUT of a pool; inline pools are judged with their cluster."""
    most = case.cluster.get("maxAgentPools", MOST_POOLS)
    return {"most": most} if len({*case.others} - {case.name.lower()}) >= most else None


def wrong_count(case: Case, at: str) -> Words | None:
    number, fewest = case.at(at), 1 if case.at("mode") == "System" else 0
    if number is None or (type(number) is int and fewest <= number <= MOST_NODES):
        return None
    return {"value": number, "fewest": fewest, "reasons": _WHY_ONE if fewest else ""}


def limits_crossed(case: Case) -> bool:
    return bool(case.at("minCount") > case.at("maxCount"))


def starts_outside(case: Case) -> Words | None:
    count, least, most = (case.at(name) for name in ("count", "minCount", "maxCount"))
    return None if least <= count <= most else {"count": count, "least": least, "most": most}


def restricted_taint(case: Case) -> bool:
    """Also of a pool that becomes a System pool with the taints that it had."""
    kept = (str(taint) for taint in case.at("nodeTaints") or ())
    return any(
        taint is not None and taint["key"] != _SYSTEM_TAINT and taint["effect"] != _SYSTEM_EFFECT
        for taint in map(nodes.TAINT.fullmatch, (*_taints(case), *kept))
    )


def too_small_for_system(case: Case) -> Words | None:
    is_small = sizes.is_smaller(str(case.at("vmSize")), sizes.SMALLEST_OF_SYSTEM)
    return {"pool": case.name} if case.changes("mode") and is_small else None


def too_small(case: Case) -> Words | None:
    size = case.at("vmSize")
    return {"size": size} if sizes.is_smaller(str(size), sizes.SMALLEST) else None


def asks_unavailable(case: Case) -> bool:
    return _some(_asks(case, "upgradeSettings.maxUnavailable"))


def neither_surge_nor_unavailable(case: Case) -> bool:
    surge, unavailable = map(case.at, _UPGRADE_NODES)
    return nodes.is_zero(surge) and not _some(unavailable)


def surge_and_unavailable(case: Case) -> bool:
    return (
        not case.is_preview
        and all(_some(case.at(path)) for path in _UPGRADE_NODES)
        and any(map(case.changes, _UPGRADE_NODES))
    )


def wrong_price(case: Case) -> bool:
    price = case.at("spotMaxPrice")
    return isinstance(price, int | float) and not nodes.is_spot_price(price)


def crowded(case: Case) -> Words | None:
    count, pods = case.at("count"), case.at("maxPods")
    if not isinstance(count, int) or not isinstance(pods, int):
        return None
    room = count * pods
    return {"room": room} if count and room < nodes.ROOM_FOR_PODS else None


def no_ephemeral_disk(case: Case) -> Words | None:
    size = _size(case)
    return _disks(case, size) if size and size.most_ephemeral_gib == 0 else None


def too_large_a_disk(case: Case) -> Words | None:
    size, requested = _size(case), case.at("osDiskSizeGB")
    most = size.most_ephemeral_gib if size else None
    is_too_large = most and isinstance(requested, int) and requested > most
    return _disks(case, size) if size and is_too_large else None


def no_room_for_kubelet(case: Case) -> Words | None:
    size = _size(case)
    is_small = size and size.temp_gib is not None and size.temp_gib < _SMALLEST_DISK
    return _disks(case, size) if size and is_small else None


def cannot_be_divided(case: Case) -> Words | None:
    name = str(case.at("vmSize"))
    size = sizes.find(name)
    if name.lower() not in known_sizes() or (size and size.mig is not False):
        return None
    return {"profile": case.at("gpuInstanceProfile"), "size": name}


def has_others_gpus(case: Case) -> Words | None:
    size = sizes.find(str(case.at("vmSize")))
    if size is None or size.is_nvidia:
        return None
    if size.retired_on is not None and size.retired_on <= case.today:
        return None  # Retired sizes have a refusal of their own.
    gpu = f"GPU, {size.gpu_vendor} {size.gpu_model}"
    return {"size": size.name, "location": case.location, "gpu": gpu}


def no_nvidia_gpus(case: Case) -> bool:
    return not sizes.may_have_nvidia_gpus(str(case.at("vmSize")))


def has_skip_tag(case: Case) -> bool:
    return any(key.lower() == nodes.SKIP_DRIVER_TAG.lower() for key in case.sent.get("tags") or {})


def _before(case: Case, path: str) -> Any:
    return at(case.before, path)


def _asks(case: Case, path: str) -> str | None:
    """Returns an upgrade setting of the request."""
    value = at(case.sent, path)
    return None if value is None else str(value).strip()


def _some(value: object) -> bool:
    return value is not None and not nodes.is_zero(value)


def _taints(case: Case) -> Iterator[str]:
    for name in ("nodeTaints", "nodeInitializationTaints"):
        yield from map(str, case.sent.get(name) or ())


def _labels(case: Case) -> list[tuple[str, Any]]:
    """Returns the new labels; AKS accepts those that it has returned itself."""
    before = _before(case, "nodeLabels") or {}
    labels: dict[str, Any] = case.sent.get("nodeLabels") or {}
    return [
        (key, value)
        for key, value in labels.items()
        if before.get(key) != value and (key, value) != nodes.SPOT_LABEL
    ]


def _label(case: Case, is_refused: Any) -> Words | None:
    for key, value in _labels(case):
        if is_refused(key, value):
            return {"key": key, "label": f"{key}={value}"}
    return None


def _size(case: Case) -> Size | None:
    """Returns the size if the catalogue has it."""
    return known_sizes().get(str(case.at("vmSize")).lower())


def _disks(case: Case, size: Size) -> Words:
    return {
        "size": size.name,
        "cache": (size.cache_gib or 0) << 30,
        "temp": (size.temp_gib or 0) << 30,
        "wanted": (case.at("osDiskSizeGB") or 0) << 30,
    }
