"""Container images come from a registry that is allowed."""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationArgs, Severity

from policies.container_images import by_one_name, images_of
from policies.rule import PolicyInfo, Settings, resource_rule
from policies.unknowns import Unknowns


def _judge(args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns) -> Iterator[str]:
    registries = settings.get("registries")
    if not registries:
        return
    allowed = tuple(f"{by_one_name(one.rstrip('/'))}/" for one in registries)
    for image in images_of(args.resource_type, args.props, unknowns):
        if not f"{image.repository}/".startswith(allowed):
            yield (
                f"The container {image.container} has {image.text}, from {image.repository}. "
                f"Allowed are {', '.join(registries)}."
            )


container_image_registry = resource_rule(
    PolicyInfo(
        name="container-image-registry",
        title="Container images come from allowed registries",
        description="Containers have images from registries that are allowed.",
        level=EnforcementLevel.ADVISORY,
        severity=Severity.MEDIUM,
        remedy="Take the image from one of the registries that the finding lists.",
        tags=("kubernetes", "image", "security"),
        settings={
            "registries": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The registries that are allowed, as mcr.microsoft.com, also with "
                "the beginning of a path, as docker.io/library.",
            }
        },
    ),
    _judge,
)
