"""Keeps the live node counts of autoscaled pools in the updates that azure-native sends.

The cluster autoscaler changes the node count of a pool, and a PUT with another count changes it
back. The count in Pulumi's state is out of date. So this module reads the live pools from Azure
when a resource is registered, and again, in a hook, right before the PUT.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
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

from catalogue import kept, rotation
from catalogue.nodes import lost_nodes
from catalogue.secrecy import MARKED, SIGNATURE
from catalogue.shapes import at
from components.hooks import guard, registered

Values = Mapping[str, Any]

POOLS = "agentPoolProfiles"
FIRST_COUNT = f"{POOLS}[0].count"
_GET_CLUSTER = "azure-native:containerservice:getManagedCluster"
_GET_POOL = "azure-native:containerservice:getAgentPool"
_NAMES = ("resourceGroupName", "resourceName", "agentPoolName")
_LABELS_OF_AKS = "kubernetes.azure.com/"
_UNSCALED: Values = MappingProxyType({"enableAutoScaling": False})
# The default of a fixed property, which AKS does not always return.
_FIXED_DEFAULTS: Values = MappingProxyType({"scaleSetPriority": "Regular"})
_MAPS = ("nodeLabels", "tags")
_CAPITAL = re.compile("([A-Z])")
# Part of azure-native's error for a resource that does not exist.
_NOT_FOUND = "Status=404"
# Threads of our own: each registration holds a thread of the SDK's pool until it ends, so with many
# node pools none would be left for these calls.
_THREADS = ThreadPoolExecutor(thread_name_prefix="live-pools")


# The key of a stack's configuration that says whether counts are read, and its value for "no".
_SETTING, _IGNORE = "aks-gpu:liveCounts", "ignore"


class SdkError(pulumi.RunError):
    """Pulumi's SDK has changed where this module reaches into it."""


class StaleError(Exception):
    """An update would send outdated values."""


class _ClearedArgs:
    """Sets arguments that the program leaves out to empty values, because AKS keeps what a request
    leaves out.

    States of earlier versions do not have these empty values. They stay so while Azure has no
    values either.
    """

    def __init__(self, args: Any, empty: Values) -> None:
        self.program_args = copy(args)
        self._empty = empty
        for name, empty_value in empty.items():
            attribute = _CAPITAL.sub(r"_\1", name).lower()
            setattr(args, attribute, _or_empty(vars(args).get(attribute), empty_value))

    def cleared(self, inputs: Values) -> dict[str, Any]:
        """Returns the empty values to send, by wire name."""
        return {name: value for name, value in self._empty.items() if not inputs.get(name)}

    def unset_everywhere(self, inputs: Values, live: Values) -> list[str]:
        """Returns the properties that neither the program nor Azure has, to leave them alone."""
        refused = [path.split(".")[0] for path in kept.REFUSED_CLUSTER if at(live, path)]
        return [
            name
            for name, empty_value in self.cleared(inputs).items()
            if name not in refused and _is_same(name, live.get(name), empty_value)
        ]

    def require_cleared(self, inputs: Values, sent: Values) -> None:
        """Refuses to send a value that only the state has."""
        for name, empty_value in self.cleared(inputs).items():
            if not _is_same(name, sent.get(name), empty_value):
                raise StaleError(
                    f"this update would send the old {name} from the state, which neither Azure "
                    "nor the program has any more: run `pulumi up --refresh`"
                )


