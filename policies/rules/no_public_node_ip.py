"""Nodes of GPU pools cannot be reached from the internet."""

from pulumi_policy import Severity

from policies.pools import Pool
from policies.rule import Findings, PoolRule, Settings


@PoolRule(
    title="GPU nodes have no public addresses",
    description="Nodes of GPU pools have no public addresses of their own.",
    severity=Severity.HIGH,
    remedy="Leave public addresses of nodes out; reach what runs there through a service.",
    tags=("gpu", "aks", "security"),
)
def no_public_node_ip(pool: Pool, _: Settings) -> Findings:
    if pool.gpu_sizes() and pool.properties.get("enableNodePublicIP"):
        yield (
            "has GPUs, and each of its nodes has a public address. Leave "
            f"{pool.name_of('enableNodePublicIP')} out."
        )
