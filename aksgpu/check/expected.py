"""What a stack says of its cluster: its GPU pools and its device plugins, out of its state."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from catalogue import mig, sizes
from catalogue.device_plugin import is_plugin
from catalogue.headers import SPECIALIZED_IMAGE
from catalogue.nodes import ACCELERATOR_LABEL, DRIVERS, MANAGED_GPU_TAG, POOL_LABEL, TAINT
from catalogue.scheduling import UNKNOWN, Taint, Unknown
from catalogue.shapes import at, mapping, mappings, sequence

Json = Mapping[str, Any]

# The key by which a state tells what is no plain map, and the one that a secret in clear has.
_SIGNATURE, _PLAIN = "4dabf18193072939515e22adb298388d", "plaintext"
# With or without a version of the API.
_TYPE = re.compile(
    r"(?:azure-native|aks-preview):containerservice(?:/\w+)?:(AgentPool|ManagedCluster)"
)
_OWNER = re.compile(r"/managedClusters/([^/]+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A pool for NVIDIA GPUs, as its stack has it. What is empty or None nobody says."""

    name: str
    size: str = ""
    # Who brings driver and device plugin.
    gpu_stack: str = ""
    mig_profile: str = ""
    least: int | None = None
    most: int | None = None
    # Whether AKS changes the number of its nodes by itself.
    is_scaled: bool | None = None
    taints: tuple[Taint, ...] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    # What pods have to tolerate on its nodes.
    tolerations: tuple[Json, ...] = ()

    @property
    def gpus(self) -> int | None:
        """How many GPUs a node offers, or slices where each GPU is divided."""
        size = sizes.find(self.size)
        if size is None or size.gpus is None:
            return None
        if not self.mig_profile:
            return math.ceil(size.gpus)
        slices = mig.slices(size, self.mig_profile)
        return size.devices * slices.per_gpu if slices else None

    def can_grow(self, nodes: int) -> bool:
        """Whether AKS adds a node for a pod; whoever does not say so is taken at its best."""
        if self.is_scaled is None:
            return not nodes
        return self.is_scaled and nodes < (self.most or 0)

    def label_of(self, key: str) -> str | Unknown:
        """The label that a node of it is going to have."""
        name, nvidia = ACCELERATOR_LABEL
        own = {
            POOL_LABEL: self.name,
            "agentpool": self.name,
            name: nvidia,
            "node.kubernetes.io/instance-type": self.size,
        }
        return {**self.labels, **own}.get(key, UNKNOWN)


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a stack says; nothing of it where a cluster is checked that is no stack's."""

    # None: there is no stack that could say so.
    pools: Mapping[str, Pool] | None = None
    # The DaemonSets of its device plugins, as namespace/name.
    plugins: frozenset[str] = frozenset()
    # The control plane's, as Azure has told it.
    version: str = ""
    # What puts back what somebody has changed or deleted by hand.
    put_back: str = ""

    @property
    def names(self) -> list[str]:
        return list(self.pools or ())

    def pool(self, name: str) -> Pool | None:
        return (self.pools or {}).get(name)


def in_clear(value: Any) -> Any:
    """A value of a state that was exported with its secrets."""
    if isinstance(value, Mapping):
        if _SIGNATURE not in value:
            return {key: in_clear(member) for key, member in value.items()}
        try:
            return in_clear(json.loads(value[_PLAIN]))
        except (KeyError, TypeError, ValueError):
            return None
    return [in_clear(item) for item in value] if isinstance(value, list) else value


def expected(resources: Iterable[Any], outputs: Json, put_back: str) -> Expected:
    """Out of a state's resources, and of the stack's outputs, which name its pools too."""
    made = [found for found in mappings([*resources]) if not found.get("delete")]
    cluster = str(outputs.get("clusterName") or "")
    plugins = frozenset(_plugins(made))
    said = [pool for found in made for pool in _pools(found, cluster)]
    pools = {
        name: Pool(name=name, tolerations=tuple(mappings(mapping(pool).get("tolerations"))))
        for name, pool in mapping(outputs.get("gpuPools")).items()
    }
    for pool, headers in said:
        name = str(pool.get("name"))
        if _is_for_nvidia(pool):
            pools[name] = _pool(name, pool, headers, pools.get(name), has_plugin=bool(plugins))
        else:
            pools.pop(name, None)
    versions = (_version(found, cluster) for found in made)
    return Expected(
        pools=pools, plugins=plugins, version=next(filter(None, versions), ""), put_back=put_back
    )


