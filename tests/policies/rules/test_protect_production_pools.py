import pytest

from policies.rules.protect_production_pools import protect_production_pools
from tests.policies.policy_harness import findings, mention
from tests.policies.pool_variants import AGENT_POOL, CLUSTER, CPU, VALID, changed


@pytest.mark.parametrize(
    ("stack", "protect", "found"), [("prod", False, 1), ("prod", True, 0), ("dev", False, 0)]
)
def test_pools(stack: str, protect: bool, found: int) -> None:
    pool = AGENT_POOL.resource(VALID, stack=stack, protect=protect)
    words = "This pool", "Set the resource option protect on it."
    assert mention(findings(protect_production_pools, pool), [words] * found)


def test_which_stacks_are_production_is_a_setting() -> None:
    pool = AGENT_POOL.resource(VALID, stack="live")
    config = {"productionStacks": ["live"]}
    assert len(findings(protect_production_pools, pool, config=config)) == 1


def test_pools_without_gpus_are_left_to_others() -> None:
    for form in (AGENT_POOL, CLUSTER):
        of_cpus = form.resource(changed({"vmSize": CPU}), stack="prod")
        assert findings(protect_production_pools, of_cpus) == []


def test_the_cluster_protects_its_inline_pools() -> None:
    """They were passed, whatever the cluster's protection was."""
    found = findings(protect_production_pools, CLUSTER.resource(VALID, stack="prod"))
    assert mention(found, [(CLUSTER.label, "Set the resource option protect on the cluster.")])
    protected = CLUSTER.resource(VALID, stack="prod", protect=True)
    assert findings(protect_production_pools, protected) == []
