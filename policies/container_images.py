"""The images of the containers that Kubernetes resources make."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from catalogue.shapes import mapping
from policies.pods import containers_of, pods_of
from policies.unknowns import Unknowns

_DEFAULT_REGISTRY, _DEFAULT_PATH = "docker.io", "library"
# An older name of the same registry, that Docker still takes.
_OTHER_NAME = "index.docker.io"


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image as it is written, and what that means."""

    container: str
    text: str
    # With the registry and the path that are meant where they are left out.
    repository: str
    tag: str
    digest: str


def images_of(
    resource_type: str, properties: Mapping[str, Any], unknowns: Unknowns
) -> Iterator[Image]:
    """Each container's image; an unknown one hides none of the others."""

    def images(pods: Mapping[str, Any]) -> Iterator[Image]:
        def image_of(place: tuple[str, int]) -> Iterator[Image]:
            container = mapping(pods[place[0]][place[1]])
            if text := str(container.get("image") or ""):
                yield _image(str(container.get("name") or place[1]), text)

        return unknowns.each(containers_of(pods), image_of)

    return unknowns.each(pods_of(resource_type, properties, unknowns), images)


def _image(container: str, text: str) -> Image:
    named, _, digest = text.partition("@")
    # The colon of a registry's port comes before a slash, that of a tag after the last one.
    path, slash, last = named.rpartition("/")
    name, _, tag = last.partition(":")
    return Image(
        container=container,
        text=text,
        repository=_in_full(f"{path}{slash}{name}"),
        tag=tag,
        digest=digest,
    )


def by_one_name(repository: str) -> str:
    """The repository, or its beginning, by the name of the registry that all others use."""
    registry, slash, path = repository.partition("/")
    return f"{_DEFAULT_REGISTRY if registry == _OTHER_NAME else registry}{slash}{path}"


def _in_full(repository: str) -> str:
    first, slash, _ = repository.partition("/")
    has_registry = slash and ("." in first or ":" in first or first == "localhost")
    named = by_one_name(repository if has_registry else f"{_DEFAULT_REGISTRY}/{repository}")
    registry, _, path = named.partition("/")
    if registry == _DEFAULT_REGISTRY and "/" not in path:
        return f"{registry}/{_DEFAULT_PATH}/{path}"
    return named
