import pytest
from pulumi_policy import EnforcementLevel
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from aks_catalogue.kubernetes import LONG_TERM, OFFICIAL, ON_AKS
from policies.rules.kubernetes_minimum_version import kubernetes_minimum_version
from tests.policies.gpu_stacks import not_known
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import CLUSTER, CPU, pool_cases

# The oldest on AKS, by its table.
LOWEST = next(iter(ON_AKS))
# The oldest with standard support.
SUPPORTED = next(version for version, known in ON_AKS.items() if OFFICIAL in known.plans)


def test_unsupported_versions_are_reported() -> None:
    """The floor was 1.10, from 2018: AKS refused everything below it by itself."""
    # A cluster that is there goes on to take changes: AKS refuses new ones by itself.
    assert kubernetes_minimum_version.enforcement_level is EnforcementLevel.ADVISORY
    assert kubernetes_minimum_version.config_schema is not None
    assert kubernetes_minimum_version.config_schema.properties["minimum"]["default"] == SUPPORTED


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
    ("version", "minimum", "found"),
    [
        ("1.35.2", "1.10", 0),
        ("1.10", "1.10", 0),
        ("1.9.11", "1.10", 1),
        ("1.33", "1.34", 1),
    ],
)
def test_clusters(version: str, minimum: str, found: int) -> None:
    cluster = Resource(type=CLUSTER.type, properties={"kubernetesVersion": version})
    texts = findings(kubernetes_minimum_version, cluster, config={"minimum": minimum})
    assert mention(texts, [(version, minimum)] * found)


@pytest.mark.parametrize(
    ("plan", "version", "least"),
    [
        (None, LOWEST, SUPPORTED),
        (OFFICIAL, LOWEST, SUPPORTED),
        (None, SUPPORTED, None),
        (LONG_TERM, LOWEST, None),
        (LONG_TERM, "1.30", LOWEST),
    ],
)
def test_a_cluster_is_judged_by_its_support_plan(
    plan: str | None, version: str, least: str | None
) -> None:
    """The pack let a version pass which preflight, and AKS, refuse without long-term support."""
    properties = {"kubernetesVersion": version, "supportPlan": plan}
    cluster = Resource(type=CLUSTER.type, properties=properties)
    texts = findings(kubernetes_minimum_version, cluster)
    assert mention(texts, [(version, least)] if least else [])


def test_a_version_that_is_not_known_yet_hides_no_other() -> None:
    cluster = Resource(
        type=CLUSTER.type,
        properties={
            "kubernetesVersion": UNKNOWN_STRING_VALUE,
            "agentPoolProfiles": [{"orchestratorVersion": "1.9"}],
        },
    )
    assert findings(kubernetes_minimum_version, cluster) == [
        "The inline pool agentPoolProfiles[0] has Kubernetes 1.9. Use 1.31 or newer.",
        not_known("string value at .kubernetesVersion", "gpu", CLUSTER.type),
    ]
