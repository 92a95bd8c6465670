"""Container images are named by a version, so that the same one runs tomorrow."""

import re

from pulumi_policy import ResourceValidationArgs, Severity

from policies.container_images import images_of
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns

# Two numbers of a version, the name of a commit, or a day: what does not move on by itself.
_VERSION = re.compile(r"\d+\.\d+|\d{6,}|\b[0-9a-f]{7,}\b")


@ResourceRule(
    title="Container images are pinned",
    description="Containers have images that are named by a version or a digest.",
    severity=Severity.LOW,
    remedy="Give the image a tag with a version in it, or a digest.",
    tags=("kubernetes", "image"),
)
def container_image_pinned(
    args: ResourceValidationArgs, _: Settings, unknowns: Unknowns
) -> Findings:
    for image in images_of(args.resource_type, args.props, unknowns):
        if image.digest or _VERSION.search(image.tag):
            continue
        said = f"the tag {image.tag}" if image.tag else "no tag"
        yield (
            f"The container {image.container} has {image.text}, with {said}: what runs changes "
            "when somebody pushes. Name a version, or a digest."
        )
