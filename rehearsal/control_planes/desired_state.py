"""What Resource Manager's side wants of the Kubernetes side: clusters, pools, and their state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Protocol

from catalogue.today import today

# Of a pool that does not say how long its nodes may take to get rid of their pods.
DRAIN_MINUTES = 30


class Era(StrEnum):
    """Which Azure is rehearsed: the one of the article, or today's."""

    ARTICLE = "article"
    TODAY = "today"

    @property
    def day(self) -> date:
        """The day that it is: the article's nodes are of mid-2021."""
        return date(2021, 7, 1) if self is Era.ARTICLE else today()


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Between how many nodes a pool scales by itself."""

    least: int
    most: int


@dataclass(frozen=True, kw_only=True)
class WantedPool:
    """An agent pool as it shall be."""

    id: str
    name: str
    vm_size: str
    count: int
    version: str
    mode: str = "User"
    os_type: str = "Linux"
    node_image: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    max_pods: int = 110
    disk_gib: int = 128
    is_spot: bool = False
    limits: Limits | None = None
    surge: str = "10%"
    drain_minutes: int = DRAIN_MINUTES
    # How its GPUs come to be seen.
    has_driver: bool = False
    brings_plugin: bool = False
    mig_profile: str | None = None
    # It is being deleted: no node of it shall remain.
    is_going: bool = False
    # What is to be told once the pool is as wanted here.
    operation: str | None = None


@dataclass(frozen=True, kw_only=True)
class WantedCluster:
    """A managed cluster as it shall be."""

    uid: str
    name: str
    group: str
    location: str
    subscription: str
    node_group: str
    services: str = "10.0.0.0/16"
    is_going: bool = False
    # Nothing of it runs, and all that it had is kept.
    is_stopped: bool = False
    operation: str | None = None
    pools: tuple[WantedPool, ...] = ()
    # The names of pools that nobody can make anything of: their nodes stay as they are.
    unreadable: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Refusal:
    """Why there cannot be what an operation asked for."""

    code: str
    message: str


class Source(Protocol):
    """Where the wishes come from."""

    def clusters(self) -> list[WantedCluster]: ...

    def resize(self, pool_id: str, count: int) -> bool:
        """What the autoscaler decided; whether it is so now."""
