import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.allowed_regions import allowed_regions
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import AGENT_POOL, CLUSTER

CONFIG = {"regions": ["westeurope", "Sweden Central"]}


@pytest.mark.parametrize(
    ("location", "found"),
    [
        ("westeurope", 0),
        ("West Europe", 0),
        ("swedencentral", 0),
        ("eastus", 1),
        ("", 0),
    ],
)
def test_clusters(location: str, found: int) -> None:
    cluster = Resource(type=CLUSTER.type, properties={"location": location})
    words = location, *CONFIG["regions"]
    assert mention(findings(allowed_regions, cluster, config=CONFIG), [words] * found)


def test_reports_nothing_without_settings() -> None:
    cluster = Resource(type=CLUSTER.type, properties={"location": UNKNOWN_STRING_VALUE})
    assert findings(allowed_regions, cluster) == []
    assert findings(allowed_regions, cluster, config=CONFIG) == [
        "can't run: string value at .location can't be known during preview"
    ]


def test_pools_are_where_their_cluster_is() -> None:
    pool = Resource(type=AGENT_POOL.type, properties={"location": "eastus"})
    assert findings(allowed_regions, pool, config=CONFIG) == []
