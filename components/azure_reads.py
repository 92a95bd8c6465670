"""Reads clusters from Azure, through the provider of their component.

Pulumi's SDK has `invoke` for that, which works in the threads of the event loop. Each registration
holds one of them until its hooks have ended (pulumi/pulumi#20484 tells how), so a hook that waits
for `invoke` waits for ever once there are as many pools as threads. This file makes the request in
threads of its own. It is the one place that reaches into the SDK.
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any
from weakref import WeakKeyDictionary

import grpc
import pulumi
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc, settings
from pulumi.runtime.proto import resource_pb2

from components.hooks import registered

Values = Mapping[str, Any]
Provider = pulumi.ProviderResource | None

CLUSTER = "azure-native:containerservice:getManagedCluster"
_NAMES = ("resourceGroupName", "resourceName")
# Part of azure-native's error for a resource that does not exist.
_NOT_FOUND = "Status=404"
_THREADS = ThreadPoolExecutor(thread_name_prefix="azure-reads")
_Clusters = dict[tuple[Any, ...], "asyncio.Task[dict[str, Any] | None]"]
_CLUSTERS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Clusters] = WeakKeyDictionary()


class SdkError(pulumi.RunError):
    """Pulumi's SDK has changed where this module reaches into it."""


class UnreadError(Exception):
    """Azure gave no answer, or says that there is no such cluster."""


async def find_cluster(provider: Provider, names: Values) -> dict[str, Any] | None:
    """Returns the live cluster, with one request for all that a program registers of it.

    It is empty if it does not exist or the names are unknown, and None if Azure cannot be reached.
    """
    clusters = _CLUSTERS.setdefault(asyncio.get_running_loop(), {})
    key = (provider, *(names.get(name) for name in _NAMES))
    if key not in clusters:
        clusters[key] = asyncio.ensure_future(_find(provider, names))
    return await clusters[key]


async def _find(provider: Provider, names: Values) -> dict[str, Any] | None:
    if not names:
        return {}
    try:
        live = await read_cluster(provider, names)
    except UnreadError as error:
        return {} if _NOT_FOUND in str(error) else None
    except SdkError:
        raise
    except Exception:
        # From the mocks of somebody's tests.
        return None
    # An answer without pools is none of Azure's.
    return live if "agentPoolProfiles" in live else None


async def read_cluster(provider: Provider, names: Values) -> dict[str, Any]:
    """Returns the live cluster. Raises UnreadError with a remedy."""
    try:
        reference = ""
        if provider is not None:
            identity = await provider.id.future()
            reference = f"{await provider.urn.future()}::{identity or rpc.UNKNOWN}"
        arguments = Struct()
        arguments.update({name: names[name] for name in _NAMES})
        request = resource_pb2.ResourceInvokeRequest(
            tok=CLUSTER,
            args=arguments,
            provider=reference,
            version=version("pulumi-azure-native"),
        )
        # The monitor exists: the program is registering resources.
        invoke: Any = getattr(settings.get_monitor(), "Invoke")  # noqa: B009
        response = await asyncio.get_running_loop().run_in_executor(_THREADS, invoke, request)
        live: dict[str, Any] = rpc.deserialize_properties(getattr(response, "return"))
    except grpc.RpcError as error:
        raise UnreadError(
            "cannot read the live number of nodes from Azure: run `pulumi up --refresh` "
            f"({error.details()})"
        ) from None
    except (AttributeError, ImportError, TypeError) as error:
        await registered()
        raise SdkError(
            "aks-gpu cannot read the live number of nodes, since Pulumi's SDK has changed: install "
            f"the version that requirements.txt names ({type(error).__name__}: {error})"
        ) from error
    return live
