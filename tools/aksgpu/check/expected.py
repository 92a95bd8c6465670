"""What a stack expects of its cluster: the GPU pools and device plugins in its state."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aks_catalogue import capacity, sizes
from aks_catalogue.device_plugin import is_plugin
from aks_catalogue.gpu_operator import CHART, WITHOUT_OPERANDS
from aks_catalogue.gpu_resources import gpu_resource
from aks_catalogue.headers import SPECIALIZED_IMAGE
from aks_catalogue.nodes import (
    ACCELERATOR_LABEL,
    DRIVERS,
    INLINE_POOLS,
    MANAGED_GPU_TAG,
    POOL_LABEL,
    TAINT,
    has_managed_gpus,
    is_left_by_refresh,
)
from aks_catalogue.sample_pod import sample_pod
from aks_catalogue.scheduling import UNKNOWN, Taint, Unknown
from aks_catalogue.secrecy import SIGNATURE
from aks_catalogue.shapes import at, mapping, mappings, sequence

Json = Mapping[str, Any]

# The key of a secret's decrypted value in Pulumi's state.
_PLAINTEXT = "plaintext"
# With or without an API version.
_TYPE = re.compile(
    r"(?:azure-native|aks-preview):containerservice(?:/\w+)?:(AgentPool|ManagedCluster)"
)
_COMPONENTS = "aks-gpu:components:"
_OWNER = re.compile(r"/managedClusters/([^/]+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A pool with NVIDIA GPUs, as its stack has it. What is not known is empty or None."""

    name: str
    size: str = ""
    # How nodes get driver and device plugin.
    gpu_stack: str = ""
    mig_profile: str = ""
    # How many of it a node has, if the stack's outputs have that.
    per_node: int | None = None
    least: int | None = None
    most: int | None = None
    # Whether the cluster autoscaler changes its number of nodes.
    is_scaled: bool | None = None
    taints: tuple[Taint, ...] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    # The pod that runs on it, if the stack's outputs have one.
    output_pod: Json = field(default_factory=dict)

    @property
    def pod(self) -> Json:
        """A pod that requests one of its GPUs, or of a pool that stands in for it."""
        name = self.labels.get(capacity.LABEL)
        selector = {capacity.LABEL: name} if name else {POOL_LABEL: self.name}
        spec = mapping(self.output_pod.get("spec"))
        if spec and name:
            return {**self.output_pod, "spec": {**spec, "nodeSelector": selector}}
        if spec:
            return self.output_pod
        resource = gpu_resource(self.size, mig_profile=self.mig_profile).name
        tolerations = [taint.toleration for taint in self.taints or () if taint.blocks]
        return sample_pod(resource, selector, tolerations)

    @property
    def gpus(self) -> int | None:
        """How many GPUs a node offers, or MIG slices, or shares."""
        if self.per_node is not None:
            return self.per_node
        return gpu_resource(self.size, mig_profile=self.mig_profile).per_node

    def can_grow(self, nodes: int) -> bool:
        """Whether AKS adds a node for a pod. If that is not known, an empty pool can grow."""
        if self.is_scaled is None:
            return not nodes
        return self.is_scaled and nodes < (self.most or 0)

    def label_of(self, key: str) -> str | Unknown:
        """The value of this label on a new node of the pool."""
        name, nvidia = ACCELERATOR_LABEL
        size = sizes.find(self.size)
        set_by_aks = {
            POOL_LABEL: self.name,
            "agentpool": self.name,
            name: nvidia,
            # In Azure's spelling; the stack can use any case.
            "node.kubernetes.io/instance-type": size.name if size else UNKNOWN,
        }
        return {**self.labels, **set_by_aks}.get(key, UNKNOWN)


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a stack expects; empty for a cluster that is checked without its stack."""

    # None: there is no stack.
    pools: Mapping[str, Pool] | None = None
    # The DaemonSets of its device plugins, as namespace/name.
    plugins: frozenset[str] = frozenset()
    # The command that restores what was changed or deleted by hand.
    restoring_command: str = ""
    # Whether it has components of this project: other programs lack the keys of our stack files.
    is_ours: bool = False

    def advice(self, ours: str, theirs: str) -> str:
        return ours if self.is_ours else theirs

    @property
    def names(self) -> list[str]:
        return list(self.pools or ())

    def pool(self, name: str) -> Pool | None:
        return (self.pools or {}).get(name)


def in_clear(value: Any) -> Any:
    """A value from a state exported with --show-secrets, with its secrets decrypted."""
    if isinstance(value, Mapping):
        if SIGNATURE not in value:
            return {key: in_clear(member) for key, member in value.items()}
        try:
            return in_clear(json.loads(value[_PLAINTEXT]))
        except (KeyError, TypeError, ValueError):
            return None
    return [in_clear(item) for item in value] if isinstance(value, list) else value


def expected(resources: Iterable[Any], outputs: Json, restoring_command: str) -> Expected:
    """Read from the resources of a state and from the stack's outputs; both have pools."""
    current = [resource for resource in mappings([*resources]) if not resource.get("delete")]
    cluster = str(outputs.get("clusterName") or "")
    plugins = frozenset(_plugins(current))
    has_operator = any(at(in_clear(one.get("inputs")), "chart") == CHART for one in current)
    pools = {
        name: Pool(
            name=name,
            output_pod=mapping(pool.get("pod")),
            per_node=_number(pool.get("gpusPerNode")),
        )
        for name, pool in _outputs_of_pools(outputs)
    }
    for pool, headers in [row for resource in current for row in _pools(resource, cluster)]:
        name = str(pool.get("name"))
        if sizes.may_have_nvidia_gpus(str(pool.get("vmSize"))):
            before = pools.get(name, Pool(name=name))
            gpu_stack = _gpu_stack(
                pool, headers, has_plugin=bool(plugins), has_operator=has_operator
            )
            pools[name] = _pool(pool, gpu_stack, before)
        else:
            pools.pop(name, None)
    return Expected(
        pools=pools,
        plugins=plugins,
        restoring_command=restoring_command,
        is_ours=any(str(one.get("type")).startswith(_COMPONENTS) for one in current),
    )


