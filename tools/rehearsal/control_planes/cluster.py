"""One running cluster: its control plane, and the loop that keeps its nodes as desired."""

import asyncio
import contextlib
import time
import traceback
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, TypeVar

import yaml

from aks_catalogue import capacity
from aks_catalogue.device_plugin import CONFLICT_CONDITION, is_plugin
from kube_client.backoff import Backoff
from kube_client.client import (
    APPLY,
    CONFLICT,
    NO_ANSWER,
    NOT_FOUND,
    STRATEGIC,
    TOO_MANY_REQUESTS,
    UNAUTHORIZED,
    ApiError,
    Client,
)
from kube_client.mirror import Mirror
from rehearsal.control_planes import (
    autoscaler,
    events,
    gpu_operator,
    gpus,
    nodes,
    pool_plan,
    sample_job,
    scale_ups,
    visible_gpus,
)
from rehearsal.control_planes.autoscaler import Autoscaler, PoolState
from rehearsal.control_planes.containers import Clock, Life, Log, Run, now
from rehearsal.control_planes.control_plane import ControlPlane, emulated
from rehearsal.control_planes.desired_state import (
    DesiredCluster,
    DesiredPool,
    Era,
    Machines,
    Refusal,
)
from rehearsal.control_planes.device_plugin import (
    ConfigMaps,
    Outcome,
    Plugins,
    environment,
    refused_request,
)
from rehearsal.control_planes.kubelet import Kubelet
from rehearsal.control_planes.kwok_stages import SAMPLE, VECTOR_ADD
from rehearsal.files import log_line

Json = dict[str, Any]

# How long the loop sleeps if nothing happens; some of its work depends on time.
PAUSE_SECONDS, SHORTEST_PAUSE = 0.5, 0.05
# The pause before a refused change is retried; it doubles each time.
SETBACK_SECONDS, LONGEST_SETBACK = 1.0, 60.0
# How long a repeated failure is not logged again.
QUIET_SECONDS = 60.0
# How long a node is idle at least, at any time scale, so that a look twice a second sees how its
# last pod ended.
SHORTEST_IDLE = 2.0
# The shortest wait for a drain, at any time scale.
SHORTEST_STANDSTILL = 45.0
# Longer than any message of the autoscaler's status.
LONGEST_LINE = 10_000
T = TypeVar("T")
LIST_PODS = "/api/v1/pods"
LIST_NODES = "/api/v1/nodes"
LIST_CONFIG_MAPS = "/api/v1/configmaps"
# By which the expander `priority` chooses.
PRIORITIES = (capacity.NAMESPACE, capacity.CONFIG_MAP)
# The autoscaler's status, and the source of its events.
STATUS = {"namespace": "kube-system", "name": "cluster-autoscaler-status"}
AUTOSCALER = {"component": "cluster-autoscaler"}


@dataclass(frozen=True)
class _Setback:
    """A pool that could not be brought to its desired state, and when that is retried."""

    wish: DesiredPool
    # The pool's last operation; a new one is tried at once.
    operation: str | None
    backoff: Backoff

    def is_of(self, pool: DesiredPool) -> bool:
        is_asked_anew = pool.operation not in (None, self.operation)
        return not is_asked_anew and replace(self.wish, operation=pool.operation) == pool


def _passes(error: Exception) -> bool:
    """Whether an error is temporary, and not caused by the desired state."""
    if not isinstance(error, ApiError):
        return False
    passing = (UNAUTHORIZED, NOT_FOUND, CONFLICT)
    return (
        error.is_temporary
        or error.status in passing
        or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    )


