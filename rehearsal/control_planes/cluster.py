"""One cluster that runs: its control plane, and the loop that keeps its nodes as they shall be."""

import asyncio
import contextlib
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from catalogue.device_plugin import CONFLICT_CONDITION, is_plugin
from kube.client import (
    CONFLICT,
    NO_ANSWER,
    NOT_FOUND,
    STRATEGIC,
    TOO_MANY_REQUESTS,
    UNAUTHORIZED,
    ApiError,
    Client,
)
from kube.mirror import Mirror
from rehearsal.control_planes import (
    autoscaler,
    config_maps,
    gpus,
    kubelet,
    nodes,
    pool_plan,
    sample_job,
)
from rehearsal.control_planes.autoscaler import Autoscaler
from rehearsal.control_planes.config_maps import ConfigMaps
from rehearsal.control_planes.containers import Clock, Life, Log, Run, now
from rehearsal.control_planes.control_plane import ControlPlane
from rehearsal.control_planes.desired_state import (
    Era,
    Refusal,
    Source,
    WantedCluster,
    WantedPool,
)
from rehearsal.control_planes.device_plugin import Plugins
from rehearsal.control_planes.kubelet import Kubelet
from rehearsal.control_planes.kwok_stages import SAMPLE
from rehearsal.files import log_line

Json = dict[str, Any]

# How long the loop sleeps when nothing happens: some of what it does is a matter of time.
PAUSE_SECONDS, SHORTEST_PAUSE = 0.5, 0.05
# How long to wait before what was refused is tried again: twice as long each time.
SETBACK_SECONDS, LONGEST_SETBACK = 1.0, 60.0
# How long nothing is said of what fails again in the same way.
QUIET_SECONDS = 60.0
# Not even a fast rehearsal gives up sooner.
SHORTEST_STANDSTILL = 45.0
SERVERS_FAULT = 500
LIST_PODS = "/api/v1/pods"
LIST_NODES = "/api/v1/nodes"
LIST_CONFIG_MAPS = "/api/v1/configmaps"


@dataclass(frozen=True)
class _Setback:
    """A pool that could not be kept as it was wanted, and when that is tried again."""

    wish: WantedPool
    # The last that asked for it; a new one is tried at once.
    operation: str | None
    pause: float
    again: float

    def is_of(self, pool: WantedPool) -> bool:
        is_asked_anew = pool.operation not in (None, self.operation)
        return not is_asked_anew and replace(self.wish, operation=pool.operation) == pool


def _passes(error: Exception) -> bool:
    """Whether what went wrong is not because of what is wanted."""
    if not isinstance(error, ApiError):
        return False
    passing = (UNAUTHORIZED, NOT_FOUND, CONFLICT)
    return error.is_temporary or error.status in passing or error.status >= SERVERS_FAULT


