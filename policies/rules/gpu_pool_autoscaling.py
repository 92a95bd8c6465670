"""GPU pools are scaled by AKS: idle GPUs cost as much as busy ones."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from policies.gpu_requests import has_managed_gpus
from policies.pools import Pool
from policies.rule import PolicyInfo, Settings, pool_rule


def _judge(pool: Pool, _settings: Settings) -> Iterator[str]:
    # AKS does not scale pools whose GPUs it manages.
    machines = pool.gpu_machines()
    if not machines or has_managed_gpus(pool):
        return
    if not all(one.autoscaled for one in machines):
        yield (
            "has GPUs and is not autoscaled: its nodes are paid for whether they are used or not. "
            f"Set {pool.scaled_by}, minCount and maxCount."
        )
        return
    bounds = {
        "minCount": [one.least for one in machines],
        "maxCount": [one.most for one in machines],
    }
    if missing := [name for name, said in bounds.items() if None in said]:
        yield f"has {pool.scaled_by} without {' and '.join(missing)}: AKS asks for both bounds."


gpu_pool_autoscaling = pool_rule(
    PolicyInfo(
        name="gpu-pool-autoscaling",
        title="GPU pools are autoscaled",
        description="GPU node pools are autoscaled, between a least and a most of nodes.",
        level=EnforcementLevel.ADVISORY,
        severity=Severity.MEDIUM,
        remedy="Turn autoscaling on, with minCount and maxCount.",
        tags=("gpu", "aks", "cost"),
    ),
    _judge,
)
