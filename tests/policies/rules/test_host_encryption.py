from typing import Any

from policies.rules.host_encryption import host_encryption
from tests.policies.policy_harness import findings
from tests.policies.pool_variants import CPU, Form, pool_cases

FOUND = (
    "has GPUs and no encryption at the host: temporary disks and caches, where models and data lie "
    "while they are used, are in clear. Set <enableEncryptionAtHost>."
)


@pool_cases(
    [
        ({"enableEncryptionAtHost": True}, []),
        ({"enableEncryptionAtHost": False}, [FOUND]),
        ({"enableEncryptionAtHost": None}, [FOUND]),
        ({"enableEncryptionAtHost": None, "vmSize": CPU}, []),
    ]
)
def test_in_every_form(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    assert findings(host_encryption, form.resource(pool)) == expected
