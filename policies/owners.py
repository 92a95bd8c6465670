"""Which software brings each GPU pool its driver and device plugin, and with what certainty."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from aks_pools.gpu_requests import (
    driver_by_aks,
    driver_is_left_out,
    has_managed_gpus,
    has_specialized_image,
)
from aks_pools.pools import Pool, nvidia_gpus
from policies.certainty import Certainty, StackFinding
from policies.gpu_nodes import (
    Clusters,
    StackPool,
    brings_dra,
    brings_driver,
    brings_plugin,
    lands,
    nvidia_pools,
)
from policies.gpu_software import Software, software_in
from policies.scheduling import is_selected
from policies.stack_rule import Members
from policies.unknowns import Unknowns


@dataclass(frozen=True)
class Owners:
    """The software of the stack that runs on a pool, with its certainty."""

    stack_pool: StackPool
    plugins: Sequence[tuple[Certainty, Software]]
    drivers: Sequence[tuple[Certainty, Software]]
    dra: Sequence[tuple[Certainty, Software]]
    # Whether unknown values may contain a driver.
    unsure: bool

    @property
    def _pool(self) -> Pool:
        return self.stack_pool.pool

    @property
    def label(self) -> str:
        return self._pool.label

    @property
    def urn(self) -> str:
        return self.stack_pool.member.urn

    @property
    def without_driver(self) -> bool:
        pool = self._pool
        return not (self.drivers or self.unsure or driver_by_aks(pool) or _built_in(pool))

    @property
    def why_without_driver(self) -> str:
        if driver_is_left_out(self._pool):
            return "has gpuProfile.driver None"
        return f"uses {' and '.join(self._pool.gpu_sizes())}, on which AKS installs no driver"

    @property
    def instead(self) -> str:
        return "let AKS install the driver, " if driver_is_left_out(self._pool) else ""

    def twice(self) -> Iterator[StackFinding]:
        """Yields a finding if several owners bring the device plugin, or the driver."""
        built_in = [(Certainty.CERTAIN, label) for label in _built_in(self._pool)]
        by_azure = built_in or [(driver_by_aks(self._pool), "AKS")]
        yield from self._several(
            built_in,
            self.plugins,
            lambda gets, owners: (
                f"{gets} the device plugin from {owners}. Two device plugins on a node make its "
                "GPUs disappear: keep all but one off the pool, with node affinity or taints."
            ),
        )
        yield from self._with_dra(built_in)
        yield from self._several(
            by_azure,
            self.drivers,
            lambda gets, owners: (
                f"{gets} its driver from {owners}. Set gpuProfile.driver of the pool to None, or "
                "driver.enabled of the GPU Operator to false."
            ),
        )

    def _with_dra(self, built_in: Sequence[tuple[Certainty, str]]) -> Iterator[StackFinding]:
        """Yields a finding if a DRA driver runs beside a device plugin."""
        beside = [
            (min(how, certainty), label, driver.label)
            for how, driver in self.dra
            for certainty, label in (
                *built_in,
                *(
                    (certainty, plugin.label)
                    for certainty, plugin in self.plugins
                    if self._can_share_a_node((plugin, driver))
                ),
            )
        ]
        if not beside:
            return
        certainty, plugin, driver = max(beside, key=lambda found: found[0])
        certainty = min(certainty, nvidia_gpus(self._pool))
        gets = "gets" if certainty is Certainty.CERTAIN else "can get"
        text = (
            f"{gets} the device plugin from {plugin}, and a DRA driver from {driver}. Each gives "
            "the same GPUs to pods: keep one of them off the pool, or set resources.gpus.enabled "
            "of the DRA driver to false."
        )
        yield certainty, f"{self.label} {text}", self.urn

    def _several(
        self,
        by_azure: Sequence[tuple[Certainty, str]],
        by_software: Sequence[tuple[Certainty, Software]],
        message: Callable[[str, str], str],
    ) -> Iterator[StackFinding]:
        for least, gets in ((Certainty.CERTAIN, "gets"), (Certainty.POSSIBLE, "can get")):
            software = [item for certainty, item in by_software if certainty >= least]
            azure_labels = [label for certainty, label in by_azure if certainty >= least]
            labels = dict.fromkeys([*azure_labels, *_labels(software)])
            overlap = azure_labels or any(map(self._can_share_a_node, combinations(software, 2)))
            if len(labels) > 1 and overlap:
                certainty = min(least, nvidia_gpus(self._pool))
                verb = gets if certainty is least else "can get"
                text = message(verb, " and from ".join(labels))
                yield certainty, f"{self.label} {text}", self.urn
                return

    def _can_share_a_node(self, pair: tuple[Software, Software]) -> bool:
        """Whether both can run on one node: their selectors may exclude each other."""
        first, second = pair
        selected = is_selected(self._pool, first.pods, second.pods)
        return _are_different(first, second) and bool(selected)


def _are_different(first: Software, second: Software) -> bool:
    """Whether these are two pieces of software.

    A Helm release of the GPU Operator and its ClusterPolicy are one.
    """
    one_operator = (
        first.is_operator and second.is_operator and first.member.type != second.member.type
    )
    return first.member.urn != second.member.urn and not one_operator


def _labels(software: Sequence[Software]) -> list[str]:
    """Returns the labels, with the resource names if two labels are the same."""
    ambiguous = {
        first.label
        for first, second in combinations(software, 2)
        if first.label == second.label and _are_different(first, second)
    }
    return [
        f"{item.label} {item.member.name}" if item.label in ambiguous else item.label
        for item in software
    ]


def owners(members: Members, unknowns: Unknowns) -> Iterator[Owners]:
    """Yields the owners of each pool. An unknown value hides only findings about itself."""
    software, clusters = software_in(members, unknowns), Clusters(members)
    some_are_unknown = unknowns.met
    for stack_pool in nvidia_pools(members, unknowns):
        plugins, drivers, dra, unknown_drivers = [], [], [], Unknowns()
        for item in software:
            with unknowns.deferred():
                plugins += _landing(item, brings_plugin(stack_pool, item), stack_pool, clusters)
            with unknowns.deferred():
                dra += _landing(item, brings_dra(stack_pool, item), stack_pool, clusters)
            with unknowns.deferred(), unknown_drivers.deferred(again=True):
                drivers += _landing(item, brings_driver(stack_pool, item), stack_pool, clusters)
        yield Owners(stack_pool, plugins, drivers, dra, some_are_unknown or unknown_drivers.met)


def _landing(
    software: Software, brings: bool, stack_pool: StackPool, clusters: Clusters
) -> list[tuple[Certainty, Software]]:
    certainty = lands(stack_pool, software, clusters) if brings else Certainty.NO
    return [(certainty, software)] if certainty else []


def _built_in(pool: Pool) -> list[str]:
    """Returns the owners that the pool has without software on the cluster."""
    if has_specialized_image(pool):
        return ["the specialized image"]
    return ["AKS, which manages its GPUs"] if has_managed_gpus(pool) else []
