"""What Azure has now of a cluster's pools, for what an update sends of them.

AKS moves the number of nodes of an autoscaled pool by itself, and a PUT with another number moves
it back. Pulumi's state is too old to know the number, so Azure is asked: when a resource is
registered, and by hooks, right before a PUT.
"""

import asyncio
import re
from collections.abc import Awaitable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import partial
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import grpc
import pulumi
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc, settings
from pulumi.runtime.proto import resource_pb2
from pulumi_azure_native import containerservice as aks

from catalogue import kept
from catalogue.nodes import lost_nodes
from catalogue.shapes import at
from components.hooks import guard

Values = Mapping[str, Any]

POOLS = "agentPoolProfiles"
FIRST_COUNT = f"{POOLS}[0].count"
_GET_CLUSTER = "azure-native:containerservice:getManagedCluster"
_GET_POOL = "azure-native:containerservice:getAgentPool"
_NAMES = ("resourceGroupName", "resourceName", "agentPoolName")
_LABELS_OF_AKS = "kubernetes.azure.com/"
_UNSCALED: Values = MappingProxyType({"enableAutoScaling": False})
# A pool that says nothing of this has it, whether AKS shows it or not.
_UNSAID_AND_FIXED: Values = MappingProxyType({"scaleSetPriority": "Regular"})
_MAPS = ("nodeLabels", "tags")
_CAPITAL = re.compile("([A-Z])")
# How azure-native tells of what is not there.
_NOT_FOUND = "Status=404"
# The SDK's own calls need threads of which each registration holds one until it has ended: with
# many pools at once, none would be left for what they wait for.
_THREADS = ThreadPoolExecutor(thread_name_prefix="live-pools")


class StaleError(Exception):
    """An update would send what Azure does not have any more."""


class _Emptied:
    """The arguments of a resource that say nothing as nothing, which AKS would keep left out.

    A state from before has nothing in their place, and is left so where Azure has nothing either.
    """

    def __init__(self, args: Any, empty: Values) -> None:
        self.said = copy(args)
        self._empty = empty
        for name, nothing in empty.items():
            attribute = _CAPITAL.sub(r"_\1", name).lower()
            setattr(args, attribute, _or_else(vars(args).get(attribute), nothing))

    def unsaid(self, wanted: Values) -> dict[str, Any]:
        """What is sent as nothing, by its names on the wire."""
        return {name: nothing for name, nothing in self._empty.items() if not wanted.get(name)}

    def left(self, wanted: Values, live: Values) -> list[str]:
        """The names of what neither the program nor Azure has: the state's word for it stays."""
        refused = [path.split(".")[0] for path in kept.REFUSED_CLUSTER if at(live, path)]
        return [
            name
            for name, nothing in self.unsaid(wanted).items()
            if name not in refused and _is_same(name, live.get(name), nothing)
        ]

    def require(self, wanted: Values, sent: Values) -> None:
        """Refuses what only the state has, and would come back with its word."""
        for name, nothing in self.unsaid(wanted).items():
            if not _is_same(name, sent.get(name), nothing):
                raise StaleError(
                    f"{name} of the state would go with this, and neither Azure nor the program "
                    "has it: run `pulumi up --refresh`"
                )


