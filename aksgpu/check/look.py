"""Looks at a cluster: asks its API server for all that the judgement needs."""

import asyncio
from collections.abc import Sequence

from aksgpu.check import cluster_view
from aksgpu.check.api import Api
from aksgpu.check.cluster_view import ClusterView, Pod
from kube.client import ApiError

_PLUGIN_LOG_LINES = "50"


async def look(api: Api, pools: Sequence[str]) -> ClusterView:
    # One after the other: whoever has no rights, or no cluster, is told of it once.
    nodes = cluster_view.nodes(await api.list("/api/v1/nodes"), pools)
    pods = cluster_view.pods(await api.list("/api/v1/pods"))
    sets = cluster_view.daemon_sets(await api.list("/apis/apps/v1/daemonsets"))
    view = ClusterView(nodes=nodes, pods=pods, daemon_sets=sets)
    silent = [
        pod
        for node in nodes
        if node.is_ready and not node.capacity
        for pod in view.plugins_on(node)
        # One that crashes has a log too.
        if not pod.unplaced
    ]
    logs = await asyncio.gather(*(_log(api, pod) for pod in silent))
    return ClusterView(
        nodes=nodes,
        pods=pods,
        daemon_sets=sets,
        plugin_logs=dict(zip(map(str, silent), logs, strict=True)),
    )


async def _log(api: Api, pod: Pod) -> str:
    """The end of a plugin's log; nothing where it cannot be had, which is no reason to stop."""
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/log"
    try:
        return await api.text(path, container=pod.plugin, tailLines=_PLUGIN_LOG_LINES)
    except ApiError:
        return ""
