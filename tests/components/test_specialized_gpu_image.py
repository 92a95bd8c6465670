from collections.abc import Callable

import pulumi
import pytest

from components import (
    AksCluster,
    AksClusterArgs,
    GpuNodePoolArgs,
    ManagedGpuFeature,
    ManagedGpuFeatureArgs,
    PluginPoolArgs,
    SpecialisedGpuImage,
    SpecialisedGpuImageArgs,
    SpecializedGpuImage,
    SpecializedGpuImageArgs,
    SystemPoolArgs,
)
from tests.conftest import Deploy


@pytest.mark.parametrize(
    ("make", "kind", "feature"),
    [
        (
            lambda: SpecializedGpuImage("it", SpecializedGpuImageArgs()),
            "SpecialisedGpuImage",
            "GPUDedicatedVHDPreview",
        ),
        (
            lambda: ManagedGpuFeature("it", ManagedGpuFeatureArgs()),
            "ManagedGpuFeature",
            "ManagedGPUExperiencePreview",
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


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, *_: texts.append(text))
    return texts


def test_the_old_spelling_makes_the_same_resources(deploy: Deploy, warnings: list[str]) -> None:
    """Azure spells it with a z; states and programs of earlier versions do not."""
    old = deploy(lambda: SpecialisedGpuImage("image", SpecialisedGpuImageArgs()))
    assert ["SpecializedGpuImage" in warning for warning in warnings] == [True]
    new = deploy(lambda: SpecializedGpuImage("image", SpecializedGpuImageArgs()))

    assert len(warnings) == 1
    of_both = [[(one.type, one.name, one.inputs) for one in made.registered] for made in (old, new)]
    assert of_both[0] == of_both[1]


@pytest.mark.parametrize("late", [False, True])
def test_the_old_spelling_of_a_gpu_stack_is_accepted_with_a_warning(
    deploy: Deploy, warnings: list[str], late: bool
) -> None:
    gpu_stacks: list[object] = []

    def program() -> None:
        old = "specialised-image"
        given = pulumi.Output.from_input(old) if late else old
        system_pool = SystemPoolArgs(vm_size="Standard_NC8as_T4_v3", gpu_stack=given)
        AksCluster(
            "cluster",
            AksClusterArgs(
                resource_group_name="g",
                location="eastus",
                cluster_name="c",
                system_pool=system_pool,
            ),
        )
        pool = GpuNodePoolArgs(
            resource_group_name="g",
            cluster_name="c",
            pool_name="gpu",
            vm_size="Standard_NC8as_T4_v3",
            gpu_stack=old,
        )
        gpu_stacks.extend([pool.gpu_stack, PluginPoolArgs(pool_name="a", gpu_stack=old).gpu_stack])

    graph = deploy(program)
    (pool,) = graph.only("ManagedCluster").inputs["agentPoolProfiles"]
    assert pool["gpuProfile"] == {"driver": "Install"}
    assert gpu_stacks == ["specialized-image"] * 2
    assert len([text for text in warnings if "is now spelled 'specialized-image'" in text]) == 3