class Cluster:
    """A control plane that is ready, and what is done on it."""

    def __init__(
        self, plane: ControlPlane, api: Client, source: Source, era: Era, time_scale: float
    ) -> None:
        self.plane = plane
        self._api = api
        self._source = source
        self._era = era
        self._time_scale = time_scale
        self._pause = max(SHORTEST_PAUSE, min(1.0, time_scale) * PAUSE_SECONDS)
        self.changed = asyncio.Event()
        self.nodes = Mirror(api, LIST_NODES, self.changed)
        self._pods = Mirror(api, LIST_PODS, self.changed)
        self._config_maps = Mirror(api, LIST_CONFIG_MAPS, self.changed)
        # The nodes that plugins have offered something to, by their uids.
        self._offered: set[str] = set()
        # Why volumes could not be mounted, by the pod: said once.
        self._unmounted: dict[str, str] = {}
        self._clock = Clock()
        self._plugins = Plugins()
        self._autoscaler = Autoscaler(time_scale)
        self._pools: dict[str, WantedPool] = {}
        self._kubelet = Kubelet(plane.place, self._log_of)
        # Until when not to log_line again, by what failed and how.
        self._quiet: dict[tuple[str, type[Exception]], float] = {}
        self._setbacks: dict[str, _Setback] = {}
        # Operations whose pools are as they shall be...
        self.settled: set[str] = set()
        # ...and those that cannot be, with the reason.
        self.refused: dict[str, Refusal] = {}
        # Since when nothing has changed on a pool that is worked on, by its name.
        self._standstills: dict[str, tuple[object, float]] = {}
        # Why pods could not be evicted, by their uids.
        self._kept: dict[str, str] = {}

    async def run(self, wanted: Callable[[], WantedCluster | None]) -> None:
        """Keeps the cluster as it is wanted, until it is cancelled."""
        await self._kubelet.start()
        try:
            async with asyncio.TaskGroup() as tasks:
                mirrors = (self.nodes, self._pods, self._config_maps)
                # Not between two looks: where etcd is away, one of them takes minutes.
                tasks.create_task(self.plane.keep_alive(self._api))
                for mirror in mirrors:
                    tasks.create_task(mirror.run())
                for mirror in mirrors:
                    await mirror.filled.wait()
                while True:
                    self.changed.clear()
                    await self._tried(self._look(wanted))
                    await pause(self.changed, self._pause)
        finally:
            await self._kubelet.stop()

    async def _look(self, wanted: Callable[[], WantedCluster | None]) -> None:
        if cluster := wanted():
            await self._step(cluster)

    async def _step(self, cluster: WantedCluster) -> None:
        """One look at everything; what fails is tried again at the next."""
        self._pools = {pool.name: pool for pool in cluster.pools}
        done: dict[str, bool] = {}
        for work in (self._keep_containers, self._keep_gpus, self._scale):
            await self._tried(work(cluster))
        for pool in cluster.pools:
            is_done = await self._is_kept(cluster, pool)
            if pool.operation:
                done[pool.operation] = done.get(pool.operation, True) and is_done
        if cluster.operation:
            done.setdefault(cluster.operation, True)
        await self._tried(self._remove_strangers(cluster))
        self.settled |= {operation for operation, is_done in done.items() if is_done}

    async def _tried(self, work: Any) -> Any:
        """The result of some work; None if it failed, which must not be the end of all else."""
        try:
            return await work
        except ApiError as error:
            # Gone, changed meanwhile, or the API server is being started again: no news.
            if error.status not in (NO_ANSWER, NOT_FOUND, CONFLICT):
                self._complain(work, error)
        except Exception as error:
            self._complain(work, error)
        return None

    def _complain(self, work: Any, error: Exception) -> None:
        """Says what went wrong, now and then: it is tried again and again."""
        what, moment = (work.__qualname__, type(error)), time.monotonic()
        if moment >= self._quiet.get(what, 0):
            self._quiet[what] = moment + QUIET_SECONDS
            log_line("".join(traceback.format_exception(error)))

    # -- nodes

    async def _is_kept(self, cluster: WantedCluster, pool: WantedPool) -> bool:
        """Whether a pool is as it shall be; what is refused is tried again ever more seldom."""
        before = self._setbacks.get(pool.name)
        if before and before.is_of(pool) and time.monotonic() < before.again:
            return False
        try:
            is_done = await self._keep_nodes(cluster, pool)
        except Exception as error:
            if _passes(error):
                self._wait(pool, Refusal("NodesRefused", str(error)))
            else:
                self._set_back(cluster, pool, error)
            return False
        self._setbacks.pop(pool.name, None)
        if not is_done:
            self._wait(pool, self._obstacle(pool))
        return is_done

    def _wait(self, pool: WantedPool, obstacle: Refusal) -> None:
        """Gives up an operation on whose pool nothing has changed for as long as AKS drains."""
        if pool.operation is None:
            return
        seen = [
            (node["metadata"]["name"], nodes.is_going(node), nodes.is_ready(node))
            for node in self.nodes.objects
            if nodes.pool_of(node) == pool.name
        ]
        now_seen, moment = (pool.operation, sorted(seen)), time.monotonic()
        before, since = self._standstills.setdefault(pool.name, (now_seen, moment))
        if before != now_seen:
            self._standstills[pool.name] = (now_seen, moment)
        limit = pool.drain_minutes * 60 * self._time_scale
        if moment - since > max(SHORTEST_STANDSTILL, limit) and before == now_seen:
            self.refused[pool.operation] = obstacle

    def _obstacle(self, pool: WantedPool) -> Refusal:
        """What a pool waits for."""
        for node in self.nodes.objects:
            if nodes.pool_of(node) == pool.name and nodes.is_going(node):
                for pod in self._pods_on(node):
                    if why := self._kept.get(pod["metadata"]["uid"]):
                        name, where = pod["metadata"]["name"], pod["metadata"]["namespace"]
                        words = f"Drain of node {node['metadata']['name']} failed at pod {name}"
                        return Refusal("PodDrainFailure", f"{words} in namespace {where}: {why}")
        return Refusal("NodesNotReady", f"The nodes of {pool.name} are not as they shall be.")

    def _set_back(self, cluster: WantedCluster, pool: WantedPool, error: Exception) -> None:
        before, pause = self._setbacks.get(pool.name), SETBACK_SECONDS
        if before and before.is_of(pool):
            pause = min(before.pause * 2, LONGEST_SETBACK)
        else:
            is_refusal = isinstance(error, ApiError)
            reason = f"{error}\n" if is_refusal else "".join(traceback.format_exception(error))
            log_line(f"The pool {pool.name} of {cluster.name} is set back: {reason}")
        operation = pool.operation or (before.operation if before else None)
        again = time.monotonic() + pause
        self._setbacks[pool.name] = _Setback(pool, operation, pause, again)
        if pool.operation:
            self.refused[pool.operation] = Refusal("NodesRefused", str(error))

    async def _keep_nodes(self, cluster: WantedCluster, pool: WantedPool) -> bool:
        present = [node for node in self.nodes.objects if nodes.pool_of(node) == pool.name]
        step = pool_plan.step(pool, present, self._autoscaler.idle_nodes, self._era)
        port = self._kubelet.port
        for new in step.create:
            node = nodes.made(cluster, pool, new.index, self._era, port, surge=new.is_surge)
            self.nodes.put(await self._api.post(LIST_NODES, node))
        for node in step.leave:
            mark = {"annotations": {nodes.GOING: "true"}}
            await self._patch_node(node, {"metadata": mark, "spec": {"unschedulable": True}})
        for node in present:
            if nodes.is_going(node):
                await self._empty(node, by_force=pool.is_going)
                continue
            if not pool.is_going and (patch := nodes.regiven(node, pool)):
                await self._patch_node(node, patch)
            if nodes.port(node) != port:
                await self._patch_status(node, nodes.status_with_port(port))
        return step.is_done

    async def _empty(self, node: Json, *, by_force: bool) -> None:
        """Takes the pods off a node that goes, and then the node away."""
        pods = self._pods_on(node)
        kept = [pod for pod in pods if not by_force and autoscaler.keeps_node(pod)]
        for pod in kept:
            await self._evict(pod)
        if kept:
            return
        await self._api.delete(f"{LIST_NODES}/{node['metadata']['name']}")
        # What the system would collect as orphaned in a minute, it does not have to wait for.
        for pod in pods:
            await self._api.delete(_path(pod), gracePeriodSeconds="0")

    async def _evict(self, pod: Json) -> None:
        if pod["metadata"].get("deletionTimestamp"):
            return
        names = {key: pod["metadata"][key] for key in ("name", "namespace")}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": names}
        try:
            await self._api.post(f"{_path(pod)}/eviction", body)
        except ApiError as error:
            # A disruption budget does not allow it yet: the node waits.
            if error.status not in (NOT_FOUND, TOO_MANY_REQUESTS):
                raise
            self._kept[pod["metadata"]["uid"]] = str(error)

    async def _remove_strangers(self, cluster: WantedCluster) -> None:
        """Takes away the nodes of pools that are no more."""
        known = {pool.name for pool in cluster.pools} | cluster.unreadable
        for node in self.nodes.objects:
            pool = nodes.pool_of(node)
            if pool is not None and pool not in known:
                await self._empty(node, by_force=True)

    # -- GPUs

    async def _keep_gpus(self, _: WantedCluster) -> None:
        for node in self.nodes.objects:
            if pool := self._pools.get(nodes.pool_of(node) or ""):
                await self._tried(self._keep_gpus_of(node, pool))

    async def _keep_gpus_of(self, node: Json, pool: WantedPool) -> None:
        uid = node["metadata"]["uid"]
        pods = self._pods_on(node)
        offers = [found for pod in pods for found in self._plugins.offers(pod)]
        found = gpus.node_offers(pool, node, offers)
        # What somebody else put there is left alone, as a kubelet would.
        if found is None and uid not in self._offered:
            return
        if patch := gpus.status_patch(node, found, now()):
            await self._patch_status(node, patch)
            if found and found.conflict and "conditions" in patch:
                warning = kubelet.warning(node, "Node", CONFLICT_CONDITION, found.conflict)
                await self._api.post(*warning)
        if found is None:
            self._offered.discard(uid)
        else:
            self._offered.add(uid)

    # -- what containers do

    async def _keep_containers(self, _: WantedCluster) -> None:
        maps = config_maps.by_name(self._config_maps.objects)
        pods = self._pods.objects
        for pod in pods:
            await self._tried(self._keep_containers_of(pod, maps))
        self._clock.forget(pods)
        self._plugins.forget(pods)
        uids = {pod["metadata"]["uid"] for pod in pods}
        self._unmounted = {uid: why for uid, why in self._unmounted.items() if uid in uids}
        self._kept = {uid: why for uid, why in self._kept.items() if uid in uids}

    async def _keep_containers_of(self, pod: Json, maps: ConfigMaps) -> None:
        # Of a node that is not known nobody can say what its containers find.
        pool = self._pool_under(pod)
        if pool is None or await self._lacks_volumes(pod, maps):
            return
        change = self._life(pod, pool, maps).change()
        if change is None:
            return
        self._pods.put(await self._api.patch(f"{_path(pod)}/status", change.patch, STRATEGIC))
        for reason, message in change.warnings:
            await self._api.post(*kubelet.warning(pod, "Pod", reason, message))

    async def _lacks_volumes(self, pod: Json, maps: ConfigMaps) -> bool:
        """Whether a pod that this server begins waits for volumes; an event says for which."""
        is_waiting = pod["status"].get("phase") == "Pending"
        if not (is_waiting and any(map(is_plugin, pod["spec"]["containers"]))):
            return False
        why, uid = config_maps.unmounted(pod, maps), pod["metadata"]["uid"]
        if why is None:
            self._unmounted.pop(uid, None)
            return False
        if self._unmounted.get(uid) != why:
            self._unmounted[uid] = why
            await self._api.post(*kubelet.warning(pod, "Pod", "FailedMount", why))
        return True

    def _life(self, pod: Json, pool: WantedPool, maps: ConfigMaps) -> Life:
        def run(container: Json, number: int) -> Run | None:
            if is_plugin(container):
                return self._plugins.run(pod, container, number, pool, maps)
            if SAMPLE in container["image"]:
                return sample_job.run(container, pool, self._time_scale)
            return None

        return Life(pod, run, self._clock, self._time_scale)

    def _pool_under(self, pod: Json) -> WantedPool | None:
        name = pod["spec"].get("nodeName")
        for node in self.nodes.objects:
            if node["metadata"]["name"] == name:
                return self._pools.get(nodes.pool_of(node) or "")
        return None

    def _log_of(self, namespace: str, pod: str, container: str, *, previous: bool) -> Log | None:
        for found in self._pods.objects:
            metadata = found["metadata"]
            if (metadata["namespace"], metadata["name"]) != (namespace, pod):
                continue
            maps = config_maps.by_name(self._config_maps.objects)
            if pool := self._pool_under(found):
                return self._life(found, pool, maps).log(container, previous=previous)
        return None

    # -- scale

    async def _scale(self, cluster: WantedCluster) -> None:
        for pool in cluster.pools:
            if pool.limits is None or pool.is_going or pool.operation or cluster.operation:
                continue
            await self._tried(self._scale_pool(cluster, pool))

    async def _scale_pool(self, cluster: WantedCluster, pool: WantedPool) -> None:
        present = [node for node in self.nodes.objects if nodes.pool_of(node) == pool.name]
        state = autoscaler.PoolState(cluster, pool, present, self._pods.objects)
        count = self._autoscaler.count(state)
        if count != pool.count and self._source.resize(pool.id, count):
            self.changed.set()

    # -- the API server

    async def _patch_node(self, node: Json, patch: Json) -> None:
        path = f"{LIST_NODES}/{node['metadata']['name']}"
        self.nodes.put(await self._api.patch(path, patch))

    async def _patch_status(self, node: Json, patch: Json) -> None:
        path = f"{LIST_NODES}/{node['metadata']['name']}/status"
        self.nodes.put(await self._api.patch(path, {"status": patch}, STRATEGIC))

    def _pods_on(self, node: Json) -> list[Json]:
        name = node["metadata"]["name"]
        return [pod for pod in self._pods.objects if pod["spec"].get("nodeName") == name]


async def pause(event: asyncio.Event, seconds: float) -> None:
    """Until the event is set, or the time is over.

    Not `asyncio.wait_for`: before Python 3.12 that forgets to be cancelled when the event has just
    been set, and the task that waits would never end.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _path(pod: Json) -> str:
    metadata = pod["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