class LivePool:
    """Sees to it that a pool of its own keeps the number of nodes that AKS has given it."""

    def __init__(
        self, owner: pulumi.Resource, args: aks.AgentPoolArgs, offered: Collection[str]
    ) -> None:
        """`offered` is what the pool's owner can say of that which AKS would keep, left out."""
        self._owner, self._args = owner, args
        empty = {name: kept.EMPTY_POOL[name] for name in offered}
        self._emptied = _Emptied(args, empty)

    def options(self, opts: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
        """Returns the options of the pool's resource, whose count waits for what Azure says."""
        ignored = [*(opts.ignore_changes or ())]
        self._replacing = opts.replace_on_changes or ()
        self._args.count = _after(self._live_count(ignored), self._args.count)
        hooks = pulumi.ResourceHookBinding(before_update=[guard(self._require_live_count)])
        return _with(opts, ignored, hooks)

    async def _live_count(self, ignored: list[str]) -> Any:
        """Sends the live count where there is something to change, and ignores it where not."""
        wanted = await _known(self._emptied.said)
        unsaid = self._emptied.unsaid(wanted)
        live = await _look(self._owner, _GET_POOL, wanted)
        if live is None:
            _ignore_in_previews(ignored, wanted, unsaid)
            return None
        is_new = not live or is_replaced(live, wanted, self._replacing)
        if not is_new:
            ignored += self._emptied.left(wanted, live)
        # ARM's own type stands in the place of the pool's.
        is_as_wanted = not is_new and has(live, {**unsaid, **wanted}, but={*_NAMES, "type"})
        if is_as_wanted or "count" not in ignored:
            return None
        ignored.remove("count")
        return None if is_new else _count(wanted, live)

    async def _require_live_count(self, args: pulumi.ResourceHookArgs) -> None:
        inputs = await plain(args.new_inputs)
        self._emptied.require(await _known(self._emptied.said), inputs)
        live = await _ask(self._owner, _GET_POOL, inputs)
        _require_count(inputs["agentPoolName"], inputs, live)


class LiveCluster:
    """Sees to it that a cluster's PUT has the program's own pool in it, as it is, and no other.

    azure-native takes pools of their own for the cluster's after a refresh, and AKS refuses a list
    in which some pools name their version and some do not.
    """

    def __init__(self, owner: pulumi.Resource, args: aks.ManagedClusterArgs) -> None:
        self._owner, self._args = owner, args
        self._emptied = _Emptied(args, kept.EMPTY_CLUSTER)

    def options(self, opts: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
        """Returns the options of the cluster's resource, whose list waits for what Azure says."""
        ignored = [*(opts.ignore_changes or ())]
        self._replacing = opts.replace_on_changes or ()
        profiles = self._args.agent_pool_profiles
        if profiles is not None:
            self._args.agent_pool_profiles = _after(self._live_pools(ignored), profiles)
        else:
            # Something has to wait for what is ignored.
            self._args.location = _after(self._live_pools(ignored), self._args.location)
        hooks = pulumi.ResourceHookBinding(before_update=[guard(self._require_live_pools)])
        return _with(opts, ignored, hooks)

    async def _live_pools(self, ignored: list[str]) -> Any:
        """Ignores the list where there is nothing to change; else sends it with the live count."""
        wanted = await _known(self._emptied.said)
        unsaid = self._emptied.unsaid(wanted)
        live = await _look(self._owner, _GET_CLUSTER, wanted)
        if live is None:
            _ignore_in_previews(ignored, wanted, unsaid)
            return None
        if not live or is_replaced(live, wanted, self._replacing):
            _forget(ignored, FIRST_COUNT)
            return None
        ignored += self._emptied.left(wanted, live)
        own, pools = wanted.get(POOLS, []), _by_name(live)
        if any(pool["name"] not in pools for pool in own):
            return None
        all_wanted = {**unsaid, **wanted}
        is_as_wanted = has(live, all_wanted, but={*_NAMES, *ignored, POOLS})
        if is_as_wanted and all(has(pools[pool["name"]], {**_UNSCALED, **pool}) for pool in own):
            if own and _is_same("tags", live.get("tags"), all_wanted["tags"]):
                _forget(ignored, FIRST_COUNT)
                ignored.append(POOLS)
            # Else the tags of others, or one that was taken out: the program's pool goes, if
            # anything does, and what the state has is its count.
            return None
        _forget(ignored, FIRST_COUNT)
        return [_sent(pool, pools[pool["name"]]) for pool in own] or None

    async def _require_live_pools(self, args: pulumi.ResourceHookArgs) -> None:
        inputs = await plain(args.new_inputs)
        live = _by_name(await _ask(self._owner, _GET_CLUSTER, inputs))
        sent = inputs.get(POOLS, [])
        for pool in sent:
            if pool["name"] not in live:
                gone = f"pool {pool['name']!r} is not in Azure"
                raise StaleError(f"{gone}: run `pulumi up --refresh`")
            _require_count(pool["name"], pool, live[pool["name"]])
        wanted = await _known(self._emptied.said)
        self._emptied.require(wanted, inputs)
        if [pool["name"] for pool in sent] != [pool["name"] for pool in wanted.get(POOLS, [])]:
            raise StaleError(
                "the list of pools that a refresh has left in the state would go with this: run "
                "`pulumi up --refresh`; where that stops as well, add a tag to the cluster in the "
                "same update, which sends a new list"
            )


def _or_else(said: Any, nothing: Any) -> Any:
    return (
        said.apply(lambda it: it or nothing) if isinstance(said, pulumi.Output) else said or nothing
    )


def _ignore_in_previews(ignored: list[str], wanted: Values, unsaid: Values) -> None:
    """Has a preview that nobody answers show nothing where the program says nothing.

    An update sends it: what Azure has is asked once more before that.
    """
    if wanted and pulumi.runtime.is_dry_run():
        ignored += unsaid


def _forget(ignored: list[str], path: str) -> None:
    ignored[:] = [other for other in ignored if other != path]


def _after(decided: Awaitable[Any], said: Any) -> Any:
    """What is decided to be sent, or else what the program says."""
    return pulumi.Output.all(pulumi.Output.from_input(decided), said).apply(
        lambda both: both[1] if both[0] is None else both[0]
    )


def _with(
    opts: pulumi.ResourceOptions, ignored: list[str], hooks: pulumi.ResourceHookBinding
) -> pulumi.ResourceOptions:
    """The options with this very list: it is read once the inputs are known."""
    changed = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=hooks))
    changed.ignore_changes = ignored
    return changed


