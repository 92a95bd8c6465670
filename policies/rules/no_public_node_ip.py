"""Nodes of GPU pools cannot be reached from the internet."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from policies.pools import Pool
from policies.rule import PolicyInfo, Settings, pool_rule


def _judge(pool: Pool, _settings: Settings) -> Iterator[str]:
    if pool.gpu_sizes() and pool.properties.get("enableNodePublicIP"):
        yield (
            "has GPUs, and each of its nodes has a public address. Leave "
            f"{pool.name_of('enableNodePublicIP')} out."
        )


no_public_node_ip = pool_rule(
    PolicyInfo(
        name="no-public-node-ip",
        title="GPU nodes have no public addresses",
        description="Nodes of GPU pools have no public addresses of their own.",
        level=EnforcementLevel.ADVISORY,
        severity=Severity.HIGH,
        remedy="Leave public addresses of nodes out; reach what runs there through a service.",
        tags=("gpu", "aks", "security"),
    ),
    _judge,
)
