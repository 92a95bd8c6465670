"""GPU nodes have no public IP addresses.

The rule is off until the configuration gives it a level.
"""

from pulumi_policy import EnforcementLevel, Severity

from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    title="GPU nodes have no public IP addresses",
    description="Nodes of GPU pools have no public IP addresses.",
    level=EnforcementLevel.DISABLED,
    severity=Severity.HIGH,
    remedy="Turn off public IP addresses of nodes, and use a Kubernetes service instead.",
    tags=("gpu", "aks", "security"),
)
def no_public_node_ip(pool: Pool, _: Settings) -> Findings:
    if pool.gpu_sizes() and pool.properties.get("enableNodePublicIP"):
        yield (
            "has GPUs, and each of its nodes has a public IP address. Remove "
            f"{pool.name_of('enableNodePublicIP')}."
        )
