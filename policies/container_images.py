"""The images of the containers that Kubernetes resources create."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from catalogue.shapes import mapping
from policies.pods import containers_of, pods_of
from policies.unknowns import Unknowns

_DEFAULT_REGISTRY, _DEFAULT_PATH = "docker.io", "library"
# An older name of the same registry, which Docker still accepts.
_OTHER_NAME = "index.docker.io"


@dataclass(frozen=True, kw_only=True)
class Image:
    """A container's image, as written and parsed."""

    container: str
    text: str
    # With Docker's default registry and path if the text has none.
    repository: str
    tag: str
    digest: str


def images_of(
    resource_type: str, properties: Mapping[str, Any], unknowns: Unknowns
) -> Iterator[Image]:
    """Yields each container's image. An unknown image does not hide the others."""

    def images(pods: Mapping[str, Any]) -> Iterator[Image]:
        def image_of(place: tuple[str, int]) -> Iterator[Image]:
            container = mapping(pods[place[0]][place[1]])
            if text := str(container.get("image") or ""):
                yield _image(str(container.get("name") or place[1]), text)

        return unknowns.each(containers_of(pods), image_of)

    return unknowns.each(pods_of(resource_type, properties, unknowns), images)


def _image(container: str, text: str) -> Image:
    reference, _, digest = text.partition("@")
    # A colon before the last slash belongs to the registry's port, a later one to the tag.
    path, slash, last = reference.rpartition("/")
    name, _, tag = last.partition(":")
    return Image(
        container=container,
        text=text,
        repository=_in_full(f"{path}{slash}{name}"),
        tag=tag,
        digest=digest,
    )


def normalized(repository: str) -> str:
    """Returns the repository, or its prefix, with the usual name of Docker's registry."""
    registry, slash, path = repository.partition("/")
    return f"{_DEFAULT_REGISTRY if registry == _OTHER_NAME else registry}{slash}{path}"


def _in_full(repository: str) -> str:
    first, slash, _ = repository.partition("/")
    has_registry = slash and ("." in first or ":" in first or first == "localhost")
    full = normalized(repository if has_registry else f"{_DEFAULT_REGISTRY}/{repository}")
    registry, _, path = full.partition("/")
    if registry == _DEFAULT_REGISTRY and "/" not in path:
        return f"{registry}/{_DEFAULT_PATH}/{path}"
    return full
