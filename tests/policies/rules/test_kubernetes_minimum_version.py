import pytest
from pulumi_policy import EnforcementLevel

from aks_catalogue.kubernetes import LONG_TERM, OFFICIAL, ON_AKS
from policies.rules.kubernetes_minimum_version import kubernetes_minimum_version
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import CLUSTER, CPU, pool_cases

# The oldest on AKS, by its table.
LOWEST = next(iter(ON_AKS))
# The oldest with standard support.
SUPPORTED = next(version for version, known in ON_AKS.items() if OFFICIAL in known.plans)


@pool_cases(
    [
        ({"orchestratorVersion": None}, []),
        ({"orchestratorVersion": LOWEST}, []),
        ({"orchestratorVersion": "1.30.14"}, [("Kubernetes 1.30.14", LOWEST)]),
        # It is about all pools: versions of one cluster go together.
        ({"orchestratorVersion": "1.9", "vmSize": CPU}, [("Kubernetes 1.9", LOWEST)]),
        ({"orchestratorVersion": "newest"}, []),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(kubernetes_minimum_version, pool), expected)


@pytest.mark.parametrize(
    ("plan", "version", "config", "least"),
    [
        (None, "1.10", {"minimum": "1.10"}, None),
        (LONG_TERM, "1.9", {"minimum": "1.10"}, "1.10"),
        (None, LOWEST, {}, SUPPORTED),
        (OFFICIAL, LOWEST, {}, SUPPORTED),
        (None, SUPPORTED, {}, None),
        (LONG_TERM, LOWEST, {}, None),
        (LONG_TERM, "1.30", {}, LOWEST),
    ],
)
def test_a_cluster_is_judged_by_its_support_plan(
    plan: str | None, version: str, config: dict[str, str], least: str | None
) -> None:
    """The pack let a version pass which preflight, and AKS, refuse without long-term support."""
    # A cluster that is there goes on to take changes: AKS refuses new ones by itself.
    assert kubernetes_minimum_version.enforcement_level is EnforcementLevel.ADVISORY
    properties = {"kubernetesVersion": version, "supportPlan": plan}
    cluster = Resource(type=CLUSTER.type, properties=properties)
    texts = findings(kubernetes_minimum_version, cluster, config=config)
    assert mention(texts, [(version, least)] if least else [])