class Cluster:
    """A control plane that is ready, and the work on its nodes and pods."""

    def __init__(
        self,
        plane: ControlPlane,
        api: Client,
        desired: DesiredCluster,
        machines: Machines,
        era: Era,
        time_scale: float,
    ) -> None:
        self.plane = plane
        self._api = api
        self._desired = desired
        # Which the API server emulates.
        self._version = emulated(desired.version)
        self._machines = machines
        self._era = era
        self._time_scale = time_scale
        self._pause = max(SHORTEST_PAUSE, min(1.0, time_scale) * PAUSE_SECONDS)
        self.changed = asyncio.Event()
        self.nodes = Mirror(api, LIST_NODES, self.changed)
        self._pods = Mirror(api, LIST_PODS, self.changed)
        self._config_maps = Mirror(api, LIST_CONFIG_MAPS, self.changed)
        # The uids of nodes on which device plugins have offered resources.
        self._offered: set[str] = set()
        # Why a pod cannot start, by its uid and the kind of reason: one event for each.
        self._obstacles: dict[tuple[str, str], str] = {}
        self._clock = Clock()
        self._plugins = Plugins()
        self._autoscaler = Autoscaler(max(time_scale, SHORTEST_IDLE / autoscaler.IDLE_SECONDS))
        self._back_offs = scale_ups.BackOffs(time_scale)
        # What the autoscaler has told: its status, and the last message of each waiting pod by uid.
        self._status: Json = {}
        self._told: dict[str, str] = {}
        self._pools: dict[str, DesiredPool] = {}
        self._kubelet = Kubelet(plane.place, self._log_of)
        # When it may be logged again, by what failed and how.
        self._quiet: dict[tuple[str, type[Exception]], float] = {}
        self._setbacks: dict[str, _Setback] = {}
        # Operations whose pools have reached their desired state...
        self.settled: set[str] = set()
        # ...and those that cannot, with the reason.
        self.refused: dict[str, Refusal] = {}
        # By pool name: since when a pool in progress has not changed.
        self._standstills: dict[str, tuple[object, float]] = {}
        # By pod uid: why it could not be evicted.
        self._kept: dict[str, str] = {}

    @property
    def pods(self) -> list[Json]:
        """Returns the pods, as far as the watch has told."""
        return self._pods.objects

    def wants(self, desired: DesiredCluster) -> None:
        """Takes over what is desired now."""
        if desired != self._desired:
            self._desired = desired
            self.changed.set()

    async def run(self) -> None:
        """Keeps the cluster in its desired state; returns if that has another minor version.

        Raises an error if a part of its control plane ends.
        """
        await self._kubelet.start()
        try:
            async with asyncio.TaskGroup() as tasks:
                mirrors = (self.nodes, self._pods, self._config_maps)
                # In a task of its own: without etcd, a look of the main loop takes minutes.
                works = (self.plane.watch(), *(mirror.run() for mirror in mirrors))
                running = [tasks.create_task(work) for work in works]
                for mirror in mirrors:
                    await mirror.filled.wait()
                while emulated(self._desired.version) == self._version:
                    self.changed.clear()
                    await self._attempt(self._step(self._desired))
                    await pause(self.changed, self._pause)
                for task in running:
                    task.cancel()
        finally:
            await self._kubelet.stop()

    async def _step(self, cluster: DesiredCluster) -> None:
        """Does all work that is due; what fails is retried in the next step."""
        self._pools = {pool.name: pool for pool in cluster.pools}
        done: dict[str, bool] = {}
        for work in (
            self._keep_containers,
            self._operate,
            self._keep_gpus,
            self._keep_faults,
            self._scale,
        ):
            await self._attempt(work(cluster))
        for pool in cluster.pools:
            is_done = await self._is_kept(cluster, pool)
            if pool.operation:
                done[pool.operation] = done.get(pool.operation, True) and is_done
        if cluster.operation:
            done.setdefault(cluster.operation, True)
        await self._attempt(self._remove_strangers(cluster))
        self.settled |= {operation for operation, is_done in done.items() if is_done}

    async def _attempt(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Returns the result of some work; None if it failed, so that other work goes on."""
        try:
            return await work
        except ApiError as error:
            # Gone, changed meanwhile, or the API server restarts: nothing to log.
            if error.status not in (NO_ANSWER, NOT_FOUND, CONFLICT):
                self._log_failure(work, error)
        except Exception as error:
            self._log_failure(work, error)
        return None

    def _log_failure(self, work: object, error: Exception) -> None:
        """Logs a failure, but not every time that it repeats."""
        name = str(getattr(work, "__qualname__", work))
        what, moment = (name, type(error)), time.monotonic()
        if moment >= self._quiet.get(what, 0):
            self._quiet[what] = moment + QUIET_SECONDS
            log_line("".join(traceback.format_exception(error)))

    # -- nodes

    async def _is_kept(self, cluster: DesiredCluster, pool: DesiredPool) -> bool:
        """Whether a pool has its desired state; refused changes are retried with longer pauses."""
        before = self._setbacks.get(pool.name)
        if before and before.is_of(pool) and not before.backoff.is_due:
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

    def _wait(self, pool: DesiredPool, obstacle: Refusal) -> None:
        """Fails an operation whose pool has not changed for the drain timeout."""
        if pool.operation is None:
            return
        progress = [
            (node["metadata"]["name"], nodes.is_deleting(node), nodes.is_ready(node))
            for node in self.nodes.objects
            if nodes.pool_of(node) == pool.name
        ]
        current, moment = (pool.operation, sorted(progress)), time.monotonic()
        before, since = self._standstills.setdefault(pool.name, (current, moment))
        if before != current:
            self._standstills[pool.name] = (current, moment)
        limit = pool.drain_minutes * 60 * self._time_scale
        if moment - since > max(SHORTEST_STANDSTILL, limit) and before == current:
            self.refused[pool.operation] = obstacle

    def _obstacle(self, pool: DesiredPool) -> Refusal:
        """Returns what a pool waits for."""
        for node in self.nodes.objects:
            if nodes.pool_of(node) == pool.name and nodes.is_deleting(node):
                for pod in self._pods_on(node):
                    if why := self._kept.get(pod["metadata"]["uid"]):
                        name, where = pod["metadata"]["name"], pod["metadata"]["namespace"]
                        words = f"Drain of node {node['metadata']['name']} failed at pod {name}"
                        return Refusal("PodDrainFailure", f"{words} in namespace {where}: {why}")
        return Refusal(
            "NodesNotReady", f"The nodes of {pool.name} have not reached their desired state."
        )

    def _set_back(self, cluster: DesiredCluster, pool: DesiredPool, error: Exception) -> None:
        before, backoff = self._setbacks.get(pool.name), Backoff(SETBACK_SECONDS, LONGEST_SETBACK)
        if before and before.is_of(pool):
            backoff = before.backoff
        else:
            is_refusal = isinstance(error, ApiError)
            reason = f"{error}\n" if is_refusal else "".join(traceback.format_exception(error))
            log_line(f"The pool {pool.name} of {cluster.name} cannot be changed: {reason}")
        operation = pool.operation or (before.operation if before else None)
        backoff.fail()
        self._setbacks[pool.name] = _Setback(pool, operation, backoff)
        if pool.operation:
            self.refused[pool.operation] = Refusal("NodesRefused", str(error))

    async def _keep_nodes(self, cluster: DesiredCluster, pool: DesiredPool) -> bool:
        present = self._nodes_of(pool)
        if pool.is_deleting and pool.operation in self.refused:
            return False
        if not pool.is_deleting:
            present = [await self._taken_back(node) for node in present]
        step = pool_plan.step(pool, present, self._autoscaler.idle_nodes, self._era)
        port = self._kubelet.port
        for new in step.create:
            node = nodes.new_node(cluster, pool, new.index, self._era, port, surge=new.is_surge)
            self.nodes.put(await self._api.post(LIST_NODES, node))
        for node in step.leave:
            alone = nodes.AS_IDLE if step.are_idle else nodes.ALONE
            how = nodes.WITH_ITS_POOL if pool.is_deleting else alone
            mark = {"annotations": {nodes.DELETING: how}}
            await self._patch_node(node, {"metadata": mark, "spec": {"unschedulable": True}})
        for node in present:
            if nodes.is_deleting(node):
                await self._empty(node, by_force=pool.by_force)
                continue
            if not pool.is_deleting and (patch := nodes.settings_patch(node, pool)):
                await self._patch_node(node, patch)
            if nodes.port(node) != port:
                await self._patch_status(node, nodes.status_with_port(port))
        return step.is_done

    async def _taken_back(self, node: Json) -> Json:
        """Returns a node, which takes pods again if its pool stays, or pods have come to it."""
        if not (
            nodes.goes_with_its_pool(node)
            or (nodes.goes_as_idle(node) and await self._keeps_pods(node))
        ):
            return node
        patch = {
            "metadata": {"annotations": {nodes.DELETING: None}},
            "spec": {"unschedulable": None},
        }
        return await self._patch_node(node, patch)

    async def _keeps_pods(self, node: Json) -> bool:
        """Whether pods need a node; the API server knows that before its watch tells it."""
        name = node["metadata"]["name"]
        pods = await self._api.list(LIST_PODS, fieldSelector=f"spec.nodeName={name}")
        return any(map(autoscaler.keeps_node, pods))

    async def _empty(self, node: Json, *, by_force: bool) -> None:
        """Evicts the pods of a node that is to be removed, and then removes the node."""
        kept = [pod for pod in self._pods_on(node) if not by_force and autoscaler.keeps_node(pod)]
        for pod in kept:
            await self._evict(pod)
        if not kept:
            await self._api.delete(f"{LIST_NODES}/{node['metadata']['name']}")
            await self._collect_pods(node)

    async def _collect_pods(self, node: Json) -> None:
        """Deletes the pods of a node that is gone, a minute before Kubernetes would."""
        for pod in self._pods_on(node):
            await self._api.delete(_path(pod), gracePeriodSeconds="0")

    async def _evict(self, pod: Json) -> None:
        if pod["metadata"].get("deletionTimestamp"):
            return
        names = {key: pod["metadata"][key] for key in ("name", "namespace")}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": names}
        try:
            await self._api.post(f"{_path(pod)}/eviction", body)
        except ApiError as error:
            # A disruption budget forbids it for now: the node stays.
            if error.status not in (NOT_FOUND, TOO_MANY_REQUESTS):
                raise
            self._kept[pod["metadata"]["uid"]] = str(error)

    async def _remove_strangers(self, cluster: DesiredCluster) -> None:
        """Removes the nodes of pools that no longer exist."""
        known = {pool.name for pool in cluster.pools} | cluster.unreadable
        for node in self.nodes.objects:
            pool = nodes.pool_of(node)
            if pool is not None and pool not in known:
                await self._empty(node, by_force=True)

    # -- GPUs

    async def _keep_gpus(self, _: DesiredCluster) -> None:
        for node in self.nodes.objects:
            if pool := self._pools.get(nodes.pool_of(node) or ""):
                await self._attempt(self._keep_gpus_of(node, pool))

    async def _keep_gpus_of(self, node: Json, pool: DesiredPool) -> None:
        uid = node["metadata"]["uid"]
        pods = self._pods_on(node)
        running = [plugin for pod in pods for plugin in self._plugins.running(pod)]
        for pod in pods:
            await self._attempt(self._admit(pod, running))
        offered = gpus.node_offers(pool, node, [plugin.offers for plugin in running])
        # Resources from others are left alone, as by a kubelet.
        if offered is None and uid not in self._offered:
            return
        if patch := gpus.status_patch(node, offered, now()):
            await self._patch_status(node, patch)
            if offered and offered.conflict and "conditions" in patch:
                about, host = events.of_node(node), node["metadata"]["name"]
                await self._warn(about, host, CONFLICT_CONDITION, offered.conflict)
        if offered is None:
            self._offered.discard(uid)
        else:
            self._offered.add(uid)

    async def _admit(self, pod: Json, running: Sequence[Outcome]) -> None:
        """Fails a pod to which a plugin gives no devices, as a kubelet does before it starts."""
        if pod["status"].get("phase") not in ("Pending", "Running"):
            return
        one_at_most = frozenset(name for plugin in running for name in plugin.one_at_most)
        if why := refused_request(pod, one_at_most):
            reason = "UnexpectedAdmissionError"
            status = {"phase": "Failed", "reason": reason, "message": f"Pod was rejected: {why}"}
            patch = {"status": {**status, "containerStatuses": None}}
            self._pods.put(await self._api.patch(f"{_path(pod)}/status", patch, STRATEGIC))
            await self._warn(events.of_pod(pod), pod["spec"]["nodeName"], reason, why)

    async def _keep_faults(self, cluster: DesiredCluster) -> None:
        for node in self.nodes.objects:
            if patch := nodes.fault_patch(node, cluster.node_faults, now()):
                await self._attempt(self._patch_status(node, patch))

    # -- the GPU Operator

    async def _operate(self, _: DesiredCluster) -> None:
        namespace = gpu_operator.namespace_of_operator(self._pods.objects)
        for node in self.nodes.objects:
            if pool := self._pools.get(nodes.pool_of(node) or ""):
                pods, operates = self._pods_on(node), namespace is not None
                if labels := gpu_operator.label_patch(node, pool, pods, operates=operates):
                    await self._patch_node(node, {"metadata": {"labels": labels}})
        if namespace is None:
            return
        sets = f"/apis/apps/v1/namespaces/{namespace}/daemonsets"
        present = {
            f"{path}/{held['metadata']['name']}": held
            for path in (gpu_operator.RUNTIME_CLASSES, sets)
            for held in await self._api.list(path, labelSelector=gpu_operator.OPERANDS)
        }
        for policy in await self._api.list(gpu_operator.POLICIES):
            wanted = dict(gpu_operator.objects(policy, namespace))
            for path, body in wanted.items():
                marked = gpu_operator.marked(body, policy, path)
                if not gpu_operator.is_as_marked(present.get(path), marked):
                    query = {"fieldManager": gpu_operator.MANAGER, "force": "true"}
                    await self._api.patch(path, marked, APPLY, **query)
            for path in present.keys() - wanted.keys():
                await self._api.delete(path)

    # -- containers

    def _maps(self) -> ConfigMaps:
        return {
            (each["metadata"]["namespace"], each["metadata"]["name"]): each.get("data") or {}
            for each in self._config_maps.objects
        }

    async def _keep_containers(self, _: DesiredCluster) -> None:
        maps, pods = self._maps(), self._pods.objects
        for pod in pods:
            await self._attempt(self._keep_containers_of(pod, maps))
        self._clock.forget(pods)
        self._plugins.forget(pods)
        uids = {pod["metadata"]["uid"] for pod in pods}
        self._obstacles = {key: why for key, why in self._obstacles.items() if key[0] in uids}
        self._kept = {uid: why for uid, why in self._kept.items() if uid in uids}
        self._told = {uid: message for uid, message in self._told.items() if uid in uids}

    async def _keep_containers_of(self, pod: Json, maps: ConfigMaps) -> None:
        # Without its node, it is unknown what hardware its containers find.
        there = self._around(pod)
        if there is None or await self._is_held(pod, *there):
            return
        change = self._life(pod, *there, maps).change()
        if change is None:
            return
        self._pods.put(await self._api.patch(f"{_path(pod)}/status", change.patch, STRATEGIC))
        for reason, message in change.warnings:
            await self._warn(events.of_pod(pod), pod["spec"]["nodeName"], reason, message)

    async def _is_held(self, pod: Json, pool: DesiredPool, beside: Sequence[Json]) -> bool:
        """Whether a pod waits for a driver or a container runtime."""
        if pod["status"].get("phase") != "Pending":
            return False
        why = gpu_operator.obstacle(pod, pool, beside)
        return await self._waits(pod, "FailedCreatePodSandBox", why)

    async def _waits(self, pod: Json, reason: str, why: str | None) -> bool:
        """Whether a pod waits for a reason; a new reason with words becomes an event."""
        uid = pod["metadata"]["uid"]
        if why is None:
            self._obstacles.pop((uid, reason), None)
            return False
        if self._obstacles.get((uid, reason)) != why:
            self._obstacles[uid, reason] = why
            if why:
                await self._warn(events.of_pod(pod), pod["spec"]["nodeName"], reason, why)
        return True

    def _life(self, pod: Json, pool: DesiredPool, beside: Sequence[Json], maps: ConfigMaps) -> Life:
        by_aks = pool.has_driver
        pool = replace(pool, has_driver=gpu_operator.has_driver(pool, beside))

        def run(container: Json, number: int) -> Run | None:
            if is_plugin(container):
                return self._plugins.run(pod, container, number, pool, maps)
            if SAMPLE not in container["image"] and VECTOR_ADD not in container["image"]:
                return None
            seen = visible_gpus.seen(pod, container, environment(container), pool, by_aks=by_aks)
            sample = sample_job.run if SAMPLE in container["image"] else sample_job.run_vector_add
            return sample(container, pool, seen, self._time_scale)

        return Life(pod, run, self._clock, self._time_scale)

    def _around(self, pod: Json) -> tuple[DesiredPool, list[Json]] | None:
        """Returns the pool of a pod's node, and all pods on that node."""
        name = pod["spec"].get("nodeName")
        for node in self.nodes.objects:
            if node["metadata"]["name"] == name:
                pool = self._pools.get(nodes.pool_of(node) or "")
                return (pool, self._pods_on(node)) if pool else None
        return None

    def _log_of(self, namespace: str, pod: str, container: str) -> Log | None:
        for candidate in self._pods.objects:
            metadata = candidate["metadata"]
            if (metadata["namespace"], metadata["name"]) != (namespace, pod):
                continue
            maps = self._maps()
            if there := self._around(candidate):
                return self._life(candidate, *there, maps).log(container)
        return None

    # -- autoscaling

    async def _scale(self, cluster: DesiredCluster) -> None:
        failures = self._back_offs.failures()
        states = [
            PoolState(
                cluster, pool, self._nodes_of(pool), self._pods.objects, pool.name in failures
            )
            for pool in cluster.pools
            if pool.limits and not pool.is_deleting
        ]
        if not states:
            return
        await self._attempt(self._tell_status(states, failures))
        free = [each for each in states if not (each.pool.operation or cluster.operation)]
        priorities = self._maps().get(PRIORITIES, {})
        growths = autoscaler.growths(free, cluster.expander, priorities.get(capacity.KEY, ""))
        for state in free:
            await self._attempt(self._scale_pool(state, growths[state.pool.name]))
        if not any(growth.nodes for growth in growths.values()):
            awaited = frozenset[str]().union(*(each.awaited for each in growths.values()))
            for pod in filter(autoscaler.is_unplaced, self._pods.objects):
                if pod["metadata"]["uid"] not in awaited and (why := scale_ups.why_not(pod, free)):
                    message = f"pod didn't trigger scale-up: {why}"
                    await self._attempt(self._tell(pod, "NotTriggerScaleUp", message))

    async def _scale_pool(self, state: PoolState, growth: autoscaler.Growth) -> None:
        pool, count = state.pool, self._autoscaler.count(state, growth)
        if count == pool.count:
            return
        refusal = self._machines.resize(pool.id, count)
        if count < pool.count:
            return
        failure = scale_ups.Failure.of(refusal) if refusal else None
        if failure:
            self._back_offs.fail(pool.name, failure)
        else:
            self._back_offs.succeed(pool.name)
        group, most = nodes.group(state.cluster, pool), pool.limits.most if pool.limits else count
        if failure is None:
            change = f"[{{{group} {pool.count}->{count} (max: {most})}}]"
            for pod in state.pods:
                if pod["metadata"]["uid"] in growth.helped:
                    await self._tell(pod, "TriggeredScaleUp", f"pod triggered scale-up: {change}")

    async def _tell(self, pod: Json, reason: str, message: str) -> None:
        """Makes an event of what the autoscaler says of a pod, unless it was the last."""
        uid = pod["metadata"]["uid"]
        if self._told.get(uid) != message:
            self._told[uid] = message
            about = events.of_pod(pod)
            await self._api.post(*events.event(about, AUTOSCALER, reason, message, "Normal"))

    async def _tell_status(
        self, states: Sequence[PoolState], failures: Mapping[str, scale_ups.Failure]
    ) -> None:
        """Writes the autoscaler's status, when it has changed: on AKS every ten seconds."""
        status = scale_ups.status(states, failures, self._status, now())
        if status == self._status:
            return
        text = yaml.safe_dump({"time": now(), **status}, sort_keys=False, width=LONGEST_LINE)
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": STATUS["name"]},
            "data": {"status": text},
        }
        path = f"/api/v1/namespaces/{STATUS['namespace']}/configmaps/{STATUS['name']}"
        await self._api.patch(path, body, APPLY, fieldManager="cluster-autoscaler", force="true")
        self._status = status

    # -- the API server

    async def _warn(self, about: Json, host: str, reason: str, message: str) -> None:
        """Makes an event of what the kubelet of a node says."""
        kubelet = {"component": "kubelet", "host": host}
        await self._api.post(*events.event(about, kubelet, reason, message))

    async def _patch_node(self, node: Json, patch: Json) -> Json:
        path = f"{LIST_NODES}/{node['metadata']['name']}"
        patched: Json = await self._api.patch(path, patch)
        self.nodes.put(patched)
        return patched

    async def _patch_status(self, node: Json, patch: Json) -> None:
        path = f"{LIST_NODES}/{node['metadata']['name']}/status"
        self.nodes.put(await self._api.patch(path, {"status": patch}, STRATEGIC))

    def _nodes_of(self, pool: DesiredPool) -> list[Json]:
        return [node for node in self.nodes.objects if nodes.pool_of(node) == pool.name]

    def _pods_on(self, node: Json) -> list[Json]:
        name = node["metadata"]["name"]
        return [pod for pod in self._pods.objects if pod["spec"].get("nodeName") == name]


async def pause(event: asyncio.Event, seconds: float) -> None:
    """Waits until the event is set or the time is over.

    Not with `asyncio.wait_for`, which before Python 3.12 loses a cancellation when the event has
    just been set: the waiting task would never end.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _path(pod: Json) -> str:
    metadata = pod["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