def _sent(pool: Values, live: Values) -> dict[str, Any]:
    """The cluster's own pool in its list, with the live count; left out, AKS would scale it on."""
    turned_off = _UNSCALED if live.get("enableAutoScaling") else {}
    return {**turned_off, **pool, "count": _count(pool, live)}


def _count(wanted: Values, live: Values) -> Any:
    """The live count; of a pool that AKS does not scale yet, within the limits it is to have."""
    if not wanted.get("enableAutoScaling"):
        return wanted["count"]
    if live.get("enableAutoScaling"):
        return live["count"]
    return min(max(live["count"], wanted["minCount"]), wanted["maxCount"])


def is_replaced(live: Values, wanted: Values, replacing: Collection[str]) -> bool:
    """Whether a new resource takes the place of this one: its pools begin at their own counts."""
    live, wanted = {**_UNSAID_AND_FIXED, **live}, {**_UNSAID_AND_FIXED, **wanted}
    return any(not _is_same(path, at(live, path), at(wanted, path)) for path in replacing)


def _require_count(name: str, sent: Values, live: Values) -> None:
    if reason := lost_nodes(name, sent, live):
        raise StaleError(reason)
    if not live.get("enableAutoScaling") or sent["count"] == live["count"]:
        return
    raise StaleError(
        f"AKS has scaled pool {name!r} to {int(live['count'])} nodes, and this would make them "
        f"{int(sent['count'])}: run `pulumi up --refresh`. Where that stops with another number, "
        "AKS is at it: run it again. Where it stops with the same, add a tag to the resource in "
        "the same update, which goes with the number that Azure has then"
    )


def has(actual: Values, wanted: Values, but: frozenset[str] | set[str] = frozenset()) -> bool:
    """Whether Azure has all that is wanted, but for the count of a pool if AKS scales it.

    Of tags it may have more: nobody can tell those of others from one that was just taken out.
    """
    is_scaled = wanted.get("enableAutoScaling") and actual.get("enableAutoScaling")
    apart = {*but, "count"} if is_scaled else but
    return all(
        (_has_tags if name == "tags" else partial(_is_same, name))(actual.get(name), value)
        for name, value in wanted.items()
        if name not in apart
    )