class LivePool:
    """Keeps the live node count of a separate node pool."""

    def __init__(
        self,
        owner: pulumi.Resource,
        args: "aks.AgentPoolArgs",
        clearable: Collection[str],
        *,
        rotates: bool = False,
    ) -> None:
        """`clearable` are the component's properties that an empty value clears in AKS.

        A pool that rotates can still have an earlier name in Azure.
        """
        self._owner, self._args, self._rotates = owner, args, rotates
        empty = {name: kept.EMPTY_POOL[name] for name in clearable}
        self._cleared_args = _ClearedArgs(args, empty)

    def options(self, opts: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
        """Returns the options of the pool's resource, and makes its count wait for the live one."""
        if not are_read():
            return opts
        ignored = [*(opts.ignore_changes or ())]
        self._replacing = opts.replace_on_changes or ()
        self._args.count = _after(self._live_count(ignored), self._args.count)
        hooks = pulumi.ResourceHookBinding(before_update=[guard(self._require_live_count)])
        return _with(opts, ignored, hooks)

    async def _live_count(self, ignored: list[str]) -> Any:
        """Returns the live count if the pool has changes; otherwise ignores the count."""
        inputs = await _resolved_args(self._cleared_args.program_args)
        cleared = self._cleared_args.cleared(inputs)
        live = await self._find_live(inputs)
        if live is None:
            _ignore_in_previews(ignored, inputs, [*cleared, *defaults(inputs, {})])
            return None
        is_new = not live or is_replaced(live, inputs, self._replacing)
        if not is_new:
            ignored += self._cleared_args.unset_everywhere(inputs, live)
            ignored += defaults(inputs, live)
            live = _with_defaults(live)
        # In the reply, `type` is the ARM resource type.
        is_unchanged = not is_new and has(live, {**cleared, **inputs}, but={*_NAMES, "type"})
        if is_unchanged or "count" not in ignored:
            return None
        ignored.remove("count")
        if is_new:
            return _within_limits(inputs, live) if live and self._rotates else None
        return _count(inputs, live)

    async def _find_live(self, inputs: Values) -> dict[str, Any] | None:
        """Returns the live pool, under its present name in Azure; see `_find`."""
        live = await _find(self._owner, _GET_POOL, inputs)
        if live != {} or not self._rotates:
            return live
        cluster = await _find(self._owner, _GET_CLUSTER, inputs)
        pool_name = inputs["nodeLabels"][rotation.LABEL]
        return next(
            (
                dict(pool)
                for name, pool in _by_name(cluster).items()
                if rotation.is_name_of(name, pool_name, pool.get("nodeLabels"))
            ),
            {},
        )

    async def _require_live_count(self, args: pulumi.ResourceHookArgs) -> None:
        sent = await resolved(args.new_inputs)
        inputs = await _resolved_args(self._cleared_args.program_args)
        self._cleared_args.require_cleared(inputs, sent)
        live = await _invoke(self._owner, _GET_POOL, sent)
        _require_count(sent["agentPoolName"], sent, live)


class LiveCluster:
    """Keeps only the program's first system pool, with its live count, in the cluster's PUT.

    After a refresh, azure-native adds separate node pools to the inputs of the cluster. AKS refuses
    a list in which some pools have a version and some do not.
    """

    def __init__(self, owner: pulumi.Resource, args: "aks.ManagedClusterArgs") -> None:
        self._owner, self._args = owner, args
        self._cleared_args = _ClearedArgs(args, kept.EMPTY_CLUSTER)

    def options(self, opts: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
        """Returns the options of the cluster's resource, and makes its pools wait for live ones."""
        if not are_read():
            return opts
        ignored = [*(opts.ignore_changes or ())]
        self._replacing = opts.replace_on_changes or ()
        profiles = self._args.agent_pool_profiles
        if profiles is not None:
            self._args.agent_pool_profiles = _after(self._live_pools(ignored), profiles)
        else:
            # Some input has to wait until the list of ignored properties is complete.
            self._args.location = _after(self._live_pools(ignored), self._args.location)
        hooks = pulumi.ResourceHookBinding(before_update=[guard(self._require_live_pools)])
        return _with(opts, ignored, hooks)

    async def _live_pools(self, ignored: list[str]) -> Any:
        """Ignores the pools if nothing has changed; otherwise returns them with live counts."""
        inputs = await _resolved_args(self._cleared_args.program_args)
        cleared = self._cleared_args.cleared(inputs)
        live = await _find(self._owner, _GET_CLUSTER, inputs)
        if live is None:
            _ignore_in_previews(ignored, inputs, cleared)
            return None
        if not live or is_replaced(live, inputs, self._replacing):
            _remove(ignored, FIRST_COUNT)
            return None
        ignored += self._cleared_args.unset_everywhere(inputs, live)
        inline_pools, live_pools = inputs.get(POOLS, []), _by_name(live)
        if any(pool["name"] not in live_pools for pool in inline_pools):
            return None
        all_inputs = {**cleared, **inputs}
        is_unchanged = has(live, all_inputs, but={*_NAMES, *ignored, POOLS}) and all(
            has(live_pools[pool["name"]], {**_UNSCALED, **pool}) for pool in inline_pools
        )
        if is_unchanged:
            if inline_pools and _is_same("tags", live.get("tags"), all_inputs["tags"]):
                _remove(ignored, FIRST_COUNT)
                ignored.append(POOLS)
            # Else Azure has more tags: of other tools, or one that the program has removed. An
            # update then sends the program's pool with the count in the state.
            return None
        _remove(ignored, FIRST_COUNT)
        return [_with_live_count(pool, live_pools[pool["name"]]) for pool in inline_pools] or None

    async def _require_live_pools(self, args: pulumi.ResourceHookArgs) -> None:
        sent = await resolved(args.new_inputs)
        live_pools = _by_name(await _invoke(self._owner, _GET_CLUSTER, sent))
        sent_pools = sent.get(POOLS, [])
        for pool in sent_pools:
            if pool["name"] not in live_pools:
                raise StaleError(
                    f"pool {pool['name']!r} does not exist in Azure: run `pulumi up --refresh`"
                )
            _require_count(pool["name"], pool, live_pools[pool["name"]])
        inputs = await _resolved_args(self._cleared_args.program_args)
        self._cleared_args.require_cleared(inputs, sent)
        expected = [pool["name"] for pool in inputs.get(POOLS, [])]
        if [pool["name"] for pool in sent_pools] != expected:
            raise StaleError(
                "this update would send the pools that a refresh wrote to the state: run `pulumi "
                "up --refresh`. If that fails too, add a tag to the cluster in the same update, "
                "which makes Pulumi send the pools of the program"
            )


def are_read() -> bool:
    return bool(pulumi.runtime.get_config(_SETTING) != _IGNORE)


@asynccontextmanager
async def _inside_the_sdk() -> AsyncIterator[None]:
    try:
        yield
    except (AttributeError, ImportError, TypeError) as error:
        await registered()
        raise SdkError(
            "aks-gpu cannot read the live number of nodes, since Pulumi's SDK has changed "
            f"({type(error).__name__}: {error}). To go on with the counts of the state, run "
            f"`pulumi config set {_SETTING} {_IGNORE}`"
        ) from error


def defaults(inputs: Values, live: Values) -> list[str]:
    """Returns the properties with AKS's own values in the program and in Azure.

    They are no change of a state that is without them.
    """
    live = _with_defaults(live)
    return [
        f"{name}.{member}"
        for name, members in kept.DEFAULT_POOL.items()
        for member, default in members.items()
        if at(inputs, f"{name}.{member}") == default == live[name][member]
    ]


def _with_defaults(live: Values) -> dict[str, Any]:
    return {
        **live,
        **{name: {**own, **(live.get(name) or {})} for name, own in kept.DEFAULT_POOL.items()},
    }


def _or_empty(value: Any, empty: Any) -> Any:
    if isinstance(value, pulumi.Output):
        return value.apply(lambda resolved_value: resolved_value or empty)
    return value or empty


def _ignore_in_previews(ignored: list[str], inputs: Values, cleared: Iterable[str]) -> None:
    """Hides cleared properties from a preview that cannot reach Azure.

    An update sends them, after it has read the live values.
    """
    if inputs and pulumi.runtime.is_dry_run():
        ignored += cleared


def _remove(ignored: list[str], path: str) -> None:
    ignored[:] = [other for other in ignored if other != path]


def _after(live_value: Awaitable[Any], program_value: Any) -> Any:
    """Returns the live value, or the program's if there is none."""
    return pulumi.Output.all(pulumi.Output.from_input(live_value), program_value).apply(
        lambda both: both[1] if both[0] is None else both[0]
    )


def _with(
    opts: pulumi.ResourceOptions, ignored: list[str], hooks: pulumi.ResourceHookBinding
) -> pulumi.ResourceOptions:
    """Returns the options with this same list object, which Pulumi reads once inputs are known."""
    changed = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=hooks))
    changed.ignore_changes = ignored
    return changed


