"""The retired specialized GPU image: registers the preview feature that pools need to use it."""

from dataclasses import dataclass

import pulumi

from catalogue.images import SPECIALIZED_IMAGE_FEATURE, SPECIALIZED_IMAGE_NAMESPACE
from components.preview_feature import PreviewFeature, PreviewFeatureArgs


@dataclass(frozen=True, kw_only=True)
class SpecializedGpuImageArgs(PreviewFeatureArgs):
    """The inputs of the feature registration."""


class SpecializedGpuImage(PreviewFeature):
    """Registers the preview feature of the specialized GPU image, which Azure retired in 2025.

    Pools and clusters that use the image must depend on this component.
    """

    _kind = "aks-gpu:components:SpecialisedGpuImage"
    _feature = SPECIALIZED_IMAGE_NAMESPACE, SPECIALIZED_IMAGE_FEATURE


class SpecialisedGpuImage(SpecializedGpuImage):
    """The old spelling of SpecializedGpuImage. The next version removes it."""

    def __init__(
        self,
        name: str,
        args: SpecializedGpuImageArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, args, opts)
        pulumi.log.warn(
            "SpecialisedGpuImage is now spelled SpecializedGpuImage. Change it: the next version "
            "does not accept the old spelling.",
            self,
        )


SpecialisedGpuImageArgs = SpecializedGpuImageArgs
