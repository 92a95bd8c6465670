from policies.rules.no_public_node_ip import no_public_node_ip
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import CPU, pool_cases


@pool_cases(
    [
        ({}, []),
        ({"enableNodePublicIP": False}, []),
        ({"enableNodePublicIP": True, "vmSize": CPU}, []),
        ({"enableNodePublicIP": True}, [("enableNodePublicIP",)]),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(no_public_node_ip, pool), expected)
