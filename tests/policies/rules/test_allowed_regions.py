import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.allowed_regions import allowed_regions
from tests.policies.policy_harness import Resource, findings
from tests.policies.pool_variants import AGENT_POOL, CLUSTER, INLINE_FORMS, Form, every_form

CONFIG = {"regions": ["westeurope", "Sweden Central"]}


@every_form(INLINE_FORMS)
@pytest.mark.parametrize(
    ("location", "found"),
    [
        ("westeurope", []),
        ("West Europe", []),
        ("swedencentral", []),
        ("eastus", ["This cluster is in eastus. Allowed are westeurope, Sweden Central."]),
        ("", []),
    ],
)
def test_clusters_in_every_form(form: Form, location: str, found: list[str]) -> None:
    cluster = Resource(type=form.type, properties={"location": location})
    assert findings(allowed_regions, cluster, config=CONFIG) == found


def test_is_silent_until_it_is_told_which() -> None:
    cluster = Resource(type=CLUSTER.type, properties={"location": UNKNOWN_STRING_VALUE})
    assert findings(allowed_regions, cluster) == []
    assert findings(allowed_regions, cluster, config=CONFIG) == [
        "can't run: string value at .location can't be known during preview"
    ]


def test_pools_are_where_their_cluster_is() -> None:
    pool = Resource(type=AGENT_POOL.type, properties={"location": "eastus"})
    assert findings(allowed_regions, pool, config=CONFIG) == []
