"""Keeps the live node counts of autoscaled pools in the updates that azure-native sends.

The cluster autoscaler changes the node count of a pool, and a PUT with another count changes it
back. The count in Pulumi's state is out of date. So the cluster is read from Azure when a resource
is registered, and the resource once more, in a hook, right before its PUT.
"""

from collections.abc import Awaitable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import pulumi

from aks_catalogue import rotation
from aks_catalogue.nodes import lost_nodes
from aks_catalogue.shapes import at
from components import azure_reads
from components.azure_reads import Provider, Values, are_read, find_cluster, inputs_of
from components.hooks import guard, resolved

POOLS = "agentPoolProfiles"
FIRST_COUNT = f"{POOLS}[0].count"
# What the path of a resource has, and what Azure names otherwise: in its answers, `type` is ARM's.
_NOT_COMPARED = frozenset(["resourceGroupName", "resourceName", "agentPoolName", "type"])
_LABELS_OF_AKS = "kubernetes.azure.com/"
# The defaults of properties that AKS does not always return.
_DEFAULTS: Values = MappingProxyType({"scaleSetPriority": "Regular", "maxUnavailable": "0"})
_MAPS = ("nodeLabels", "tags")


class StaleError(Exception):
    """An update would send outdated values."""


def keep_live_count(
    owner: pulumi.Resource,
    args: dict[str, Any],
    opts: pulumi.ResourceOptions,
    *,
    rotates: bool = False,
) -> pulumi.ResourceOptions:
    """Returns the options of a pool, whose count waits for the live one if AKS scales it.

    A pool that rotates can still have an earlier name in Azure.
    """
    if not are_read():
        return opts
    provider = owner.get_provider(azure_reads.POOL)
    ignored = [*(opts.ignore_changes or ())]
    if "count" in ignored:
        pool = _Program(provider, dict(args), ignored, opts.replace_on_changes or ())
        args["count"] = _after(pool.live_count(rotates=rotates), args["count"])
    return _with(opts, ignored, _LiveCount(provider).require)


def keep_live_pools(
    owner: pulumi.Resource, args: dict[str, Any], opts: pulumi.ResourceOptions
) -> pulumi.ResourceOptions:
    """Returns the options of a cluster, in whose PUT is only the program's first system pool.

    It has its live count. After a refresh, azure-native adds separate node pools to the inputs of
    the cluster. AKS refuses a list in which some pools have a version and some do not.
    """
    if not are_read():
        return opts
    provider = owner.get_provider(azure_reads.CLUSTER)
    ignored = [*(opts.ignore_changes or ())]
    pools = _Program(provider, dict(args), ignored, opts.replace_on_changes or ()).live_pools()
    # Some input has to wait until the list of ignored properties is complete.
    waiting = POOLS if POOLS in args else "location"
    args[waiting] = _after(pools, args[waiting])
    return _with(opts, ignored, _LivePools(provider).require)