def _has_tags(actual: Values | None, wanted: Values | None) -> bool:
    """Whether the tags are there; those that Azure Policy adds, or people, are nobody's change."""
    return all((actual or {}).get(key) == value for key, value in (wanted or {}).items())


def _is_same(name: str, actual: Any, wanted: Any) -> bool:
    match actual, wanted:
        case Mapping(), Mapping() if name in _MAPS:
            actual, wanted = _of_users(actual), _of_users(wanted)
        case Mapping() | None, Mapping() if name not in _MAPS:
            actual = actual or {}
            return all(_is_same(key, actual.get(key), value) for key, value in wanted.items())
        case list(), list():
            actual, wanted = sorted(map(str, actual)), sorted(map(str, wanted))
        case str(), str() if name == "location":
            # "East US" is eastus.
            actual, wanted = (text.replace(" ", "").casefold() for text in (actual, wanted))
        case str(), str() if name in ("kubernetesVersion", "orchestratorVersion"):
            # One without its patch is that of any patch.
            return f"{actual}.".startswith(f"{wanted}.")
        case str(), str():
            actual, wanted = actual.casefold(), wanted.casefold()
    return bool(actual == wanted) or not (actual or wanted)


def _of_users(labels: Values) -> dict[str, Any]:
    return {key: labels[key] for key in labels if not key.startswith(_LABELS_OF_AKS)}


def _by_name(cluster: Values | None) -> dict[str, Values]:
    return {pool["name"]: pool for pool in (cluster or {}).get(POOLS, ())}


async def _known(args: Any) -> dict[str, Any]:
    """The arguments of a resource by their names on the wire; nothing while some are to come."""
    given = {name: value for name, value in vars(args).items() if value is not None}
    sent = await rpc.serialize_properties(given, {}, typ=type(args))
    return (
        {} if rpc.struct_contains_unknowns(sent) else await plain(rpc.deserialize_properties(sent))
    )


async def plain(properties: Mapping[str, Any] | None) -> dict[str, Any]:
    """The properties without outputs and secrets; nothing while some are to come."""
    shown = {name: rpc.unwrap_rpc_secret(value) for name, value in (properties or {}).items()}
    return await pulumi.Output.from_input(shown).future() or {}


async def _look(owner: pulumi.Resource, function: str, names: Values) -> dict[str, Any] | None:
    """What Azure has; empty where it has nothing, None where nobody answers (some previews)."""
    try:
        found = await _ask(owner, function, names) if names else {}
    except StaleError as error:
        return {} if _NOT_FOUND in str(error) else None
    except Exception:
        return None
    return found if "count" in found or POOLS in found else None


async def _ask(owner: pulumi.Resource, function: str, names: Values) -> dict[str, Any]:
    """What Azure has, through the provider of the resource."""
    provider, reference = owner.get_provider(function), ""
    if provider is not None:
        identity = await provider.id.future()
        reference = f"{await provider.urn.future()}::{identity or rpc.UNKNOWN}"
    arguments = Struct()
    arguments.update({name: names[name] for name in _NAMES if name in names})
    request = resource_pb2.ResourceInvokeRequest(
        tok=function,
        args=arguments,
        provider=reference,
        version=version("pulumi-azure-native"),
    )
    # There is a monitor, for it has asked for this.
    invoke: Any = getattr(settings.get_monitor(), "Invoke")  # noqa: B009
    try:
        answer = await asyncio.get_running_loop().run_in_executor(_THREADS, invoke, request)
    except grpc.RpcError as error:
        raise StaleError(
            f"Azure does not say how many nodes there are now: run `pulumi up --refresh` "
            f"({error.details()})"
        ) from None
    found: dict[str, Any] = rpc.deserialize_properties(getattr(answer, "return"))
    return found
