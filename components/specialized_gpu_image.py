"""The specialised GPU image of the article's days: a preview feature to be registered first."""

from dataclasses import dataclass

import pulumi

from aks_preview.resources import FeatureRegistration
from catalogue.images import SPECIALISED_IMAGE_FEATURE, SPECIALISED_IMAGE_NAMESPACE


@dataclass(frozen=True, kw_only=True)
class SpecialisedGpuImageArgs:
    """What becomes of the feature in the end."""

    unregister_on_delete: pulumi.Input[bool] = False
    """Whether to unregister the feature with the component. A feature is the whole subscription's:
    by default it stays registered."""


class SpecialisedGpuImage(pulumi.ComponentResource):
    """Registers the feature; pools and clusters with the image depend on this component."""

    state: pulumi.Output[str]
    """The state of the registration."""

    def __init__(
        self,
        name: str,
        args: SpecialisedGpuImageArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("aks-gpu:components:SpecialisedGpuImage", name, None, opts)
        self.feature_registration = FeatureRegistration(
            name,
            provider_namespace=SPECIALISED_IMAGE_NAMESPACE,
            feature_name=SPECIALISED_IMAGE_FEATURE,
            unregister_on_delete=args.unregister_on_delete or None,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.state = self.feature_registration.state
        self.register_outputs({"state": self.state})
