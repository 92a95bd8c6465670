import pytest
from pulumi_policy.proxy import (
    UNKNOWN_STRING_VALUE,
)

from policies.rules.gpu_image_retired import gpu_image_retired
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import VALID, pool_cases

POOL = "aks-preview:containerservice:AgentPool"
CLUSTER = "aks-preview:containerservice:ManagedCluster"
INSTEAD = (
    "Azure retired the specialized GPU image on 2025-01-10. Use the default image, with the NVIDIA "
    "device plugin or the GPU Operator."
)
FEATURE = "GPUDedicatedVHDPreview"


HEADER, NAMED = "AKSHTTPCustomFeatures", f"Microsoft.ContainerService/{FEATURE}"


@pytest.mark.parametrize("resource_type", [POOL, CLUSTER])
@pytest.mark.parametrize(
    ("headers", "named"),
    [
        ({HEADER: NAMED}, [HEADER]),
        ({HEADER: f"a/b, {NAMED}"}, [HEADER]),
        ({HEADER: "Microsoft.ContainerService/Other", "UseGPUDedicatedVHD": "false"}, []),
        ({"usegpudedicatedvhd": "True", "usegen2vm": "true"}, ["usegpudedicatedvhd", "usegen2vm"]),
        ({"OSImageName": UNKNOWN_STRING_VALUE, "EnableUltraSSD": "true"}, ["EnableUltraSSD"]),
        ({"EnableACRTeleport": "false", "UseWindowsGen2VM": "true"}, []),
    ],
)
def test_headers(resource_type: str, headers: dict[str, str], named: list[str]) -> None:
    resource = Resource(type=resource_type, properties={**VALID, "customHeaders": headers})
    found = findings(gpu_image_retired, resource)
    for line, name in zip(found, named, strict=True):
        assert line.startswith(("The custom header ", "AKS retired the header "))
        assert f"header {name} " in line


@pytest.mark.parametrize(
    ("resource_type", "key"),
    [
        ("aks-preview:features:FeatureRegistration", "featureName"),
        ("azure-native:features:SubscriptionFeatureRegistration", "featureName"),
        ("azure-native:features/v20210701:SubscriptionFeatureRegistration", "featureName"),
        (
            "azure:core/resourceProviderFeatureRegistration:ResourceProviderFeatureRegistration",
            "name",
        ),
    ],
)
def test_the_feature(resource_type: str, key: str) -> None:
    asked = Resource(type=resource_type, properties={key: FEATURE})
    other = Resource(type=resource_type, properties={key: "Other"})
    assert findings(gpu_image_retired, asked) == [
        f"This resource registers the feature {FEATURE}. {INSTEAD}"
    ]
    assert findings(gpu_image_retired, other) == []


@pool_cases(
    [
        ({}, []),
        ({"tags": {"SkipGPUDriverInstall": "false"}}, []),
        ({"tags": {"SkipGPUDriverInstall": "true"}}, [("2025-08-14", "gpuProfile.driver")]),
    ]
)
def test_the_tag(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_image_retired, pool), expected)
