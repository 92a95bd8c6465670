import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.required_tags import required_tags
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import AGENT_POOL, CLUSTER, VALID

CONFIG = {"tags": ["owner", "costCenter"]}


@pytest.mark.parametrize(
    ("tags", "missing"),
    [
        ({"owner": "a", "costCenter": "b"}, ""),
        ({"Owner": "a", "costcenter": "b", "more": "c"}, ""),
        ({"owner": "a"}, "costCenter"),
        ({"owner": UNKNOWN_STRING_VALUE}, "costCenter"),
        (None, "owner, costCenter"),
    ],
)
def test_pools_and_clusters(tags: dict[str, str] | None, missing: str) -> None:
    for form in (AGENT_POOL, CLUSTER):
        resource = Resource(type=form.type, properties={"tags": tags} if tags else {})
        expected = [(missing,)] if missing else []
        assert mention(findings(required_tags, resource, config=CONFIG), expected)


def test_reports_nothing_without_settings() -> None:
    assert findings(required_tags, AGENT_POOL.resource({**VALID, "tags": {}})) == []


def test_other_resources_may_have_others() -> None:
    group = Resource(type="azure-native:resources:ResourceGroup", properties={})
    assert findings(required_tags, group, config=CONFIG) == []
