"""Whether the parts of the GPU Operator fit together, and fit what AKS installs."""

from collections.abc import Iterator
from itertools import product

from aks_catalogue.gpu_operator import AKS_RUNTIME
from aks_catalogue.shapes import mapping
from policies.certainty import Certainty, StackFinding
from policies.gpu_nodes import (
    Clusters,
    StackPool,
    brings_driver,
    brings_toolkit,
    lands,
    nvidia_pools,
    serves,
)
from policies.gpu_requests import driver_by_aks
from policies.gpu_software import Software, software_in
from policies.pools import nvidia_gpus
from policies.stack_rule import Members
from policies.unknowns import Unknowns

_DEFAULT_RUNTIME = "nvidia"
_UNSURE = " Whether the operator serves this pool, with these values, is not certain."


def incoherent_operators(members: Members, unknowns: Unknowns) -> Iterator[StackFinding]:
    """Yields the pools for which the parts of an operator do not fit together."""
    operators = [item for item in software_in(members, unknowns) if item.has_policy]
    clusters = Clusters(members)

    def judge(pair: tuple[StackPool, Software]) -> Iterator[StackFinding]:
        found, operator = pair
        if not serves(found, operator) or not (why := _why_incoherent(found, operator)):
            return
        certainty = min(lands(found, operator, clusters), nvidia_gpus(found.pool))
        unsure = "" if certainty is Certainty.CERTAIN else _UNSURE
        yield certainty, f"{found.pool.label} {why}{unsure}", found.member.urn

    pools = list(nvidia_pools(members, unknowns))
    yield from unknowns.each(product(pools, operators), judge)


def _why_incoherent(found: StackPool, operator: Software) -> str:
    driver, toolkit = brings_driver(found, operator), brings_toolkit(found, operator)
    if driver and not toolkit:
        return (
            f"gets its driver from {operator.label}, but no container toolkit, so no container "
            "gets a GPU. Set toolkit.enabled to true, or driver.enabled to false too, if AKS "
            "installs the driver."
        )
    if toolkit and not driver:
        return (
            f"gets the container toolkit from {operator.label}, but not its driver: the toolkit "
            "overwrites the container runtime that belongs to the driver. Set toolkit.enabled to "
            "false, or driver.enabled to true too, and gpuProfile.driver of the pool to None."
        )
    runtime = mapping(operator.values.get("operator")).get("runtimeClass") or _DEFAULT_RUNTIME
    if driver or driver_by_aks(found.pool) is not Certainty.CERTAIN or runtime == AKS_RUNTIME:
        return ""
    return (
        f"has AKS's container runtime, {AKS_RUNTIME}, and {operator.label} asks for {runtime}, "
        f"so its pods do not start. Set operator.runtimeClass to {AKS_RUNTIME}."
    )