def _outputs_of_pools(outputs: Json) -> Iterator[tuple[str, Json]]:
    """The pools in the stack's outputs by their names in Azure, which change if they rotate."""
    for name, output in mapping(outputs.get("gpuPools")).items():
        pool = mapping(output)
        _, is_id, own = str(pool.get("id")).rpartition("/agentPools/")
        yield own if is_id else name, pool


def _pools(resource: Json, cluster: str) -> Iterator[tuple[Json, Json]]:
    """The pools of that cluster in a resource's outputs, each with its custom headers."""
    kind = _kind(resource, cluster)
    outputs = mapping(in_clear(resource.get("outputs")))
    inputs = mapping(in_clear(resource.get("inputs")))
    headers = mapping(inputs.get("customHeaders"))
    if kind == "AgentPool":
        yield outputs, headers
    elif kind == "ManagedCluster":
        # Only the inline pools: each of the others has a resource with more details.
        names = {str(pool.get("name")) for pool in _inline_pools(resource, inputs)}
        for pool in mappings(outputs.get(INLINE_POOLS)):
            if str(pool.get("name")) in names:
                yield pool, headers


def _inline_pools(cluster: Json, inputs: Json) -> Iterator[Json]:
    """The pools that the program has in its cluster.

    A refresh adds every other pool of the cluster to this list, as Azure has it. Where the program
    ignores changes of the list, they stay there, even after the pools themselves are deleted.
    """
    is_kept = INLINE_POOLS in sequence(cluster.get("ignoreChanges"))
    for pool in mappings(inputs.get(INLINE_POOLS)):
        if not (is_kept and is_left_by_refresh(pool)):
            yield pool


def _kind(resource: Json, cluster: str) -> str:
    """AgentPool or ManagedCluster if the resource belongs to that cluster; else empty."""
    match = _TYPE.fullmatch(str(resource.get("type")))
    owner = _OWNER.search(str(resource.get("id")))
    if match is None or (cluster and owner and owner[1].lower() != cluster.lower()):
        return ""
    return match[1]


def _pool(pool: Json, gpu_stack: str, before: Pool) -> Pool:
    is_scaled = pool.get("enableAutoScaling") is True
    count = _number(pool.get("count"))
    taints = tuple(
        Taint.parse(t) for t in map(str, sequence(pool.get("nodeTaints"))) if TAINT.fullmatch(t)
    )
    return replace(
        before,
        size=str(pool.get("vmSize")),
        gpu_stack=gpu_stack,
        mig_profile=str(pool.get("gpuInstanceProfile") or ""),
        least=_number(pool.get("minCount")) if is_scaled else count,
        most=_number(pool.get("maxCount")) if is_scaled else count,
        is_scaled=is_scaled,
        taints=taints,
        labels={key: str(value) for key, value in mapping(pool.get("nodeLabels")).items()},
    )


def _gpu_stack(pool: Json, headers: Json, *, has_plugin: bool, has_operator: bool) -> str:
    """How nodes get driver and plugin; empty if the state does not show it."""
    if any(name.lower() == SPECIALIZED_IMAGE.lower() for name in headers):
        return "specialized-image"
    is_tagged = str(mapping(pool.get("tags")).get(MANAGED_GPU_TAG)).lower() == "true"
    if is_tagged or has_managed_gpus(pool):
        return "managed"
    label, off = WITHOUT_OPERANDS
    if has_operator and mapping(pool.get("nodeLabels")).get(label) != off:
        return "operator"
    if at(pool, "gpuProfile.driver") == DRIVERS["none"]:
        return "none"
    return "device-plugin" if has_plugin else ""


def _plugins(resources: Iterable[Json]) -> Iterator[str]:
    """The DaemonSets of device plugins, as namespace/name, which is their id."""
    for resource in resources:
        spec = mapping(at(in_clear(resource.get("inputs")), "spec.template.spec"))
        if str(resource.get("type")).endswith("/v1:DaemonSet") and any(
            map(is_plugin, mappings(spec.get("containers")))
        ):
            yield str(resource.get("id"))


def _number(value: Any) -> int | None:
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return int(value) if is_number else None
