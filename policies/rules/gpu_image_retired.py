"""Nothing uses the retired specialized GPU image, or a tag or a header that AKS has retired.

Azure retired the image on 2025-01-10. The rule finds the custom headers `UseGPUDedicatedVHD` and
`AKSHTTPCustomFeatures` with the image's feature, on pools and clusters, and the registration of
that feature, `GPUDedicatedVHDPreview`. It also finds the tag `SkipGPUDriverInstall`, which AKS has
ignored since 2025-08-14: use `gpuProfile.driver: None` instead; and the other
[custom headers](aks-preview.md#custom-headers) that AKS has retired, unless they are `false`.
"""

from collections.abc import Mapping
from typing import Any

from pulumi_policy import ResourceValidationArgs, Severity

from aks_catalogue.headers import retired_headers
from aks_catalogue.images import SPECIALIZED_IMAGE_FEATURE, SPECIALIZED_IMAGE_RETIRED_ON
from aks_catalogue.retirement import TAGS, has_passed
from aks_pools.gpus import is_true, specialized_image_headers
from aks_pools.pools import Pool, is_cluster, is_pool, pools_of
from aks_pools.values import part
from policies.features import registered
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns

_INSTEAD = (
    f"Azure retired the specialized GPU image on {SPECIALIZED_IMAGE_RETIRED_ON}. Use the default "
    "image, with the NVIDIA device plugin or the GPU Operator."
)


@ResourceRule(
    severity=Severity.HIGH,
    remedy="Remove the header, the feature or the tag. Use the default image, and install the "
    "device plugin with a DaemonSet or the NVIDIA GPU Operator.",
    tags=("gpu", "aks", "retired", "image"),
)
def gpu_image_retired(args: ResourceValidationArgs, _: Settings, unknowns: Unknowns) -> Findings:
    with unknowns.deferred():
        if name := registered(args.resource_type, args.props, SPECIALIZED_IMAGE_FEATURE):
            yield f"This resource registers the feature {name}. {_INSTEAD}"
    if is_pool(args.resource_type) or is_cluster(args.resource_type):
        yield from unknowns.each([args.props], _by_header)
        yield from unknowns.each(pools_of(args.resource_type, args.props), _by_tag)


def _by_header(properties: Mapping[str, Any]) -> Findings:
    told = dict(retired_headers(part(properties.get("customHeaders"), "customHeaders")))
    yield from told.values()
    for header in specialized_image_headers(properties):
        if header not in told:
            yield f"The custom header {header} requests the specialized GPU image. {_INSTEAD}"


def _by_tag(pool: Pool) -> Findings:
    tags = pool.part("tags")
    for name, (since, instead) in TAGS.items():
        if has_passed(since) and name in tags and is_true(tags[name]):
            yield (
                f"{pool.label} has the tag {name}, which AKS has ignored since {since}. Use "
                f"{instead} instead."
            )
