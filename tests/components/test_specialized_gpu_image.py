from components import SpecialisedGpuImage, SpecialisedGpuImageArgs
from tests.conftest import Deploy


def test_registers_the_feature(deploy: Deploy) -> None:
    graph = deploy(lambda: SpecialisedGpuImage("image", SpecialisedGpuImageArgs()))

    feature = graph.only("FeatureRegistration")
    assert (feature.name, feature.parent) == ("image", "image")
    assert feature.inputs == {
        "providerNamespace": "Microsoft.ContainerService",
        "featureName": "GPUDedicatedVHDPreview",
    }


def test_leaves_it_registered_unless_told_otherwise(deploy: Deploy) -> None:
    args = SpecialisedGpuImageArgs(unregister_on_delete=True)
    graph = deploy(lambda: SpecialisedGpuImage("image", args))

    assert graph.only("FeatureRegistration").inputs["unregisterOnDelete"] is True
