"""GPU pools are scaled by AKS: idle GPUs cost as much as busy ones."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from policies.asks import has_managed_gpus
from policies.pools import Pool
from policies.rule import About, Settings, pool_rule

_BOUNDS = ("minCount", "maxCount")


def _judge(pool: Pool, _settings: Settings) -> Iterator[str]:
    # AKS does not scale pools whose GPUs it manages.
    if not pool.gpu_sizes() or has_managed_gpus(pool):
        return
    scaled = pool.said("enableAutoScaling")
    if not pool.properties.get("enableAutoScaling"):
        yield (
            "has GPUs and is not autoscaled: its nodes are paid for whether they are used or not. "
            f"Set {scaled}, minCount and maxCount."
        )
    elif missing := [name for name in _BOUNDS if pool.properties.get(name) is None]:
        yield f"has {scaled} without {' and '.join(missing)}: AKS asks for both bounds."


gpu_pool_autoscaling = pool_rule(
    About(
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
