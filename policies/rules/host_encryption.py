"""Nodes of GPU pools encrypt their disks and caches where they are: on the host.

Without it, temporary disks and caches are not encrypted. It is fixed when the pool is created. The
subscription needs the feature: `az feature register --namespace Microsoft.Compute --name
EncryptionAtHost`.
"""

from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    title="GPU nodes encrypt at the host",
    description="GPU node pools have encryption at the host.",
    remedy="Register the feature EncryptionAtHost in the subscription, and turn it on for the "
    "pool; it is fixed when the pool is made.",
    tags=("gpu", "aks", "security"),
)
def host_encryption(pool: Pool, _: Settings) -> Findings:
    if pool.gpu_sizes() and not pool.properties.get("enableEncryptionAtHost"):
        yield (
            "has GPUs and no encryption at the host: temporary disks and caches, where models and "
            "data lie while they are used, are in clear. Set "
            f"{pool.name_of('enableEncryptionAtHost')}."
        )
