"""The defaults of keys that other keys decide: filled in where a stack file leaves the key out."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from aks_catalogue.headers import SPECIALIZED_IMAGE
from aks_catalogue.nodes import DRIVERS
from aks_catalogue.shapes import mapping
from aks_catalogue.sizes import find
from aks_catalogue.valid_pools import check_kubernetes_version
from stack_settings import PROJECT
from stack_settings.pools import headers
from stack_settings.section import as_bool

Keys = Mapping[str, Any]
_NAMED = ("resourceGroup", "cluster")


def with_defaults(written: Keys, stack: str) -> Keys:
    """Returns the keys of a stack file with such defaults. Any of them can be unreadable."""
    own = str(written.get("gpuStack"))
    gpu_stack = own if own in DRIVERS else "device-plugin"
    version = _version(mapping(written.get("cluster")))

    def separate(pool: Keys) -> Keys:
        return {**pool, "kubernetesVersion": pool.get("kubernetesVersion") or version}

    def with_gpus(pool: Keys) -> Keys:
        size = find(str(pool.get("vmSize")))
        sized = {**pool, "vmSize": size.name} if size else pool
        return separate(_with_gpu_stack(sized, gpu_stack))

    def ladder(capacity: Keys) -> Keys:
        common = {key: capacity.get(key) for key in ("vmSize", "maxCount")}
        given = {key: value for key, value in common.items() if value not in (None, "")}
        return _each(capacity, "rungs", lambda rung: with_gpus(_rung({**given, **rung})))

    named = {key: _named(written.get(key, {}), stack) for key in _NAMED}
    first = written.get("systemPool", {})
    if isinstance(first, Mapping):
        first = _with_gpu_stack(first, gpu_stack)
    values = _each({**written, **named, "systemPool": first}, "systemPools", separate)
    values = _each(_each(values, "pools", separate), "gpuPools", with_gpus)
    return _each(values, "gpuCapacity", ladder)


def _each(values: Keys, key: str, make: Callable[[Keys], Keys]) -> Keys:
    """Returns the keys with what is made of each map in a list, if one of them is that list."""
    given = values.get(key)
    if not isinstance(given, list):
        return values
    return {**values, key: [make(each) if isinstance(each, Mapping) else each for each in given]}


def _named(section: Any, stack: str) -> Any:
    """Two people who set no name have names of their own: those of their stacks."""
    if not isinstance(section, Mapping) or as_bool(section.get("existing")) or section.get("name"):
        return section
    return {**section, "name": f"{PROJECT}-{stack}"}


def _version(cluster: Keys) -> str | None:
    """Returns the version of a cluster that the stack makes, which its pools follow."""
    version = cluster.get("kubernetesVersion")
    is_read = isinstance(version, str) and not check_kubernetes_version(version, {})
    return version if is_read and not as_bool(cluster.get("existing")) else None


def _with_gpu_stack(pool: Keys, gpu_stack: str) -> Keys:
    """Gives a pool its GPU stack, and the header that asks for the specialized image."""
    by_image = "specialized-image" if pool.get("image") == "specialized" else gpu_stack
    pool = {**pool, "gpuStack": pool.get("gpuStack") or by_image}
    with suppress(ValueError):
        own = headers(pool.get("customHeaders")) or {}
        is_set = any(name.lower() == SPECIALIZED_IMAGE.lower() for name in own)
        if pool["gpuStack"] == "specialized-image" and not is_set:
            return {**pool, "customHeaders": {SPECIALIZED_IMAGE: "true", **own}}
    return pool


def _rung(keys: Keys) -> Keys:
    """A rung that says nothing else has no nodes until it is needed."""
    least = keys.get("minCount", 0)
    return {"minCount": least, "count": least, **keys} if "maxCount" in keys else keys
