"""Container images are pinned to a version, so that the same image runs tomorrow.

The rule reads the containers of every workload, including custom resources with a pod template. A
digest, or a tag with a version, a commit or a date, is enough. With any other tag, what runs
changes when somebody pushes an image.
"""

import re

from pulumi_policy import ResourceValidationArgs, Severity

from policies.container_images import images_of
from policies.rule import Findings, ResourceRule, Settings, strings
from policies.unknowns import Unknowns

# Two numbers of a version, a commit hash, or a date.
_VERSION = re.compile(r"\d+\.\d+|\d{6,}|\b[0-9a-f]{7,}\b")


@ResourceRule(
    title="Container images are pinned",
    description="Containers use images with a version tag or a digest.",
    severity=Severity.LOW,
    remedy="Use an image tag that contains a version, or a digest.",
    tags=("kubernetes", "image"),
    settings={
        "acceptedImages": strings("Images to accept, as the program writes them.", default=[])
    },
)
def container_image_pinned(
    args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
) -> Findings:
    for image in images_of(args.resource_type, args.props, unknowns):
        is_accepted = image.text in settings["acceptedImages"]
        if image.digest or _VERSION.search(image.tag) or is_accepted:
            continue
        tag = f"the tag {image.tag}" if image.tag else "no tag"
        yield (
            f"The container {image.container} uses {image.text}, with {tag}: what runs changes "
            "when somebody pushes an image. Use a tag with a version, or a digest."
        )
