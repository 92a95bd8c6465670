from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_OBJECT_VALUE, UNKNOWN_STRING_VALUE

from policies.rules.gpu_pool_linux_only import gpu_pool_linux_only
from tests.policies.gpu_stacks import not_known
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import AGENT_POOL, CLUSTER, CPU, VALID, changed, pool_cases

T4 = "Standard_NC8as_T4_v3"


def machines(**scale: Any) -> dict[str, Any]:
    return {"osType": "Windows", "vmSize": None, "virtualMachinesProfile": {"scale": scale}}


# It said that GPU pools support only Linux: AKS has Windows GPU pools, as a preview.
REFUSED = (T4, "Windows", "osType", "This pack accepts GPUs only on Linux", "or except the pool")


@pool_cases(
    [
        ({}, []),
        ({"osType": None}, []),
        ({"osType": "linux"}, []),
        ({"osType": "Windows"}, [REFUSED]),
        ({"osType": "windows", "vmSize": T4.lower()}, [(T4.lower(), "windows")]),
        ({"osType": "Windows", "vmSize": "Standard_NC9_v9"}, [("Standard_NC9_v9",)]),
        ({"osType": "Windows", "vmSize": CPU}, []),
        (machines(manual=[{"size": CPU}, {"size": T4}]), [REFUSED]),
        (machines(autoscale={"sizes": [T4, CPU]}), [REFUSED]),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_pool_linux_only, pool), expected)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"vmSize": UNKNOWN_STRING_VALUE}, []),
        ({"vmSize": UNKNOWN_STRING_VALUE, "osType": "Windows"}, [".vmSize"]),
        ({"osType": UNKNOWN_STRING_VALUE}, [".osType"]),
    ],
)
def test_no_more_is_read_than_is_needed(changes: dict[str, Any], expected: list[str]) -> None:
    found = findings(gpu_pool_linux_only, AGENT_POOL.resource(changed(changes)))
    assert found == [not_known(f"string value at {path}", "gpu") for path in expected]


def test_an_unknown_value_of_one_pool_hides_no_finding_of_another() -> None:
    windows = {**VALID, "osType": "Windows"}
    unknown = {**VALID, "osType": UNKNOWN_STRING_VALUE}
    profiles = [windows, unknown, UNKNOWN_OBJECT_VALUE, VALID, windows]
    cluster = Resource(type=CLUSTER.type, properties={"agentPoolProfiles": profiles})

    found = findings(gpu_pool_linux_only, cluster)

    assert [text.partition(" has ")[0] for text in found] == [
        "The inline pool agentPoolProfiles[0]",
        "The inline pool agentPoolProfiles[4]",
        not_known("string value at .agentPoolProfiles.1.osType", "gpu", CLUSTER.type)
        + f"; Object value at .agentPoolProfiles.2 of gpu ({CLUSTER.type}) can't be known during "
        "preview",
    ]
