"""Nothing uses the retired specialized GPU image, or a tag that AKS no longer supports.

Azure retired the image on 2025-01-10. The rule finds the custom headers `UseGPUDedicatedVHD` and
`AKSHTTPCustomFeatures` with the image's feature, on pools and clusters, and the registration of the
feature `GPUDedicatedVHDPreview`, alone or among the `features` of the classic provider's
`ResourceProviderRegistration` (`registered: false` passes). It also finds the tag
`SkipGPUDriverInstall`, which AKS has ignored since 2025-08-14: use `gpuProfile.driver: None`
instead.
"""

import re
from collections.abc import Mapping
from typing import Any

from pulumi_policy import ResourceValidationArgs, Severity

from aks_catalogue.images import SPECIALIZED_IMAGE_FEATURE, SPECIALIZED_IMAGE_RETIRED_ON
from aks_catalogue.retirement import TAGS, has_passed
from policies.gpu_requests import is_true, specialized_image_headers
from policies.pools import Pool, is_cluster, is_pool, pools_of
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns

_FEATURE = re.compile(
    r"aks-preview:features:FeatureRegistration"
    r"|azure-native(_features_v\w+)?:features(/v\w+)?:SubscriptionFeatureRegistration"
    r"|azure:core/\w+:ResourceProviderFeatureRegistration"
)
# Has a list of features, each registered or unregistered.
_PROVIDER = re.compile(r"azure:core/\w+:ResourceProviderRegistration")
_INSTEAD = (
    f"Azure retired the specialized GPU image on {SPECIALIZED_IMAGE_RETIRED_ON}. Use the default "
    "image, with the NVIDIA device plugin or the GPU Operator."
)


@ResourceRule(
    title="The specialized GPU image is retired",
    description="Nothing uses the retired specialized GPU image.",
    severity=Severity.HIGH,
    remedy="Remove the header, the feature or the tag. Use the default image, and install the "
    "device plugin with a DaemonSet or the NVIDIA GPU Operator.",
    tags=("gpu", "aks", "retired", "image"),
)
def gpu_image_retired(args: ResourceValidationArgs, _: Settings, unknowns: Unknowns) -> Findings:
    if not has_passed(SPECIALIZED_IMAGE_RETIRED_ON):
        return
    if _FEATURE.fullmatch(args.resource_type):
        yield from _by_feature(args.props.get("featureName") or args.props.get("name"))
    elif _PROVIDER.fullmatch(args.resource_type):
        features = args.props.get("features") or ()
        indices = range(len(features))
        yield from unknowns.each(indices, lambda index: _by_provider(features[index]))
    elif is_pool(args.resource_type) or is_cluster(args.resource_type):
        yield from unknowns.each([args.props], _by_header)
        yield from unknowns.each(pools_of(args.resource_type, args.props), _by_tag)


def _by_header(properties: Mapping[str, Any]) -> Findings:
    for header in specialized_image_headers(properties):
        yield f"The custom header {header} requests the specialized GPU image. {_INSTEAD}"


def _by_feature(name: Any) -> Findings:
    if _is_the_feature(name):
        yield f"This resource registers the feature {name}. {_INSTEAD}"


def _by_provider(feature: Mapping[str, Any]) -> Findings:
    name = feature.get("name")
    # Whether other features are registered does not matter, and can be unknown.
    if _is_the_feature(name) and str(feature.get("registered")).lower() != "false":
        yield from _by_feature(name)


def _is_the_feature(name: Any) -> bool:
    return str(name).lower() == SPECIALIZED_IMAGE_FEATURE.lower()


def _by_tag(pool: Pool) -> Findings:
    tags = pool.part("tags")
    for name, (since, instead) in TAGS.items():
        if has_passed(since) and name in tags and is_true(tags[name]):
            yield (
                f"{pool.label} has the tag {name}, which AKS has ignored since {since}. Use "
                f"{instead} instead."
            )
