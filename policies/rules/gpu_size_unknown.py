"""GPU sizes are in the pack's table: of others the rules know too little to judge them.

The other rules on sizes pass what the table does not know.
"""

from catalogue.sizes import find
from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings, strings


@PoolRule(
    title="GPU sizes are known",
    description="The pack's table knows the sizes of GPU node pools, their GPUs and the memory.",
    remedy="Check the name of the size. If it is right, update the pack, or name the size in "
    "acceptedSizes.",
    tags=("gpu", "aks", "size"),
    provisioned=True,
    settings={
        "acceptedSizes": strings("Sizes that the table does not need to know.", default=[]),
    },
)
def gpu_size_unknown(pool: Pool, settings: Settings) -> Findings:
    accepted = {name.lower() for name in settings["acceptedSizes"]}
    for vm_size in pool.gpu_sizes():
        size = find(vm_size)
        if vm_size.lower() in accepted or (size and size.gpus and size.gpu_memory_gib):
            continue
        if size is None:
            yield (
                f"has the GPU size {vm_size}, which the pack's table does not know: no rule on "
                "sizes judges it. Check its name, update the pack, or name the size in the rule's "
                "acceptedSizes."
            )
        else:
            what = "how many GPUs it has" if not size.gpus else "the memory of its GPUs"
            yield (
                f"has {size.name}, of which the pack's table does not know {what}: it cannot be "
                "compared with a floor. Name it in the rule's acceptedSizes if it is large enough."
            )
