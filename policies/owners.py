"""Who brings driver and device plugin to each GPU pool of a stack, and how sure that is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from policies.certainty import Certainty, Weighed
from policies.gpu_nodes import (
    Clusters,
    StackPool,
    brings_driver,
    brings_plugin,
    lands,
    nvidia_pools,
)
from policies.gpu_requests import (
    driver_by_aks,
    driver_is_left_out,
    has_managed_gpus,
    has_specialized_image,
)
from policies.gpu_software import Software, software_in
from policies.pools import Pool, nvidia_gpus
from policies.scheduling import is_selected
from policies.stack_rule import Members
from policies.unknowns import Unknowns


@dataclass(frozen=True)
class Owners:
    """The software of the stack that runs on a pool, with its certainty."""

    found: StackPool
    plugins: Sequence[tuple[Certainty, Software]]
    drivers: Sequence[tuple[Certainty, Software]]
    # Whether unknown values may contain a driver.
    unsure: bool

    @property
    def label(self) -> str:
        return self.found.pool.label

    @property
    def urn(self) -> str:
        return self.found.member.urn

    @property
    def without_driver(self) -> bool:
        pool = self.found.pool
        return not (self.drivers or self.unsure or driver_by_aks(pool) or _own(pool))

    @property
    def why_without_driver(self) -> str:
        if driver_is_left_out(self.found.pool):
            return "has gpuProfile.driver None"
        return f"has {' and '.join(self.found.pool.gpu_sizes())}, for which AKS has no driver"

    @property
    def instead(self) -> str:
        return "let AKS install the driver, " if driver_is_left_out(self.found.pool) else ""

    def twice(self) -> Iterator[Weighed]:
        """Yields what the pool gets, or can get, from several owners."""
        own = [(Certainty.CERTAIN, label) for label in _own(self.found.pool)]
        by_aks = own or [(driver_by_aks(self.found.pool), "AKS")]
        yield from self._several(
            own,
            self.plugins,
            lambda gets, owners: (
                f"{gets} the device plugin from {owners}. Two device plugins on a node make its "
                "GPUs disappear: keep all but one off the pool, with node affinity or taints."
            ),
        )
        yield from self._several(
            by_aks,
            self.drivers,
            lambda gets, owners: (
                f"{gets} its driver from {owners}. Set gpuProfile.driver of the pool to None, or "
                "driver.enabled of the GPU Operator to false."
            ),
        )

    def _several(
        self,
        own: Sequence[tuple[Certainty, str]],
        software: Sequence[tuple[Certainty, Software]],
        message: Callable[[str, str], str],
    ) -> Iterator[Weighed]:
        for certainty, gets in ((Certainty.CERTAIN, "gets"), (Certainty.POSSIBLE, "can get")):
            those = [one for sure, one in software if sure >= certainty]
            owning = [label for sure, label in own if sure >= certainty]
            labels = dict.fromkeys([*owning, *_labels(those)])
            if len(labels) > 1 and (owning or any(map(self._meet, combinations(those, 2)))):
                sure = min(certainty, nvidia_gpus(self.found.pool))
                text = message(gets if sure is certainty else "can get", " and from ".join(labels))
                yield sure, f"{self.label} {text}", self.urn
                return

    def _meet(self, two: tuple[Software, Software]) -> bool:
        """Whether both can run on one node: their selectors may exclude each other."""
        first, second = two
        chosen = is_selected(self.found.pool, first.pods, second.pods)
        return _are_two(first, second) and bool(chosen)


def _are_two(first: Software, second: Software) -> bool:
    """Whether two are different: a release of the operator and its ClusterPolicy are one."""
    of_one = first.is_operator and second.is_operator and first.member.type != second.member.type
    return first.member.urn != second.member.urn and not of_one


def _labels(software: Sequence[Software]) -> list[str]:
    """Returns the labels, with the resource names if two labels are the same."""
    several = {
        one.label
        for one, other in combinations(software, 2)
        if one.label == other.label and _are_two(one, other)
    }
    return [
        f"{one.label} {one.member.name}" if one.label in several else one.label for one in software
    ]


def owners(members: Members, unknowns: Unknowns) -> Iterator[Owners]:
    """Yields the owners of each pool. An unknown value hides only findings about itself."""
    software, clusters = software_in(members, unknowns), Clusters(members)
    some_are_unknown = unknowns.met
    for found in nvidia_pools(members, unknowns):
        plugins, drivers, ways = [], [], Unknowns()
        for one in software:
            with unknowns.deferred():
                plugins += _landing(one, brings_plugin(found, one), found, clusters)
            with unknowns.deferred(), ways.deferred(again=True):
                drivers += _landing(one, brings_driver(found, one), found, clusters)
        yield Owners(found, plugins, drivers, some_are_unknown or ways.met)


def _landing(
    software: Software, brings: bool, found: StackPool, clusters: Clusters
) -> list[tuple[Certainty, Software]]:
    sure = lands(found, software, clusters) if brings else Certainty.NO
    return [(sure, software)] if sure else []


def _own(pool: Pool) -> list[str]:
    """Returns the owners that the pool has without software on the cluster."""
    if has_specialized_image(pool):
        return ["the specialized image"]
    return ["AKS, which manages its GPUs"] if has_managed_gpus(pool) else []