def _with_live_count(pool: Values, live: Values) -> dict[str, Any]:
    """Returns an inline pool with its live count. Turns off autoscaling, which AKS would keep."""
    turned_off = _UNSCALED if live.get("enableAutoScaling") else {}
    return {**turned_off, **pool, "count": _count(pool, live)}


def _count(inputs: Values, live: Values) -> Any:
    """Returns the live count, within the new limits if autoscaling is being turned on."""
    if not inputs.get("enableAutoScaling"):
        return inputs["count"]
    if live.get("enableAutoScaling"):
        return live["count"]
    return _within_limits(inputs, live)


def _within_limits(inputs: Values, live: Values) -> Any:
    """Returns the live count, brought within the limits."""
    if not inputs.get("enableAutoScaling"):
        return inputs["count"]
    return min(max(live["count"], inputs["minCount"]), inputs["maxCount"])


def is_replaced(live: Values, inputs: Values, replacing: Collection[str]) -> bool:
    """Whether the inputs replace the live resource; then pools start with the program's counts."""
    live, inputs = {**_FIXED_DEFAULTS, **live}, {**_FIXED_DEFAULTS, **inputs}
    return any(not _is_same(path, at(live, path), at(inputs, path)) for path in replacing)


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


def has(actual: Values, inputs: Values, but: frozenset[str] | set[str] = frozenset()) -> bool:
    """Whether Azure has all inputs. The count of an autoscaled pool can differ.

    Azure can have additional tags: whether another tool set a tag or the program has just removed
    it is not known.
    """
    is_scaled = inputs.get("enableAutoScaling") and actual.get("enableAutoScaling")
    excluded = {*but, "count"} if is_scaled else but
    return all(
        (_has_tags if name == "tags" else partial(_is_same, name))(actual.get(name), value)
        for name, value in inputs.items()
        if name not in excluded
    )


