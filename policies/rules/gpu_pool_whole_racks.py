"""Pools of GB200 and GB300 have the nodes of whole racks.

Azure gives these sizes only in multiples of 18, and refuses another number: "Capacity must be a
multiple of 18 for SKUs that support vertical connect". That goes for `count`, for the bounds of the
autoscaler, and for the nodes that an upgrade adds: AKS's default of 10% is 2 of 18.
"""

from aks_catalogue.nodes import surge_nodes
from aks_catalogue.sizes import rack_of
from aks_pools.pools import Machines, Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    remedy="Use a multiple of 18 for count, minCount and maxCount, and let upgrades add no nodes "
    "(upgradeSettings.maxUnavailable) or a rack.",
    tags=("gpu", "aks", "size"),
)
def gpu_pool_whole_racks(pool: Pool, _: Settings) -> Findings:
    for machines in pool.gpu_machines():
        if (rack := rack_of(machines.vm_size)) > 1:
            yield from _broken(pool, machines, rack)


def _broken(pool: Pool, machines: Machines, rack: int) -> Findings:
    racks = f"{machines.vm_size}, which Azure gives only in racks of {rack} nodes"
    given = {machines.initial, machines.least, machines.most}
    numbers = sorted(number for number in given if number)
    for nodes in numbers:
        if nodes % rack:
            yield f"has {nodes} nodes of {racks}. Use a multiple of {rack}."
            return
    upgrade = pool.part("upgradeSettings")
    surge, unavailable = (str(upgrade.get(name) or "") for name in ("maxSurge", "maxUnavailable"))
    for nodes in reversed(numbers):
        more = surge_nodes(nodes, surge, unavailable, is_spot=pool.is_spot())
        if more and more % rack:
            yield (
                f"has {racks}, and an upgrade of {nodes} adds {more}. Set "
                f"upgradeSettings.maxUnavailable, such as 1, or maxSurge to {rack}."
            )
            return
