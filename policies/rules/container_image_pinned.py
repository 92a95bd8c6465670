"""Container images are named by a version, so that the same one runs tomorrow.

The rule reads the containers of every workload, including custom resources with a pod template. A
digest, or a tag with a version, a commit or a date, is enough. With any other tag, what runs
changes when somebody pushes.
"""

import re

from pulumi_policy import ResourceValidationArgs, Severity

from policies.container_images import images_of
from policies.rule import Findings, ResourceRule, Settings, strings
from policies.unknowns import Unknowns

# Two numbers of a version, the name of a commit, or a day: what does not move on by itself.
_VERSION = re.compile(r"\d+\.\d+|\d{6,}|\b[0-9a-f]{7,}\b")


@ResourceRule(
    title="Container images are pinned",
    description="Containers have images that are named by a version or a digest.",
    severity=Severity.LOW,
    remedy="Give the image a tag with a version in it, or a digest.",
    tags=("kubernetes", "image"),
    settings={
        "acceptedImages": strings("Images that are let through, as they are written.", default=[])
    },
)
def container_image_pinned(
    args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
) -> Findings:
    for image in images_of(args.resource_type, args.props, unknowns):
        is_accepted = image.text in settings["acceptedImages"]
        if image.digest or _VERSION.search(image.tag) or is_accepted:
            continue
        said = f"the tag {image.tag}" if image.tag else "no tag"
        yield (
            f"The container {image.container} has {image.text}, with {said}: what runs changes "
            "when somebody pushes. Name a version, or a digest."
        )