def _has_tags(actual: Values | None, expected: Values | None) -> bool:
    return all((actual or {}).get(key) == value for key, value in (expected or {}).items())


def _is_same(name: str, actual: Any, expected: Any) -> bool:
    match actual, expected:
        case Mapping(), Mapping() if name in _MAPS:
            actual, expected = _without_aks_labels(actual), _without_aks_labels(expected)
        case Mapping() | None, Mapping() if name not in _MAPS:
            actual = actual or {}
            return all(_is_same(key, actual.get(key), value) for key, value in expected.items())
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


def _by_name(cluster: Values | None) -> dict[str, Values]:
    return {pool["name"]: pool for pool in (cluster or {}).get(POOLS, ())}


async def _resolved_args(args: Any) -> dict[str, Any]:
    """Returns the arguments of a resource by wire name; empty if any is unknown."""
    set_args = {name: value for name, value in vars(args).items() if value is not None}
    async with _inside_the_sdk():
        serialized = await rpc.serialize_properties(set_args, {}, typ=type(args))
        if rpc.struct_contains_unknowns(serialized):
            return {}
        values = rpc.deserialize_properties(serialized)
    return await resolved(values)


async def resolved(properties: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the values of outputs and secrets; empty if any is unknown."""
    values = {name: _in_clear(value) for name, value in (properties or {}).items()}
    return await pulumi.Output.from_input(values).future() or {}


def _in_clear(value: Any) -> Any:
    """Returns a value that the engine has marked as secret without the mark."""
    is_marked = isinstance(value, Mapping) and value.get(SIGNATURE) == MARKED
    return value["value"] if is_marked else value


async def find_pool(owner: pulumi.Resource, names: Values) -> dict[str, Any] | None:
    """Returns a live pool; empty if it does not exist, None if Azure cannot be reached."""
    return await _find(owner, _GET_POOL, names)


async def _find(owner: pulumi.Resource, function: str, names: Values) -> dict[str, Any] | None:
    """Returns the live resource; empty if it does not exist, None if Azure cannot be reached."""
    try:
        live = await _invoke(owner, function, names) if names else {}
    except StaleError as error:
        return {} if _NOT_FOUND in str(error) else None
    except SdkError:
        raise
    except Exception:
        return None
    return live if "count" in live or POOLS in live else None


async def _invoke(owner: pulumi.Resource, function: str, names: Values) -> dict[str, Any]:
    """Reads the live resource through the provider of its component."""
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
    try:
        async with _inside_the_sdk():
            # The monitor exists: it has called this hook.
            invoke: Any = getattr(settings.get_monitor(), "Invoke")  # noqa: B009
            response = await asyncio.get_running_loop().run_in_executor(_THREADS, invoke, request)
    except grpc.RpcError as error:
        raise StaleError(
            f"cannot read the live number of nodes from Azure: run `pulumi up --refresh` "
            f"({error.details()})"
        ) from None
    live: dict[str, Any] = rpc.deserialize_properties(getattr(response, "return"))
    return live
