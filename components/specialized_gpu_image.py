"""The retired specialized GPU image: registers the preview feature that pools need to use it."""

from dataclasses import dataclass

import pulumi

from aks_preview.resources import FeatureRegistration
from catalogue.images import SPECIALIZED_IMAGE_FEATURE, SPECIALIZED_IMAGE_NAMESPACE


@dataclass(frozen=True, kw_only=True)
class SpecializedGpuImageArgs:
    """The inputs of the feature registration."""

    unregister_on_delete: pulumi.Input[bool] = False
    """Whether to unregister the feature when the component is deleted. By default it stays
    registered, because it applies to the whole subscription."""


class SpecializedGpuImage(pulumi.ComponentResource):
    """Registers the preview feature of the specialized GPU image, which Azure retired in 2025.

    Pools and clusters that use the image must depend on this component.
    """

    state: pulumi.Output[str]
    """The state of the registration, such as `Registered`."""

    def __init__(
        self,
        name: str,
        args: SpecializedGpuImageArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("aks-gpu:components:SpecialisedGpuImage", name, None, opts)
        self.feature_registration = FeatureRegistration(
            name,
            provider_namespace=SPECIALIZED_IMAGE_NAMESPACE,
            feature_name=SPECIALIZED_IMAGE_FEATURE,
            unregister_on_delete=args.unregister_on_delete or None,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.state = self.feature_registration.state
        self.register_outputs({"state": self.state})


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
