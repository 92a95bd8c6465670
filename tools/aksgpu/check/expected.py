"""What a stack expects of its cluster: the GPU pools and device plugins in its state."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aks_catalogue import capacity, sizes
from aks_catalogue.device_plugin import is_plugin
from aks_catalogue.gpu_operator import CHART, WITHOUT_OPERANDS
from aks_catalogue.gpu_resources import gpu_resource
from aks_catalogue.nodes import (
    ACCELERATOR_LABEL,
    INLINE_POOLS,
    POOL_LABEL,
    TAINT,
    is_left_by_refresh,
)
from aks_catalogue.sample_pod import sample_pod
from aks_catalogue.scheduling import UNKNOWN, Taint, Unknown
from aks_catalogue.secrecy import SIGNATURE
from aks_catalogue.shapes import at, mapping, mappings, sequence
from aks_pools.gpus import driver_is_left_out, has_managed_gpus, has_specialized_image
from aks_pools.pools import Pool as AksPool
from aks_pools.pools import is_cluster, is_pool, pools_of

Json = Mapping[str, Any]

# The key of a secret's decrypted value in Pulumi's state.
_PLAINTEXT = "plaintext"
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
    pools = dict(_outputs_of_pools(outputs))
    for pool in [pool for resource in current for pool in _pools(resource, cluster)]:
        name, size = pool.text("name"), next(iter(pool.sizes()), "")
        before = pools.pop(name, Pool(name=name))
        if sizes.may_have_nvidia_gpus(size):
            gpu_stack = _gpu_stack(pool, has_plugin=bool(plugins), has_operator=has_operator)
            pools[name] = _pool(pool, gpu_stack, before)
    return Expected(
        pools=pools,
        plugins=plugins,
        restoring_command=restoring_command,
        is_ours=any(str(one.get("type")).startswith(_COMPONENTS) for one in current),
    )


def _outputs_of_pools(outputs: Json) -> Iterator[tuple[str, Pool]]:
    """The pools in the stack's outputs by their names in Azure, which change if they rotate."""
    for name, output in mapping(outputs.get("gpuPools")).items():
        _, is_id, own = str(at(output, "id")).rpartition("/agentPools/")
        own = own if is_id else name
        per_node = at(output, "gpusPerNode")
        yield (
            own,
            Pool(
                name=own,
                output_pod=mapping(at(output, "pod")),
                per_node=None if per_node is None else int(per_node),
            ),
        )


def _pools(resource: Json, cluster: str) -> list[AksPool]:
    """The pools of that cluster in a resource: as Azure has them, with the headers of the program.

    A refresh adds every other pool of the cluster to the inline ones, as Azure has it. Where the
    program ignores changes of that list, they stay there, even after the pools are deleted.
    """
    kind, owner = str(resource.get("type")), _OWNER.search(str(resource.get("id")))
    if cluster and owner and owner[1].lower() != cluster.lower():
        return []
    if not is_pool(kind) and not is_cluster(kind):
        return []
    inputs, outputs = (mapping(in_clear(resource.get(each))) for each in ("inputs", "outputs"))
    is_kept = INLINE_POOLS in sequence(resource.get("ignoreChanges"))
    own = {
        pool.get("name")
        for pool in mappings(inputs.get(INLINE_POOLS))
        if not (is_kept and is_left_by_refresh(pool))
    }
    # Each of the others has a resource with more details.
    inline = [pool for pool in mappings(outputs.get(INLINE_POOLS)) if pool.get("name") in own]
    properties = {**outputs, "customHeaders": inputs.get("customHeaders"), INLINE_POOLS: inline}
    return [*pools_of(kind, properties)]


def _pool(pool: AksPool, gpu_stack: str, before: Pool) -> Pool:
    machines = next(pool.machines())
    return replace(
        before,
        size=machines.vm_size,
        gpu_stack=gpu_stack,
        mig_profile=pool.text("gpuInstanceProfile"),
        least=machines.least,
        most=machines.most,
        is_scaled=machines.autoscaled,
        taints=tuple(Taint.parse(taint) for taint in pool.taints() if TAINT.fullmatch(taint)),
        labels={key: str(value) for key, value in pool.part("nodeLabels").items()},
    )


def _gpu_stack(pool: AksPool, *, has_plugin: bool, has_operator: bool) -> str:
    """How nodes get driver and plugin; empty if the state does not show it."""
    if has_specialized_image(pool):
        return "specialized-image"
    if has_managed_gpus(pool):
        return "managed"
    label, off = WITHOUT_OPERANDS
    if has_operator and pool.part("nodeLabels").get(label) != off:
        return "operator"
    if driver_is_left_out(pool):
        return "none"
    return "device-plugin" if has_plugin else ""


def _plugins(resources: Iterable[Json]) -> Iterator[str]:
    """The DaemonSets of device plugins, as namespace/name, which is their id."""
    for resource in resources:
        if str(resource.get("type")).endswith("/v1:DaemonSet"):
            spec = at(in_clear(resource.get("inputs")), "spec.template.spec")
            if any(map(is_plugin, mappings(at(spec, "containers")))):
                yield str(resource.get("id"))
