"""What components have in common that register a preview feature of AKS."""

import pulumi

from aks_preview.resources import FeatureRegistration
from components.arguments import check
from components.declared import arguments


@arguments
class PreviewFeatureArgs:
    """The inputs of a feature registration."""

    unregister_on_delete: pulumi.Input[bool] = False
    """Whether to unregister the feature when the component is deleted. By default it stays
    registered, because it applies to the whole subscription."""


class PreviewFeature(pulumi.ComponentResource):
    """Registers a preview feature. Pools that need it must depend on the component."""

    _kind = ""
    # The resource provider, and the name of the feature.
    _feature = ("", "")

    state: pulumi.Output[str]
    """The state of the registration, such as `Registered`."""

    def __init__(
        self, name: str, args: PreviewFeatureArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        check(name, args)
        super().__init__(self._kind, name, None, opts)
        namespace, feature = self._feature
        self.feature_registration = FeatureRegistration(
            name,
            provider_namespace=namespace,
            feature_name=feature,
            unregister_on_delete=args.unregister_on_delete or None,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.state = self.feature_registration.state
        self.register_outputs({"state": self.state})
