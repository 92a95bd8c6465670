"""The retired specialized GPU image: registers the preview feature that pools need to use it."""

from aks_catalogue.images import SPECIALIZED_IMAGE_FEATURE, SPECIALIZED_IMAGE_NAMESPACE
from components.declared import arguments
from components.preview_feature import PreviewFeature, PreviewFeatureArgs


@arguments
class SpecializedGpuImageArgs(PreviewFeatureArgs):
    """The inputs of the feature registration."""


class SpecializedGpuImage(PreviewFeature):
    """Registers the preview feature of the specialized GPU image, which Azure retired in 2025.

    Pools and clusters that use the image must depend on this component.
    """

    _kind = "aks-gpu:components:SpecializedGpuImage"
    _feature = SPECIALIZED_IMAGE_NAMESPACE, SPECIALIZED_IMAGE_FEATURE
