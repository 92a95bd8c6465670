"""GPU nodes encrypt their temporary disks and caches on the host.

The rule is off until the configuration gives it a level. Without encryption, temporary disks and
caches are in clear. It is fixed when the pool is created. The subscription needs the feature:
`az feature register --namespace Microsoft.Compute --name EncryptionAtHost`.
"""

from pulumi_policy import EnforcementLevel

from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    level=EnforcementLevel.DISABLED,
    remedy="Register the feature EncryptionAtHost in the subscription, and turn it on for the "
    "pool. AKS does not change it on an existing pool.",
    tags=("gpu", "aks", "security"),
)
def host_encryption(pool: Pool, _: Settings) -> Findings:
    if pool.gpu_sizes() and not pool.flag("enableEncryptionAtHost"):
        yield (
            "has GPUs and no encryption at host: temporary disks and caches, which can contain "
            f"models and data, are not encrypted. Set {pool.name_of('enableEncryptionAtHost')}."
        )
