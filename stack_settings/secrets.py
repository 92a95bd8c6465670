"""Secrets in a stack file: which values can be secret, and how they stay secret."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, cast

from aks_catalogue.mistakes import KeyMistake, Mistake, is_within, property_path
from stack_settings.section import keys

# The values that can be secret. Others become names, IDs, or decide which resources exist.
_KEPT = re.compile(
    r"(?P<whole>(cluster|\w*[pP]ools?|gpuCapacity(\[\d+\])?\.rungs)(\[\d+\])?"
    r"\.(customHeaders|extra)|gpuOperator\.values)\b.*"
)
# AKS repeats the properties of all pools in the outputs of the cluster. The engine keeps that list
# secret if a value of the system pool in the cluster's inputs is secret.
_KEYS_IN_POOLS = frozenset({"gpuCapacity", "gpuPools", "pools", "systemPools"})
_HIDES_THE_LIST = "systemPool.osSku"
_NO_REASON = "is not valid (the reason is hidden, because it can contain the secret)"


class _Hidden:
    """In place of a value that cannot be secret: no key takes it, and no rule repeats it."""

    def __repr__(self) -> str:
        return "a secret"


@dataclass(frozen=True)
class Secrets:
    """The secrets of a configuration.

    Pulumi reports the key that contains a secret, but not the place in it. So every text of that
    key that can be secret becomes one.
    """

    make: Callable[[str], Any]
    """Makes a text secret."""
    keys: Collection[str]
    """The keys that contain a secret: gpuPools."""
    written: Collection[str] = ()
    """The paths of encrypted values in the stack file: gpuPools[0].extra.messageOfTheDay. Empty if
    the file cannot be read."""
    warn: Callable[[str], None] = lambda _: None
    """Receives a warning for each key whose secret is not in the stack file."""

    def sealed(self, value: Any, path: str = "") -> Any:
        """Returns the settings, or a part of them, with secret values."""
        if is_kept(path) and top_key(path) in self.keys:
            return self._made(value)
        if path == _HIDES_THE_LIST and _KEYS_IN_POOLS & {*self.keys}:
            return self.make(value)
        if isinstance(value, list):
            return [self.sealed(item, path) for item in value]
        if not is_dataclass(value):
            return value
        changed = {
            field.name: self.sealed(getattr(value, field.name), f"{path}.{key}".lstrip("."))
            for key, field in keys(cast(Any, type(value))).items()
        }
        return replace(cast(Any, value), **changed)

    def readable(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the values without those that cannot be secret."""
        places = {place for place in self.written if not is_kept(place)}
        return {key: _without(places, value, key) for key, value in values.items()}

    def mistakes(self, values: Mapping[str, Any], others: Iterable[Mistake]) -> Iterator[Mistake]:
        """Yields a mistake for each value that cannot be secret.

        Of one under a wrong key, only the mistake about the key is told: under the right key it
        may be secret.
        """
        reason = f"cannot be a secret (only {_CAN_BE} can): set it again without --secret"
        wrong = [mistake.path for mistake in others if isinstance(mistake, KeyMistake)]
        for key in sorted({*self.keys} & values.keys()):
            is_somewhere = self._places(key) or isinstance(values[key], dict | list)
            for path in self._places(key) if is_somewhere else [key]:
                if not is_kept(path) and not any(is_within(path, each) for each in wrong):
                    yield Mistake(path, reason)

    def hidden(self, mistakes: Iterable[Mistake]) -> Iterator[Mistake]:
        """Yields the mistakes without the reasons that can contain a secret.

        Leaves out those at values that cannot be secret, which are told by their keys.
        """
        for mistake in mistakes:
            path = mistake.path
            places, kept = self._places(top_key(path)), _KEPT.fullmatch(path)
            near = [place for place in places if is_within(path, place) or is_within(place, path)]
            if isinstance(mistake, KeyMistake):
                # Keys inside of a text that is a secret are secret too.
                near = [place for place in near if not is_within(place, path)]
                places = places or [path]
            if not near and (places or top_key(path) not in self.keys):
                yield mistake
            elif all(map(is_kept, near)):
                # A name in headers that are one text is part of the secret.
                yield Mistake(kept["whole"] if kept else path, _NO_REASON)

    def warn_of_unlocated(self, values: Mapping[str, Any]) -> None:
        """Warns of keys with a secret that is not in the stack file, which may not stay secret."""
        for key in sorted({*self.keys} & values.keys()):
            if not self._places(key):
                self.warn(f"{key} contains a secret, of which only {_CAN_BE} stay secret")

    def _places(self, key: str) -> list[str]:
        return [path for path in self.written if top_key(path) == key]

    def _made(self, value: Any) -> Any:
        match value:
            case Mapping():
                return {name: self._made(member) for name, member in value.items()}
            case list():
                return [self._made(item) for item in value]
            case str() if value:
                return self.make(value)
        return value


_CAN_BE = "customHeaders, extra and gpuOperator.values"


def is_kept(path: str) -> bool:
    """Whether the value at a path can be secret: gpuPools[0].customHeaders.X-Team."""
    return bool(_KEPT.fullmatch(path))


def top_key(path: str) -> str:
    return re.split(r"[.\[]", path)[0]


def _without(places: Collection[str], value: Any, path: str) -> Any:
    if path in places:
        return _Hidden()
    match value:
        case dict():
            inner = value.items()
            return {key: _without(places, each, property_path(path, key)) for key, each in inner}
        case list():
            at = enumerate(value)
            return [_without(places, each, property_path(path, index)) for index, each in at]
    return value
