"""The desired state of the control planes: the clusters and pools that ARM's state asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Protocol

from aks_catalogue import networks
from aks_catalogue.today import today

# The drain timeout of a pool that does not set one.
DRAIN_MINUTES = 30


class Era(StrEnum):
    """Which Azure is simulated: today's, or Azure as it was when the article was written."""

    ARTICLE = "article"
    TODAY = "today"

    @property
    def day(self) -> date:
        """The day in this era. In the article's era it is mid-2021, as its node images are."""
        return date(2021, 7, 1) if self is Era.ARTICLE else today()


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The autoscaling limits of a pool."""

    least: int
    most: int


@dataclass(frozen=True, kw_only=True)
class DesiredPool:
    """The desired state of an agent pool."""

    id: str
    name: str
    vm_size: str
    count: int
    version: str
    mode: str = "User"
    os_type: str = "Linux"
    os_sku: str = "Ubuntu"
    node_image: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[str, ...] = ()
    # Those in which new nodes come; "0" stands for none.
    zones: tuple[str, ...] = ("0",)
    max_pods: int = 110
    disk_gib: int = 128
    is_spot: bool = False
    limits: Limits | None = None
    # Empty: the default of AKS.
    surge: str = ""
    unavailable: str = "0"
    drain_minutes: int = DRAIN_MINUTES
    # The GPU software on its nodes.
    has_driver: bool = False
    brings_plugin: bool = False
    # Whether AKS manages the GPUs, with the DCGM exporter and its own checks of their health.
    is_managed: bool = False
    mig_profile: str | None = None
    # It is being deleted: no node may remain.
    is_deleting: bool = False
    # Its deletion does not wait for disruption budgets.
    by_force: bool = False
    # The operation that waits for this state.
    operation: str | None = None


@dataclass(frozen=True, kw_only=True)
class NodeFault:
    """A condition that nodes report as true; `node` is searched for in their names."""

    node: str
    condition: str
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class DesiredCluster:
    """The desired state of a managed cluster."""

    uid: str
    name: str
    group: str
    location: str
    subscription: str
    node_group: str
    # The version of its API server.
    version: str = ""
    pods: str = networks.PODS
    services: str = networks.SERVICES
    is_deleting: bool = False
    # Its processes are stopped; its content is kept.
    is_stopped: bool = False
    operation: str | None = None
    # With `priority` a ConfigMap orders the pools; otherwise the first that fits a pod grows.
    expander: str = "random"
    pools: tuple[DesiredPool, ...] = ()
    # The names of pools with an unreadable state: their nodes stay as they are.
    unreadable: frozenset[str] = frozenset()
    node_faults: tuple[NodeFault, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """Why the desired state of an operation cannot be reached."""

    code: str
    message: str


class Machines(Protocol):
    """What Azure does with the machines of pools, by their ids."""

    def resize(self, pool_id: str, count: int) -> Refusal | None:
        """Applies a decision of the autoscaler, or returns why there are no machines for it."""


class Source(Machines, Protocol):
    """The source of the desired state."""

    def clusters(self) -> list[DesiredCluster]: ...
