"""Reads clusters and pools from Azure, through the provider of their component.

Pulumi's SDK has `invoke` for that, which works in the threads of the event loop. Each registration
holds one of them until its hooks have ended (pulumi/pulumi#20484 tells how), so a hook that waits
for `invoke` waits for ever once there are as many pools as threads. This file makes the request in
threads of its own. It is the one place that reaches into the SDK.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any
from weakref import WeakKeyDictionary

import grpc
import pulumi
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc, settings
from pulumi.runtime.proto import resource_pb2

from components.hooks import registered, resolved

Values = Mapping[str, Any]
Provider = pulumi.ProviderResource | None

CLUSTER = "azure-native:containerservice:getManagedCluster"
POOL = "azure-native:containerservice:getAgentPool"
# The key of a stack's configuration that says whether counts are read, and its value for "no".
_SETTING, _IGNORE = "aks-gpu:liveCounts", "ignore"
_NAMES = ("resourceGroupName", "resourceName", "agentPoolName")
# Part of azure-native's error for a resource that does not exist.
_NOT_FOUND = "Status=404"
_THREADS = ThreadPoolExecutor(thread_name_prefix="azure-reads")
_Clusters = dict[tuple[Any, ...], "asyncio.Task[dict[str, Any] | None]"]
_CLUSTERS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Clusters] = WeakKeyDictionary()


class SdkError(pulumi.RunError):
    """Pulumi's SDK has changed where this module reaches into it."""


class UnreadError(Exception):
    """Azure gave no answer, or says that there is no such resource."""


def are_read() -> bool:
    return bool(pulumi.runtime.get_config(_SETTING) != _IGNORE)


async def find(provider: Provider, function: str, names: Values) -> dict[str, Any] | None:
    """Returns the live resource; empty if it does not exist, None if Azure cannot be reached."""
    if not names:
        return {}
    try:
        live = await read(provider, function, names)
    except UnreadError as error:
        return {} if _NOT_FOUND in str(error) else None
    except SdkError:
        raise
    except Exception:
        # From the mocks of somebody's tests.
        return None
    # An answer without these is none of Azure's.
    return live if "count" in live or "agentPoolProfiles" in live else None


async def find_cluster(provider: Provider, names: Values) -> dict[str, Any] | None:
    """Returns the cluster as `find` does, with one request for all pools of a program."""
    clusters = _CLUSTERS.setdefault(asyncio.get_running_loop(), {})
    key = (provider, *(names.get(name) for name in _NAMES[:2]))
    if key not in clusters:
        of_cluster = {name: names[name] for name in _NAMES[:2] if name in names}
        clusters[key] = asyncio.ensure_future(find(provider, CLUSTER, of_cluster))
    return await clusters[key]


async def read(provider: Provider, function: str, names: Values) -> dict[str, Any]:
    """Returns the live resource. Raises UnreadError with a remedy."""
    reference = ""
    if provider is not None:
        identity = await provider.id.future()
        reference = f"{await provider.urn.future()}::{identity or rpc.UNKNOWN}"
    arguments = Struct()
    arguments.update({name: names[name] for name in _NAMES if name in names})
    try:
        async with _inside_the_sdk():
            request = resource_pb2.ResourceInvokeRequest(
                tok=function,
                args=arguments,
                provider=reference,
                version=version("pulumi-azure-native"),
            )
            # The monitor exists: it has called this hook.
            invoke: Any = getattr(settings.get_monitor(), "Invoke")  # noqa: B009
            response = await asyncio.get_running_loop().run_in_executor(_THREADS, invoke, request)
            live: dict[str, Any] = rpc.deserialize_properties(getattr(response, "return"))
    except grpc.RpcError as error:
        raise UnreadError(
            f"cannot read the live number of nodes from Azure: run `pulumi up --refresh` "
            f"({error.details()})"
        ) from None
    return live


async def inputs_of(args: Values) -> dict[str, Any]:
    """Returns the arguments of a resource; empty if any is unknown."""
    async with _inside_the_sdk():
        serialized = await rpc.serialize_properties(args, {})
        if rpc.struct_contains_unknowns(serialized):
            return {}
        values = rpc.deserialize_properties(serialized)
    return await resolved(values)


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