@dataclass(frozen=True)
class _Program:
    """What a program says of a resource, compared with Azure."""

    provider: Provider
    args: Values
    # Pulumi reads this same list once inputs are known.
    ignored: list[str]
    replacing: Collection[str]

    async def live_count(self, *, rotates: bool) -> Any:
        """Returns the live count if the pool has changes; otherwise the count is ignored."""
        inputs = await inputs_of(self.args)
        cluster = await find_cluster(self.provider, inputs)
        if cluster is None:
            return None
        live = _pool(cluster, inputs, rotates=rotates)
        is_new = not live or is_replaced(live, inputs, self.replacing)
        if not is_new and has(live, inputs):
            return None
        self.ignored.remove("count")
        if is_new:
            return _within_limits(inputs, live) if live and rotates else None
        return _count(inputs, live)

    async def live_pools(self) -> Any:
        """Ignores the pools if nothing has changed; otherwise returns them with live counts."""
        inputs = await inputs_of(self.args)
        live = await find_cluster(self.provider, inputs)
        inline_pools, live_pools = inputs.get(POOLS, []), _by_name(live)
        if live is None:
            if pulumi.runtime.is_dry_run():
                # A refresh may have put separate pools into the list of the state.
                self._ignore_pools()
            return None
        if not live or is_replaced(live, inputs, self.replacing):
            self._count_of_program()
            return None
        if any(pool["name"] not in live_pools for pool in inline_pools):
            return None
        if has(live, inputs, but={*self.ignored, POOLS}) and all(
            has(live_pools[pool["name"]], pool) for pool in inline_pools
        ):
            if inline_pools and is_same("tags", live.get("tags"), inputs.get("tags")):
                self._ignore_pools()
            # Else Azure has more tags: of other tools, or one that the program has removed. An
            # update then sends the program's pool with the count in the state.
            return None
        self._count_of_program()
        return [
            {**pool, "count": _count(pool, live_pools[pool["name"]])} for pool in inline_pools
        ] or None

    def _count_of_program(self) -> None:
        self.ignored[:] = [path for path in self.ignored if path != FIRST_COUNT]

    def _ignore_pools(self) -> None:
        self._count_of_program()
        self.ignored.append(POOLS)


@dataclass(frozen=True)
class _LiveCount:
    """Refuses to change the number of nodes of a pool that AKS scales, or has scaled.

    Of another pool that is gone, it says that the update makes it anew.
    """

    provider: Provider

    async def require(self, args: pulumi.ResourceHookArgs) -> None:
        sent, old = await resolved(args.new_inputs), await resolved(args.old_inputs)
        if sent.get("enableAutoScaling") or old.get("enableAutoScaling"):
            live = await azure_reads.read(self.provider, azure_reads.POOL, sent)
            _require_count(sent["agentPoolName"], sent, live)
        elif sent and await azure_reads.find(self.provider, azure_reads.POOL, sent) == {}:
            name = sent["agentPoolName"]
            pulumi.log.warn(f"pool {name!r} does not exist in Azure: this update makes it anew")


@dataclass(frozen=True)
class _LivePools:
    """Refuses other pools than the program's in a cluster's PUT, and other counts than the live."""

    provider: Provider

    async def require(self, args: pulumi.ResourceHookArgs) -> None:
        sent = await resolved(args.new_inputs)
        live = await azure_reads.read(self.provider, azure_reads.CLUSTER, sent)
        live_pools, named = _by_name(live), _named(sent)
        # The program has one inline pool at most.
        if len(named) > 1:
            raise StaleError(
                "this update would send the pools that a refresh wrote to the state: add a tag to "
                "the cluster in the same update, which makes Pulumi send the pools of the program. "
                "If the program's cluster has not changed, `pulumi up --refresh` is enough"
            )
        for name, pool in named:
            if name not in live_pools:
                raise StaleError(
                    f"pool {name!r} does not exist in Azure: run `pulumi up --refresh`"
                )
            _require_count(name, pool, live_pools[name])


def _pool(cluster: Values, inputs: Values, *, rotates: bool) -> Values:
    """Returns the live pool of a program's pool; empty if there is none."""
    pools = _by_name(cluster)
    found = pools.get(inputs.get("agentPoolName", ""), {})
    if found or not rotates or not inputs:
        return found
    pool_name = inputs["nodeLabels"][rotation.LABEL]
    return next(
        (
            pool
            for name, pool in pools.items()
            if rotation.is_name_of(name, pool_name, pool.get("nodeLabels"))
        ),
        {},
    )


def _named(properties: Values) -> list[tuple[str, Values]]:
    return [(pool["name"], pool) for pool in properties.get(POOLS) or ()]


def _by_name(cluster: Values | None) -> dict[str, Values]:
    return dict(_named(cluster or {}))


