"""Connects ARM's clusters to their control planes, if the server runs with Kubernetes."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from aks_catalogue import networks
from aks_catalogue.device_plugin import PREFIX
from aks_catalogue.nodes import has_managed_gpus
from rehearsal.arm import errors, operations
from rehearsal.arm.aks import admission, pools, sign_in, unplayed
from rehearsal.arm.aks.places import CLUSTER_TYPE, pools_of
from rehearsal.arm.compute import capacity
from rehearsal.arm.compute.usages import ALLOCATED, POOL_TYPE
from rehearsal.arm.offers import Offers
from rehearsal.arm.operations import Kind
from rehearsal.arm.request import Json
from rehearsal.arm.resources import groups, stored
from rehearsal.arm.state import Resource, Store
from rehearsal.control_planes.desired_state import (
    DRAIN_MINUTES,
    DesiredCluster,
    DesiredPool,
    Limits,
    NodeFault,
    Refusal,
)
from rehearsal.control_planes.fleet import Fleet, Health, Settings
from rehearsal.control_planes.nodes import is_ready, pool_of


class StoreSource:
    """The desired clusters and pools, from the store."""

    def __init__(
        self,
        store: Store,
        offers: Callable[[], Offers],
        node_faults: Callable[[], tuple[NodeFault, ...]] = tuple,
    ) -> None:
        self._store = store
        self._offers = offers
        self._node_faults = node_faults

    def clusters(self) -> list[DesiredCluster]:
        going = {group.id.lower() for group in self._store.of_type(groups.TYPE) if group.operation}
        return [
            self._cluster(cluster, is_deleting=cluster.parent in going)
            for cluster in self._store.of_type(CLUSTER_TYPE)
        ]

    def resize(self, pool_id: str, count: int) -> Refusal | None:
        pool = self._store.find(pool_id)
        if pool is None:
            return None
        if lacking := admission.lacking(self._store, self._offers(), pool, count):
            return lacking
        pool.properties["count"] = count
        pool.body.pop(ALLOCATED, None)
        self._store.keep(pool)
        return None

    def _cluster(self, cluster: Resource, *, is_deleting: bool) -> DesiredCluster:
        _, _, subscription, _, group, *_ = cluster.id.split("/")
        network = cluster.properties["networkProfile"]
        inside, offers = pools_of(self._store, cluster), self._offers()
        desired = {pool.name: self._desired(pool, offers) for pool in inside}
        return DesiredCluster(
            uid=_uid(cluster),
            name=cluster.name,
            group=group,
            location=cluster.location,
            subscription=subscription,
            node_group=cluster.properties["nodeResourceGroup"],
            version=cluster.properties["currentKubernetesVersion"],
            # Without an overlay, pods have no range of their own.
            pods=network.get("podCidr") or networks.PODS,
            services=network["serviceCidr"],
            is_deleting=is_deleting or cluster.state == "Deleting",
            is_stopped=cluster.properties["powerState"]["code"] == "Stopped",
            operation=cluster.operation,
            expander=(cluster.properties.get("autoScalerProfile") or {}).get("expander", "random"),
            pools=tuple(pool for pool in desired.values() if pool),
            unreadable=frozenset(name for name, pool in desired.items() if pool is None),
            node_faults=self._node_faults(),
        )

    def _desired(self, pool: Resource, offers: Offers) -> DesiredPool | None:
        """Returns the desired state of a pool; None if its stored state is unreadable."""
        try:
            return _pool(pool, offers)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if pool.state == "Deleting":
                return DesiredPool(
                    id=pool.id,
                    name=pool.name,
                    vm_size="",
                    count=0,
                    version="",
                    is_deleting=True,
                    operation=pool.operation,
                )
            if pool.operation:
                message = f"The rehearsal cannot read the pool {pool.name}: {error!r}"
                failure = {"code": "RehearsalFailed", "message": message}
                operations.fail_when_due(self._store, pool.operation, failure)
            return None


def _pool(pool: Resource, offers: Offers) -> DesiredPool:
    properties = pool.properties
    gpu, upgrade = properties.get("gpuProfile") or {}, properties.get("upgradeSettings") or {}
    is_specialized = pool.body.get("image") == pools.SPECIALIZED
    is_managed = has_managed_gpus(properties)
    limits = None
    if properties.get("enableAutoScaling"):
        limits = Limits(least=properties["minCount"], most=properties["maxCount"])
    return DesiredPool(
        id=pool.id,
        name=pool.name,
        vm_size=properties["vmSize"],
        count=pool.body.get(ALLOCATED, properties["count"]),
        version=properties["currentOrchestratorVersion"],
        mode=properties["mode"],
        os_type=properties["osType"],
        os_sku=properties["osSKU"],
        node_image=properties.get("nodeImageVersion", ""),
        labels=properties.get("nodeLabels") or {},
        taints=tuple(properties.get("nodeTaints") or ()),
        zones=capacity.open_zones(offers, pool) or capacity.zones(pool),
        max_pods=properties["maxPods"],
        disk_gib=properties["osDiskSizeGB"],
        is_spot=capacity.is_spot(pool),
        limits=limits,
        surge=str(upgrade.get("maxSurge") or ""),
        unavailable=str(upgrade.get("maxUnavailable") or "0"),
        drain_minutes=upgrade.get("drainTimeoutInMinutes") or DRAIN_MINUTES,
        # On a managed pool AKS ignores the driver None.
        has_driver=is_specialized or is_managed or gpu.get("driver") == "Install",
        brings_plugin=is_specialized or is_managed,
        is_managed=is_managed,
        mig_profile=properties.get("gpuInstanceProfile"),
        is_deleting=pool.state == "Deleting",
        by_force=bool(pool.body.get(pools.BY_FORCE)),
        operation=pool.operation,
    )


class FleetControlPlanes:
    """The control planes as ARM's services use them; without settings there are none."""

    def __init__(
        self,
        store: Store,
        offers: Callable[[], Offers],
        settings: Settings | None,
        node_faults: Callable[[], tuple[NodeFault, ...]] = tuple,
    ) -> None:
        self._store = store
        source = StoreSource(store, offers, node_faults)
        self.fleet = Fleet(settings, source) if settings else None

    async def start(self) -> None:
        if self.fleet:
            await self.fleet.start()

    async def stop(self) -> None:
        if self.fleet:
            await self.fleet.stop()

    def changed(self) -> None:
        """Wakes the fleet: a request may have changed the desired state."""
        if self.fleet:
            self.fleet.wake()

    def ended(self, row: Any, now: float) -> float | None:
        """Returns when a due operation ended; None while there is still work for it."""
        if self.fleet is None or operations.fails(row):
            return float(row["due"])
        return None if self._is_at_work(self.fleet, row["id"], Kind[row["kind"]]) else now

    def _is_at_work(self, fleet: Fleet, operation: str, kind: Kind) -> bool:
        resources = self._store.worked_on_by(operation)
        if kind in (Kind.GROUP_DELETE, Kind.CLUSTER_DELETE):
            inside = [inner for resource in resources for inner in self._store.within(resource.id)]
            uids = [_uid(inner) for inner in inside if inner.type == CLUSTER_TYPE]
            return any(map(fleet.has, uids))
        if kind is Kind.CLUSTER_STOP:
            return any(fleet.runs(_uid(each)) for each in resources if each.type == CLUSTER_TYPE)
        owners = [
            self._store.find(resource.parent) if resource.type == POOL_TYPE else resource
            for resource in resources
        ]
        own = operation if kind.name.startswith("CLUSTER") else None
        for uid in {_uid(owner) for owner in owners if owner}:
            failure = fleet.failure(uid, own)
            refusal = Refusal("ControlPlaneFailed", failure) if failure else None
            if refusal := refusal or fleet.refusal(uid, operation):
                self._fail(operation, refusal)
                return False
            if not fleet.is_settled(uid, operation):
                return True
        return False

    def _fail(self, operation: str, refusal: Refusal) -> None:
        operations.fail_when_due(self._store, operation, asdict(refusal))

    def overview(self) -> Json:
        """Returns the clusters with their pools and health, and the types that are stored only."""
        states = self.fleet.health() if self.fleet else ()
        health = {(state.group, state.name): state for state in states}
        shown = [
            self._overview(cluster, health.get((cluster.id.split("/")[4], cluster.name)))
            for cluster in self._store.of_type(CLUSTER_TYPE)
        ]
        return {"clusters": shown, "storedTypes": stored.told(self._store)}

    def _overview(self, cluster: Resource, health: Health | None) -> Json:
        inside = pools_of(self._store, cluster)
        first_pool = inside[0].properties if inside else {}
        return {
            "name": cluster.name,
            "group": cluster.id.split("/")[4],
            "provisioningState": cluster.state,
            "controlPlane": health.state.lower() if health else "none",
            "reason": health.reason if health else None,
            "storedOnly": unplayed.of_cluster(cluster, first_pool),
            "pools": [
                {
                    "name": pool.name,
                    "vmSize": pool.properties["vmSize"],
                    "nodes": len(nodes := self.nodes(cluster, pool)),
                    "ready": sum(map(is_ready, nodes)),
                    "gpus": sum(map(_gpus, nodes)),
                    "storedOnly": unplayed.of_pool(pool, cluster),
                }
                for pool in inside
            ],
        }

    def nodes(self, cluster: Resource, pool: Resource) -> list[Json]:
        """Returns the nodes of a pool, as Kubernetes knows them."""
        nodes = self.fleet.nodes(_uid(cluster)) if self.fleet else []
        return [node for node in nodes if pool_of(node) == pool.name]

    def pods(self, cluster: Resource) -> list[Json]:
        """Returns the pods of a cluster, as Kubernetes knows them."""
        return self.fleet.pods(_uid(cluster)) if self.fleet else []

    def kubeconfig(self, cluster: Resource, role: str) -> Json:
        """Returns the credentials of a cluster, as Azure lists them."""
        if self.fleet is None:
            raise errors.ArmError(errors.NO_CONTROL_PLANE, name=cluster.name)
        _, _, _, _, group, *_ = cluster.id.split("/")
        user = f"{role}_{group}_{cluster.name}"
        uid = _uid(cluster)
        entra = cluster.properties.get("aadProfile") if role == "clusterUser" else None
        login = sign_in.login(entra) if entra else None
        value = self.fleet.kubeconfig(uid, cluster.name, user, login)
        if value is None:
            state = "starting" if cluster.state == "Succeeded" else cluster.state
            reason = self.fleet.failure(uid) or f"The cluster is {state}."
            raise errors.ArmError(errors.NO_CREDENTIALS_YET, name=cluster.name, reason=reason)
        return {"kubeconfigs": [{"name": role, "value": value}]}


def _gpus(node: Json) -> int:
    """Returns the number of GPUs or MIG slices that a node offers."""
    offered = node.get("status", {}).get("allocatable", {})
    return sum(int(count) for name, count in offered.items() if name.startswith(PREFIX))


def _uid(cluster: Resource) -> str:
    return str(cluster.properties["resourceUID"])
