"""AKS-managed GPUs (preview): registers the preview feature that pools need to have them."""

from aks_catalogue.nodes import MANAGED_GPU_FEATURE, MANAGED_GPU_NAMESPACE
from components.declared import arguments
from components.preview_feature import PreviewFeature, PreviewFeatureArgs


@arguments
class ManagedGpuFeatureArgs(PreviewFeatureArgs):
    """The inputs of the feature registration."""


class ManagedGpuFeature(PreviewFeature):
    """Registers the preview feature of pools whose GPU driver and device plugin AKS manages.

    Pools with `gpu_stack="managed"` must depend on this component, unless the subscription has the
    feature already.
    """

    _kind = "aks-gpu:components:ManagedGpuFeature"
    _feature = MANAGED_GPU_NAMESPACE, MANAGED_GPU_FEATURE