def _pools(resource: Json, cluster: str) -> Iterator[tuple[Json, Json]]:
    """What a resource says of pools in that cluster, and the headers that they are made with."""
    kind = _kind(resource, cluster)
    own = mapping(in_clear(resource.get("outputs")))
    headers = mapping(mapping(in_clear(resource.get("inputs"))).get("customHeaders"))
    if kind == "AgentPool":
        yield own, headers
    elif kind == "ManagedCluster":
        # Of those inline: others have a resource of their own, which says more.
        inline = mapping(in_clear(resource.get("inputs"))).get("agentPoolProfiles")
        names = {str(pool.get("name")) for pool in mappings(inline)}
        for pool in mappings(own.get("agentPoolProfiles")):
            if str(pool.get("name")) in names:
                yield pool, headers


def _version(resource: Json, cluster: str) -> str:
    is_cluster = _kind(resource, cluster) == "ManagedCluster"
    return str(at(resource, "outputs.currentKubernetesVersion") or "") if is_cluster else ""


def _kind(resource: Json, cluster: str) -> str:
    """AgentPool or ManagedCluster, where a resource is one of that cluster; else nothing."""
    found = _TYPE.fullmatch(str(resource.get("type")))
    owner = _OWNER.search(str(resource.get("id")))
    if found is None or (cluster and owner and owner[1].lower() != cluster.lower()):
        return ""
    return found[1]


def _is_for_nvidia(pool: Json) -> bool:
    size = str(pool.get("vmSize"))
    known = sizes.find(size)
    return known.is_nvidia if known else sizes.is_gpu_size(size)


def _pool(name: str, pool: Json, headers: Json, before: Pool | None, *, has_plugin: bool) -> Pool:
    is_scaled = pool.get("enableAutoScaling") is True
    count = _number(pool.get("count"))
    taints = tuple(
        Taint.parse(t) for t in map(str, sequence(pool.get("nodeTaints"))) if TAINT.fullmatch(t)
    )
    return Pool(
        name=name,
        size=str(pool.get("vmSize")),
        gpu_stack=_gpu_stack(pool, headers, has_plugin=has_plugin),
        mig_profile=str(pool.get("gpuInstanceProfile") or ""),
        least=_number(pool.get("minCount")) if is_scaled else count,
        most=_number(pool.get("maxCount")) if is_scaled else count,
        is_scaled=is_scaled,
        taints=taints,
        labels={key: str(value) for key, value in mapping(pool.get("nodeLabels")).items()},
        tolerations=(before.tolerations if before else ()) or tuple(t.toleration for t in taints),
    )


def _gpu_stack(pool: Json, headers: Json, *, has_plugin: bool) -> str:
    """Who brings driver and plugin; empty where the state alone does not say so."""
    if any(name.lower() == SPECIALIZED_IMAGE.lower() for name in headers):
        return "specialized-image"
    if str(mapping(pool.get("tags")).get(MANAGED_GPU_TAG)).lower() == "true":
        return "managed"
    if at(pool, "gpuProfile.driver") == DRIVERS["none"]:
        return "none"
    return "device-plugin" if has_plugin else ""


def _plugins(resources: Iterable[Json]) -> Iterator[str]:
    """The DaemonSets of device plugins, which a state has by namespace and name."""
    for found in resources:
        spec = mapping(at(in_clear(found.get("inputs")), "spec.template.spec"))
        if str(found.get("type")).endswith("/v1:DaemonSet") and any(
            map(is_plugin, mappings(spec.get("containers")))
        ):
            yield str(found.get("id"))


def _number(value: Any) -> int | None:
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return int(value) if is_number else None
