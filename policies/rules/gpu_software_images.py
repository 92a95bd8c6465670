"""Images, and the repositories in the values of charts, are those that an organization allows.

The rule is off until `registries` is set. A device plugin and the GPU Operator run with privileges
on every node of their pools, so who chooses their image chooses what runs there.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from pulumi_policy import ResourceValidationArgs

from aks_catalogue.shapes import mapping
from policies.pods import containers_of, kind_of, pods_of
from policies.rule import Findings, ResourceRule, Settings, strings
from policies.unknowns import Unknowns

# The names of images and of where they come from, in the values of charts.
_PLACES = ("image", "registry", "repository")
_HUB = "docker.io"
# What names an image or a place of images, the name, and the name with its registry.
Named = tuple[str, str, str]


@ResourceRule(
    remedy="Use an image from one of the registries that the finding lists.",
    tags=("gpu", "kubernetes", "image", "security"),
    settings={
        "registries": strings(
            "The allowed registries, such as mcr.microsoft.com, optionally with the start of a "
            "path, such as nvcr.io/nvidia."
        )
    },
)
def gpu_software_images(
    args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
) -> Findings:
    registries = settings.get("registries")
    if not registries:
        return
    allowed = tuple(f"{one.rstrip('/')}/" for one in registries)
    for what, name, whole in chain(_of_pods(args, unknowns), _of_charts(args, unknowns)):
        if not whole.startswith(allowed):
            yield f"{what} is {name}, which is not of {', '.join(registries)}."


def _of_pods(args: ResourceValidationArgs, unknowns: Unknowns) -> Iterator[Named]:
    for pods in pods_of(args.resource_type, args.props, unknowns):
        for container in containers_of(pods):
            with unknowns.deferred():
                what = f"The image of the container {container.get('name')}"
                # A patch can leave the image out.
                if image := str(container.get("image") or ""):
                    yield what, image, _whole(image)


def _of_charts(args: ResourceValidationArgs, unknowns: Unknowns) -> Iterator[Named]:
    if kind_of(args.resource_type) in ("Release", "Chart"):
        with unknowns.deferred():
            yield from _named(mapping(args.props.get("values")), "values")


def _named(values: Mapping[str, Any], path: str) -> Iterator[Named]:
    for key in values:
        value, place = values[key], f"{path}.{key}"
        if isinstance(value, Mapping):
            yield from _named(value, place)
        elif key in _PLACES and isinstance(value, str) and (key != "image" or "/" in value):
            yield place, value, f"{value}/"


def _whole(name: str) -> str:
    """Returns an image's name with its registry: `nginx` is docker.io/library/nginx."""
    first, slash, _ = name.partition("/")
    if not slash:
        return f"{_HUB}/library/{name}"
    is_registry = "." in first or ":" in first or first == "localhost"
    return name if is_registry else f"{_HUB}/{name}"
