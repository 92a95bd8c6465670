"""GPU pools do not use retired VM sizes.

The finding has the day of the retirement and the size to move to. The pack cannot see whether the
pool already exists, so the rule only advises: an existing stack must still take changes. `aksgpu
review` can see it, and refuses new pools.
"""

from pulumi_policy import Severity

from aks_catalogue.retirement import SUCCESSORS, has_passed
from aks_catalogue.sizes import find
from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    severity=Severity.HIGH,
    remedy="Use the successor that the finding names.",
    tags=("gpu", "aks", "retired", "size"),
)
def gpu_size_retired(pool: Pool, _: Settings) -> Findings:
    for size in filter(None, map(find, pool.sizes())):
        if has_passed(size.retired_on):
            yield (
                f"has {size.name}, which Azure retired on {size.retired_on}. "
                f"Use {SUCCESSORS[size.family]} instead."
            )
