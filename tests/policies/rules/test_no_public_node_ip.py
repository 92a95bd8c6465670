from typing import Any

from policies.rules.no_public_node_ip import no_public_node_ip
from tests.policies.policy_harness import findings
from tests.policies.pool_variants import CPU, Form, pool_cases


@pool_cases(
    [
        ({}, []),
        ({"enableNodePublicIP": False}, []),
        ({"enableNodePublicIP": True, "vmSize": CPU}, []),
        (
            {"enableNodePublicIP": True},
            [
                "has GPUs, and each of its nodes has a public address. Leave <enableNodePublicIP> "
                "out."
            ],
        ),
    ]
)
def test_in_every_form(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    assert findings(no_public_node_ip, form.resource(pool)) == expected
