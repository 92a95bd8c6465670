from policies.rules.host_encryption import host_encryption
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import CPU, pool_cases

FOUND = ("enableEncryptionAtHost",)


@pool_cases(
    [
        ({"enableEncryptionAtHost": True}, []),
        ({"enableEncryptionAtHost": False}, [FOUND]),
        ({"enableEncryptionAtHost": None}, [FOUND]),
        ({"enableEncryptionAtHost": None, "vmSize": CPU}, []),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(host_encryption, pool), expected)
