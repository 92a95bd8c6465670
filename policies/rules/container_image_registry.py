"""Container images come from allowed registries.

The rule does nothing until `registries` is set. It knows that `nginx`, `docker.io/nginx` and
`index.docker.io/library/nginx` are all `docker.io/library/nginx`.
"""

from pulumi_policy import ResourceValidationArgs

from policies.container_images import images_of, normalized
from policies.rule import Findings, ResourceRule, Settings, strings
from policies.unknowns import Unknowns


@ResourceRule(
    title="Container images come from allowed registries",
    description="Containers use images from allowed registries only.",
    remedy="Use an image from one of the allowed registries that the finding lists.",
    tags=("kubernetes", "image", "security"),
    settings={
        "registries": strings(
            "The allowed registries, such as mcr.microsoft.com, optionally with the start of a "
            "path, such as docker.io/library."
        )
    },
)
def container_image_registry(
    args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
) -> Findings:
    registries = settings.get("registries")
    if not registries:
        return
    allowed = tuple(f"{normalized(one.rstrip('/'))}/" for one in registries)
    for image in images_of(args.resource_type, args.props, unknowns):
        if not f"{image.repository}/".startswith(allowed):
            yield (
                f"The container {image.container} uses {image.text}, from {image.repository}, "
                f"which is not allowed. Use an image from {', '.join(registries)}."
            )
