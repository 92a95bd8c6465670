"""The rules across sections: what only the whole stack tells."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from aks_catalogue import capacity, gpu_isolation, gpu_operator, kubernetes, valid_clusters
from aks_catalogue import valid_pools as rules
from aks_catalogue.mistakes import Mistake, property_path
from aks_catalogue.shapes import at, mapping
from components.aks_cluster import AksClusterArgs
from components.extra_properties import extra_mistakes
from stack_settings.model import Settings
from stack_settings.section import keys

# The keys that apply to an existing cluster, by section.
_OF_EXISTING_CLUSTERS: Mapping[str, Collection[str]] = MappingProxyType(
    {"cluster": ("existing", "name"), "network": ("subnetId",), "systemPool": ()}
)
# What a stack file says, by key, and nothing else.
Written = Mapping[str, Any]


def mistakes(stack: Settings, written: Written, wrong: set[str]) -> list[Mistake]:
    """Returns what is wrong between sections.

    A rule waits until the keys that it compares have no mistakes of their own: `wrong` ones have.
    """
    return [
        mistake
        for rule, compared in _RULES
        if not wrong & {*compared}
        for mistake in rule(stack, written)
    ]


def _names_differ(stack: Settings, written: Written) -> Iterator[Mistake]:
    first = [("systemPool", stack.system_pool)]
    ladders = [(f"gpuCapacity[{n}]", each) for n, each in enumerate(stack.gpu_capacity)]
    for kind, named in (("pools", [*first, *stack.separate_pools]), ("capacities", ladders)):
        count = Counter(each.name for _, each in named)
        for path, each in named:
            is_written = path != "systemPool" or at(written, "systemPool.name")
            if each.name and is_written and count[each.name] > 1:
                reason = f"{count[each.name]} {kind} are named {each.name!r}"
                yield Mistake(f"{path}.name", f"{reason}: give each its own name")


def _nothing_is_ignored(stack: Settings, written: Written) -> Iterator[Mistake]:
    """The settings of a cluster that the stack does not create."""
    reason = "has no effect on an existing cluster (cluster.existing: true): remove this key"
    for section, allowed in _OF_EXISTING_CLUSTERS.items():
        known = keys(cast(Any, keys(Settings)[section].type))
        for key in mapping(written.get(section)):
            if stack.cluster.existing and key in known and key not in allowed:
                yield Mistake(property_path(section, key), reason)


def _there_is_a_system_pool(stack: Settings, _: Written) -> Iterator[Mistake]:
    if stack.system_pool.removed and not stack.system_pools:
        reason = "a cluster needs a system pool: add the one that replaces systemPool"
        yield Mistake("systemPools", reason)


def _versions_fit_the_clusters(stack: Settings, _: Written) -> Iterator[Mistake]:
    cluster = stack.cluster
    given = "" if cluster.existing else cluster.kubernetes_version or ""
    channel = "none" if cluster.existing else cluster.upgrade_channel
    for path, pool in stack.separate_pools:
        version = pool.kubernetes_version
        conflict = rules.version_conflict(version, given, channel) if version else None
        if conflict and version != given:
            yield Mistake(f"{path}.kubernetesVersion", conflict)


def _reservations_have_an_identity(stack: Settings, _: Written) -> Iterator[Mistake]:
    reason = (
        "requires a user-assigned identity, since AKS cannot use reservations with a "
        "system-assigned one: set cluster.userAssignedIdentityId"
    )
    has_identity = stack.cluster.existing or stack.cluster.user_assigned_identity_id
    for path, pool in stack.separate_pools:
        if getattr(pool, "capacity_reservation_group_id", None) and not has_identity:
            yield Mistake(f"{path}.capacityReservationGroupId", reason)


def _the_plugin_supports_its_pools(stack: Settings, _: Written) -> Iterator[Mistake]:
    plugin = stack.device_plugin
    pools = [pool for pool in stack.all_gpu_pools if pool.gpu_stack == "device-plugin"]
    reason = valid_clusters.old_plugin_mistake(
        plugin.edition,
        plugin.image,
        [pool.name for pool in pools if pool.mig_profile],
        [pool.name for pool in pools if pool.sharing],
    )
    if reason:
        yield Mistake("devicePlugin.edition", reason)


def _the_operator_fits_its_pools(stack: Settings, _: Written) -> Iterator[Mistake]:
    operator, first = stack.gpu_operator, stack.system_pool
    pools = [pool for pool in stack.all_gpu_pools if pool.gpu_stack == rules.OPERATOR]
    has_mig = any(pool.mig_profile for pool in pools)
    yield from gpu_operator.contradictions(
        operator.driver, operator.values, "gpuOperator.values", has_mig=has_mig
    )
    for pool in pools:
        values = {
            "gpuStack": rules.OPERATOR,
            "vmSize": pool.vm_size,
            "migProfile": pool.mig_profile,
        }
        if reason := rules.operator_conflict(operator.driver, values):
            yield Mistake("gpuOperator.driver", f"pool {pool.name}: {reason}")
    if pools and first.has_gpus and not first.removed:
        reason = (
            f"{first.vm_size} has GPUs, and the GPU Operator of this stack serves only "
            "gpuPools: use a size without GPUs"
        )
        yield Mistake("systemPool.vmSize", reason)


def _the_autoscaler_fits_capacity(stack: Settings, written: Written) -> Iterator[Mistake]:
    own = stack.cluster.autoscaler
    if own is None or not stack.gpu_capacity:
        return
    if at(written, "cluster.autoscaler.expander") and own.expander != capacity.EXPANDER:
        reason = f"gpuCapacity needs {capacity.EXPANDER}, not {own.expander!r}: remove this key"
        yield Mistake("cluster.autoscaler.expander", reason)
    if own.balance_similar_pools:
        reason = "would add nodes to all rungs of one size at once: remove it with gpuCapacity"
        yield Mistake("cluster.autoscaler.balanceSimilarPools", reason)


def _azure_has_the_properties_of_the_cluster(stack: Settings, _: Written) -> Iterator[Mistake]:
    """The names in `cluster.extra`: headers of systemPool decide who sends them."""
    if not stack.cluster.existing and stack.system_pool.custom_headers is None:
        yield from extra_mistakes(
            AksClusterArgs, stack.cluster.extra, by_aks_preview=False, path="cluster.extra"
        )


def _isolation_has_its_policies(stack: Settings, _: Written) -> Iterator[Mistake]:
    given = "" if stack.cluster.existing else stack.cluster.kubernetes_version
    version = kubernetes.minor_version(given or "")
    if stack.gpu_isolation.enabled and version and version < gpu_isolation.SINCE:
        since = kubernetes.written(gpu_isolation.SINCE)
        reason = (
            f"needs Kubernetes {since}, the first version whose API server changes pods by a "
            f"policy of its own: set cluster.kubernetesVersion to {since} or newer"
        )
        yield Mistake("gpuIsolation.enabled", reason)


# Each rule, with the keys that it compares.
_RULES: Sequence[tuple[Callable[[Settings, Written], Iterator[Mistake]], Collection[str]]] = (
    (_names_differ, ()),
    (_nothing_is_ignored, ()),
    (_there_is_a_system_pool, ("systemPool", "systemPools")),
    (_versions_fit_the_clusters, ("cluster",)),
    (_reservations_have_an_identity, ("cluster",)),
    (_the_plugin_supports_its_pools, ("devicePlugin", "gpuPools", "gpuCapacity")),
    (_the_operator_fits_its_pools, ("gpuOperator", "gpuPools", "gpuCapacity", "systemPool")),
    (_the_autoscaler_fits_capacity, ("cluster",)),
    (_azure_has_the_properties_of_the_cluster, ("systemPool",)),
    (_isolation_has_its_policies, ("cluster",)),
)
