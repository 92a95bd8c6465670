"""GPU sizes are in the pack's table.

The other rules on sizes accept sizes that are not in the table, and do not count their GPUs.
"""

from aks_catalogue.sizes import find
from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, Settings, strings


@PoolRule(
    remedy="Check the name of the size. If it is correct, update the pack, or add the size to "
    "acceptedSizes.",
    tags=("gpu", "aks", "size"),
    settings={
        "acceptedSizes": strings("Sizes to accept although they are not in the table.", default=[]),
    },
)
def gpu_size_unknown(pool: Pool, settings: Settings) -> Findings:
    accepted = {name.lower() for name in settings["acceptedSizes"]}
    for vm_size in pool.gpu_sizes():
        size = find(vm_size)
        if vm_size.lower() in accepted or (size and size.gpus and size.gpu_memory_gib):
            continue
        yield (
            f"has the GPU size {vm_size}, whose GPUs are not in the pack's table: no rule on sizes "
            "checks it. Check its name, update the pack, or add it to the rule's acceptedSizes."
        )
