"""InfiniBand: registers the feature with which a pool's nodes are on one network."""

from aks_catalogue.nodes import INFINIBAND_FEATURE, INFINIBAND_NAMESPACE
from components.declared import arguments
from components.preview_feature import PreviewFeature, PreviewFeatureArgs


@arguments
class InfinibandFeatureArgs(PreviewFeatureArgs):
    """The inputs of the feature registration."""


class InfinibandFeature(PreviewFeature):
    """Registers the feature with which AKS puts the nodes of a pool on one InfiniBand network.

    Pools of a size with InfiniBand must depend on this component, unless the subscription has the
    feature already. It is for new pools: in one that exists, the nodes stay where they are.
    """

    _kind = "aks-gpu:components:InfinibandFeature"
    _feature = INFINIBAND_NAMESPACE, INFINIBAND_FEATURE
