from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.kubernetes_minimum_version import kubernetes_minimum_version
from tests.policies.policy_harness import Resource, findings
from tests.policies.pool_variants import CLUSTER, CPU, INLINE_FORMS, Form, every_form, pool_cases


@pool_cases(
    [
        ({"orchestratorVersion": None}, []),
        ({"orchestratorVersion": "1.10"}, []),
        ({"orchestratorVersion": "1.9.11"}, ["has Kubernetes 1.9.11; 1.10 is the least."]),
        # It is about all pools: versions of one cluster go together.
        (
            {"orchestratorVersion": "1.9", "vmSize": CPU},
            ["has Kubernetes 1.9; 1.10 is the least."],
        ),
        (
            {"orchestratorVersion": "newest"},
            ["has the version 'newest', which is none: write one as 1.35 or 1.35.2."],
        ),
    ]
)
def test_pools_in_every_form(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    assert findings(kubernetes_minimum_version, form.resource(pool)) == expected


@every_form(INLINE_FORMS)
@pytest.mark.parametrize(
    ("version", "minimum", "found"),
    [
        ("1.35.2", "1.10", []),
        ("1.10", "1.10", []),
        ("1.9.11", "1.10", ["This cluster has Kubernetes 1.9.11; 1.10 is the least."]),
        ("1.33", "1.34", ["This cluster has Kubernetes 1.33; 1.34 is the least."]),
    ],
)
def test_clusters_in_every_form(form: Form, version: str, minimum: str, found: list[str]) -> None:
    cluster = Resource(type=form.type, properties={"kubernetesVersion": version})
    assert findings(kubernetes_minimum_version, cluster, config={"minimum": minimum}) == found


def test_a_version_that_is_not_known_yet_hides_no_other() -> None:
    cluster = Resource(
        type=CLUSTER.type,
        properties={
            "kubernetesVersion": UNKNOWN_STRING_VALUE,
            "agentPoolProfiles": [{"orchestratorVersion": "1.9"}],
        },
    )
    assert findings(kubernetes_minimum_version, cluster) == [
        "The inline pool agentPoolProfiles[0] has Kubernetes 1.9; 1.10 is the least.",
        "can't run: string value at .kubernetesVersion can't be known during preview",
    ]
