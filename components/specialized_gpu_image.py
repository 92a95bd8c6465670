"""The specialized GPU image of the article's days: a preview feature to be registered first."""

from dataclasses import dataclass

import pulumi

from aks_preview.resources import FeatureRegistration
from catalogue.images import SPECIALIZED_IMAGE_FEATURE, SPECIALIZED_IMAGE_NAMESPACE


@dataclass(frozen=True, kw_only=True)
class SpecializedGpuImageArgs:
    """What becomes of the feature in the end."""

    unregister_on_delete: pulumi.Input[bool] = False
    """Whether to unregister the feature with the component. A feature is the whole subscription's:
    by default it stays registered."""


class SpecializedGpuImage(pulumi.ComponentResource):
    """Registers the feature; pools and clusters with the image depend on this component."""

    state: pulumi.Output[str]
    """The state of the registration."""

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
    """The old spelling of SpecializedGpuImage. The next version drops it."""

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
