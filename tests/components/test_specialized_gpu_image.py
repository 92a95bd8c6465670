from collections.abc import Callable

import pytest

from components import (
    InfinibandFeature,
    InfinibandFeatureArgs,
    ManagedGpuFeature,
    ManagedGpuFeatureArgs,
    SpecializedGpuImage,
    SpecializedGpuImageArgs,
)
from tests.conftest import Deploy


@pytest.mark.parametrize(
    ("make", "kind", "feature"),
    [
        (
            lambda: SpecializedGpuImage("it", SpecializedGpuImageArgs()),
            "SpecializedGpuImage",
            "GPUDedicatedVHDPreview",
        ),
        (
            lambda: ManagedGpuFeature("it", ManagedGpuFeatureArgs()),
            "ManagedGpuFeature",
            "ManagedGPUExperiencePreview",
        ),
        (
            lambda: InfinibandFeature("it", InfinibandFeatureArgs()),
            "InfinibandFeature",
            "AKSInfinibandSupport",
        ),
    ],
)
def test_the_component_registers_the_feature(
    deploy: Deploy, make: Callable[[], object], kind: str, feature: str
) -> None:
    graph = deploy(make)

    registration = graph.only("FeatureRegistration")
    assert (registration.name, registration.parent) == ("it", "it")
    assert graph.only(kind).type == f"aks-gpu:components:{kind}"
    assert registration.inputs == {
        "providerNamespace": "Microsoft.ContainerService",
        "featureName": feature,
    }


def test_the_feature_stays_registered_by_default(deploy: Deploy) -> None:
    args = SpecializedGpuImageArgs(unregister_on_delete=True)
    graph = deploy(lambda: SpecializedGpuImage("image", args))

    assert graph.only("FeatureRegistration").inputs["unregisterOnDelete"] is True
