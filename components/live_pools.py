"""Keeps the live node counts of autoscaled pools in the updates that azure-native sends.

The cluster autoscaler changes the node count of a pool, and a PUT with another count changes it
back. The count in Pulumi's state is out of date. So the cluster is read from Azure once when its
resources are registered, and again, in a hook, right before a PUT.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import pulumi

from aks_catalogue import rotation
from aks_catalogue.nodes import lost_nodes
from aks_catalogue.shapes import at
from components.azure_reads import CLUSTER, Provider, Values, find_cluster, read_cluster
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


@dataclass(frozen=True)
class _Choice:
    """What a resource ignores of its inputs, and what takes the place of one that waited."""

    ignored: Collection[str]
    live: Any = None


# Chooses by the live cluster, None if Azure cannot be reached; by the program's inputs, empty if
# one is unknown; by what is ignored so far; and by what replaces the resource.
_Choose = Callable[[Values | None, Values, Collection[str], Collection[str]], _Choice]


def keep_live_count(
    owner: pulumi.Resource, args: dict[str, Any], opts: pulumi.ResourceOptions
) -> pulumi.ResourceOptions:
    """Returns the options of a pool, whose count waits for the live one if AKS scales it."""
    is_scaled = "count" in (opts.ignore_changes or ())
    return _keep(owner, args, opts, "count" if is_scaled else None, _of_pool)


def keep_live_pools(
    owner: pulumi.Resource, args: dict[str, Any], opts: pulumi.ResourceOptions
) -> pulumi.ResourceOptions:
    """Returns the options of a cluster, in whose PUT is only the program's first system pool.

    It has its live count. After a refresh, azure-native adds separate node pools to the inputs of
    the cluster. AKS refuses a list in which some pools have a version and some do not.
    """
    return _keep(owner, args, opts, POOLS if POOLS in args else "location", _of_cluster)


def _keep(
    owner: pulumi.Resource,
    args: dict[str, Any],
    opts: pulumi.ResourceOptions,
    waiting: str | None,
    choose: _Choose,
) -> pulumi.ResourceOptions:
    """Makes an input wait for the choice, and adds the hook."""
    provider = owner.get_provider(CLUSTER)
    program, ignored = dict(args), [*(opts.ignore_changes or ())]

    async def live_value() -> Any:
        inputs = await resolved(program)
        cluster = await find_cluster(provider, inputs)
        choice = choose(cluster, inputs, tuple(ignored), opts.replace_on_changes or ())
        # Pulumi reads this same list once all inputs are known.
        ignored[:] = choice.ignored
        return choice.live

    if waiting:
        both = pulumi.Output.all(pulumi.Output.from_input(live_value()), args[waiting])
        args[waiting] = both.apply(lambda values: values[1] if values[0] is None else values[0])
    hooks = pulumi.ResourceHookBinding(before_update=[guard(_Unmoved(provider).require)])
    changed = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=hooks))
    changed.ignore_changes = ignored
    return changed


def _of_pool(
    cluster: Values | None, inputs: Values, ignored: Collection[str], replacing: Collection[str]
) -> _Choice:
    """Ignores the count of a pool without changes; another one is sent with its live count."""
    if cluster is None:
        return _Choice(ignored)
    sent = [path for path in ignored if path != "count"]
    live = _pool(cluster, inputs)
    if live is None:
        return _Choice(sent)
    if is_replaced(live, inputs, replacing):
        rotates = live["name"] != inputs["agentPoolName"]
        return _Choice(sent, _within_limits(inputs, live) if rotates else None)
    return _Choice(ignored) if has(live, inputs) else _Choice(sent, _count(inputs, live))


def _pool(cluster: Values, inputs: Values) -> Values | None:
    """Returns the live pool of a program's pool; of one that rotates, under any of its names."""
    pools = _by_name(cluster)
    if (name := inputs.get("agentPoolName", "")) in pools:
        return pools[name]
    own = (inputs.get("nodeLabels") or {}).get(rotation.LABEL, "")
    is_own = partial(rotation.is_name_of, pool_name=own)
    return next((p for name, p in pools.items() if is_own(name, labels=p.get("nodeLabels"))), None)


def _of_cluster(
    cluster: Values | None, inputs: Values, ignored: Collection[str], replacing: Collection[str]
) -> _Choice:
    """Ignores the pools of a cluster without changes; others are sent with live counts."""
    sent = [path for path in ignored if path != FIRST_COUNT]
    own, live_pools = inputs.get(POOLS) or [], _by_name(cluster or {})
    if cluster is None:
        # A refresh may have put separate pools into the list of the state.
        return _Choice([*sent, POOLS] if pulumi.runtime.is_dry_run() else ignored)
    if not cluster or is_replaced(cluster, inputs, replacing):
        return _Choice(sent)
    if any(pool["name"] not in live_pools for pool in own):
        return _Choice(ignored)
    if has(cluster, inputs, but={*ignored, POOLS}) and all(
        has(live_pools[pool["name"]], pool) for pool in own
    ):
        # Azure may have more tags: of other tools, or one that the program has removed. An update
        # then sends the program's pool with the count in the state.
        has_all = own and is_same("tags", cluster.get("tags"), inputs.get("tags"))
        return _Choice([*sent, POOLS] if has_all else ignored)
    live = [{**pool, "count": _count(pool, live_pools[pool["name"]])} for pool in own]
    return _Choice(sent, live or None)


@dataclass(frozen=True)
class _Unmoved:
    """Refuses to change the number of nodes of a pool that AKS scales, or has scaled.

    It also refuses other pools than the program's in a cluster's PUT. Of another pool that is gone,
    it says that the update makes it anew.
    """

    provider: Provider

    async def require(self, args: pulumi.ResourceHookArgs) -> None:
        sent, old = await resolved(args.new_inputs), await resolved(args.old_inputs)
        live = _by_name(await read_cluster(self.provider, sent))
        if name := sent.get("agentPoolName"):
            is_scaled = sent.get("enableAutoScaling") or old.get("enableAutoScaling")
            if name not in live and not is_scaled:
                pulumi.log.warn(f"pool {name!r} does not exist in Azure: this update makes it anew")
            pools: dict[str, Values] = {name: sent} if is_scaled else {}
        else:
            pools = _by_name(sent)
        # The program has one inline pool at most.
        if len(pools) > 1:
            raise StaleError(
                "this update would send the pools that a refresh wrote to the state: add a tag to "
                "the cluster in the same update, which makes Pulumi send the pools of the program. "
                "If the program's cluster has not changed, `pulumi up --refresh` is enough"
            )
        for name, pool in pools.items():
            if name not in live:
                raise StaleError(
                    f"pool {name!r} does not exist in Azure: run `pulumi up --refresh`"
                )
            _require_count(name, pool, live[name])


def _by_name(cluster: Values) -> dict[str, Values]:
    return {pool["name"]: pool for pool in cluster.get(POOLS) or ()}


def _count(inputs: Values, live: Values) -> Any:
    """Returns the live count, within the new limits if autoscaling is being turned on."""
    if not inputs.get("enableAutoScaling"):
        return inputs["count"]
    return live["count"] if live.get("enableAutoScaling") else _within_limits(inputs, live)


def _within_limits(inputs: Values, live: Values) -> Any:
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
        if name not in excluded and value is not None
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
        case list() | tuple(), list() | tuple():
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
