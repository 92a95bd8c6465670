"""The rule's cases, handed over as the engine does: proxied, with values that are not known yet."""

from typing import Any

import pytest
from pulumi_policy import PolicyResourceOptions, ResourceValidationArgs
from pulumi_policy.proxy import (
    UNKNOWN_ARRAY_VALUE,
    UNKNOWN_STRING_VALUE,
    UnknownValueError,
    unknown_checking_proxy,
)

from policies.gpu_pool_linux_only import gpu_pool_linux_only

AGENT_POOL = "azure-native:containerservice:AgentPool"
CLUSTER = "azure-native:containerservice:ManagedCluster"
GPU = "Standard_NC8as_T4_v3"
CPU = "Standard_D4ds_v5"
VALID = {"agentPoolName": "gpu", "vmSize": GPU, "osType": "Linux"}


def findings(resource_type: str, properties: dict[str, Any]) -> list[str]:
    found: list[str] = []

    def report(message: str, urn: str | None) -> None:
        assert urn is None, "the finding is the resource's own"
        found.append(message)

    options = PolicyResourceOptions(False, [], False, None, [], None, [])  # type: ignore[arg-type]
    args = ResourceValidationArgs(
        resource_type,
        unknown_checking_proxy(properties),
        "urn:pulumi:dev::aks-gpu::resource::gpu",
        "gpu",
        options,
        None,
    )
    gpu_pool_linux_only.validate(args, report)
    return found


@pytest.mark.parametrize(
    ("resource_type", "properties"),
    [
        (AGENT_POOL, VALID),
        (AGENT_POOL, {"vmSize": GPU}),
        (AGENT_POOL, VALID | {"osType": "Windows", "vmSize": CPU}),
        (AGENT_POOL, VALID | {"vmSize": UNKNOWN_STRING_VALUE}),
        (CLUSTER, {}),
        (CLUSTER, {"agentPoolProfiles": [VALID, {"vmSize": CPU, "osType": "Windows"}]}),
        ("azure-native:compute:VirtualMachine", VALID | {"osType": "Windows"}),
        ("azure-native:compute:VirtualMachine", {"osType": UNKNOWN_STRING_VALUE}),
    ],
)
def test_passes(resource_type: str, properties: dict[str, Any]) -> None:
    assert findings(resource_type, properties) == []


@pytest.mark.parametrize("os_type", ["Windows", "windows"])
@pytest.mark.parametrize("vm_size", [GPU, GPU.lower(), "Standard_NC999_of_tomorrow"])
@pytest.mark.parametrize(
    "resource_type",
    [
        AGENT_POOL,
        "azure-native:containerservice/v20250901:AgentPool",
        "aks-preview:containerservice:AgentPool",
    ],
)
def test_refuses_a_pool(resource_type: str, vm_size: str, os_type: str) -> None:
    assert findings(resource_type, VALID | {"osType": os_type, "vmSize": vm_size}) == [
        f"This pool has the GPU size {vm_size} and runs {os_type}. GPU pools are for Linux only: "
        "set osType to Linux, or take a size without GPUs."
    ]


@pytest.mark.parametrize(
    "resource_type",
    [
        CLUSTER,
        "azure-native:containerservice/v20240902preview:ManagedCluster",
        "aks-preview:containerservice:ManagedCluster",
    ],
)
def test_refuses_each_inline_pool_that_breaks_it(resource_type: str) -> None:
    windows = VALID | {"osType": "Windows"}
    found = findings(resource_type, {"agentPoolProfiles": [windows, VALID, windows]})

    assert [message.partition(" has ")[0] for message in found] == [
        "The inline pool agentPoolProfiles[0]",
        "The inline pool agentPoolProfiles[2]",
    ]


@pytest.mark.parametrize(
    ("resource_type", "properties"),
    [
        (AGENT_POOL, VALID | {"osType": UNKNOWN_STRING_VALUE}),
        (AGENT_POOL, VALID | {"osType": "Windows", "vmSize": UNKNOWN_STRING_VALUE}),
        (CLUSTER, {"agentPoolProfiles": UNKNOWN_ARRAY_VALUE}),
    ],
)
def test_says_that_it_cannot_run_where_it_cannot_know(
    resource_type: str, properties: dict[str, Any]
) -> None:
    with pytest.raises(UnknownValueError):
        findings(resource_type, properties)