def _after(live_value: Awaitable[Any], program_value: Any) -> Any:
    """Returns the live value, or the program's if there is none."""
    return pulumi.Output.all(pulumi.Output.from_input(live_value), program_value).apply(
        lambda both: both[1] if both[0] is None else both[0]
    )


def _with(opts: pulumi.ResourceOptions, ignored: list[str], check: Any) -> pulumi.ResourceOptions:
    hooks = pulumi.ResourceHookBinding(before_update=[guard(check)])
    changed = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=hooks))
    changed.ignore_changes = ignored
    return changed


def _count(inputs: Values, live: Values) -> Any:
    """Returns the live count, within the new limits if autoscaling is being turned on."""
    if inputs.get("enableAutoScaling") and live.get("enableAutoScaling"):
        return live["count"]
    return _within_limits(inputs, live)


def _within_limits(inputs: Values, live: Values) -> Any:
    """Returns the live count, brought within the limits."""
    if not inputs.get("enableAutoScaling"):
        return inputs["count"]
    return min(max(live["count"], inputs["minCount"]), inputs["maxCount"])


def is_replaced(live: Values, inputs: Values, replacing: Collection[str]) -> bool:
    """Whether the inputs replace the live resource; then pools start with the program's counts."""
    return any(not is_same(path, at(live, path), at(inputs, path)) for path in replacing)


def _require_count(name: str, sent: Values, live: Values) -> None:
    if reason := lost_nodes(name, sent, live):
        raise StaleError(reason)
    if not live.get("enableAutoScaling") or sent["count"] == live["count"]:
        return
    raise StaleError(
        f"AKS has scaled pool {name!r} to {int(live['count'])} nodes, and this update would change "
        f"that to {int(sent['count'])}: run `pulumi up --refresh`. If it fails with another "
        "number, AKS is still scaling: run it again. If it fails with the same number, add a tag "
        "to the resource in the same update, which makes Pulumi send the live number"
    )


def has(actual: Values, inputs: Values, but: Collection[str] = ()) -> bool:
    """Whether Azure has all inputs. The count of an autoscaled pool can differ.

    Azure can have additional tags: whether another tool set a tag or the program has just removed
    it is not known.
    """
    is_scaled = inputs.get("enableAutoScaling") and actual.get("enableAutoScaling")
    excluded = {*_NOT_COMPARED, *but, *(["count"] if is_scaled else ())}
    return all(
        (_has_tags if name == "tags" else partial(is_same, name))(actual.get(name), value)
        for name, value in inputs.items()
        if name not in excluded
    )


def _has_tags(actual: Values | None, expected: Values | None) -> bool:
    return all((actual or {}).get(key) == value for key, value in (expected or {}).items())


def is_same(name: str, actual: Any, expected: Any) -> bool:
    """Whether Azure has a value, in any of the forms that stand for the same."""
    default = _DEFAULTS.get(name)
    actual = default if actual is None else actual
    expected = default if expected is None else expected
    match actual, expected:
        case Mapping(), Mapping() if name in _MAPS:
            actual, expected = _without_aks_labels(actual), _without_aks_labels(expected)
        case Mapping() | None, Mapping() if name not in _MAPS:
            actual = actual or {}
            return all(is_same(key, actual.get(key), value) for key, value in expected.items())
        case list(), list():
            actual, expected = sorted(map(str, actual)), sorted(map(str, expected))
        case str(), str() if name == "location":
            # "East US" is eastus.
            actual, expected = (text.replace(" ", "").casefold() for text in (actual, expected))
        case str(), str() if name in ("kubernetesVersion", "orchestratorVersion"):
            # A minor version stands for any of its patch releases.
            return f"{actual}.".startswith(f"{expected}.")
        case str(), str():
            actual, expected = actual.casefold(), expected.casefold()
    return bool(actual == expected) or not (actual or expected)


def _without_aks_labels(labels: Values) -> dict[str, Any]:
    return {key: labels[key] for key in labels if not key.startswith(_LABELS_OF_AKS)}
