"""Secrets in a stack file: which values can be secret, and how they stay secret."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from aks_catalogue.mistakes import Mistake, property_path
from stack_settings.section import Section

# The keys whose values can be secret. Others become names, IDs, or decide which resources exist.
KEPT = frozenset(
    {
        "cluster.authorizedIpRanges",
        "cluster.extra",
        "devicePlugin.image",
        "gpuCapacity[].rungs[].customHeaders",
        "gpuCapacity[].rungs[].extra",
        "gpuCapacity[].rungs[].taints",
        "gpuPools[].customHeaders",
        "gpuPools[].extra",
        "gpuPools[].labels",
        "gpuPools[].taints",
        "network.dnsServiceIp",
        "pools[].extra",
        "pools[].labels",
        "pools[].taints",
        "network.podCidr",
        "network.serviceCidr",
        "network.subnetId",
        "sampleJob.image",
        "systemPool.customHeaders",
        "systemPool.extra",
        "systemPools[].extra",
        "tags",
    }
)
# AKS repeats the labels, taints and tags of all pools in the outputs of the cluster. The engine
# keeps that list secret if a value of the system pool in the cluster's inputs is secret.
_KEYS_IN_POOLS = frozenset({"gpuCapacity", "gpuPools", "pools", "systemPools", "tags"})
_HIDES_THE_LIST = "systemPool.osSku"
MASK = "[secret]"
# Shorter parts of a secret occur in any sentence.
_PART = 4
_NO_REASON = "is not valid (the reason is hidden, because it contains part of the secret)"
SomeSection = TypeVar("SomeSection", bound=Section)


@dataclass(frozen=True)
class Secrets:
    """The secrets of a configuration.

    Pulumi reports the key that contains a secret, but not the place in it. So every value of that
    key that can be secret becomes one.
    """

    make: Callable[[str], Any]
    """Makes a string secret."""
    keys: Collection[str]
    """The keys that contain a secret: tags, gpuPools."""
    written: Collection[str] = ()
    """The paths of encrypted values in the stack file: gpuPools[0].labels.team. Empty if the file
    cannot be read."""

    warn: Callable[[str], None] = lambda _: None
    """Receives a warning for each key whose secret is not in the stack file."""

    def of_project(self, project: str) -> "Secrets":
        """Returns the secrets of one project, without its prefix: tags for aks-gpu:tags."""
        prefix = f"{project}:"
        keys, written = (
            [path.removeprefix(prefix) for path in paths if path.startswith(prefix)]
            for paths in (self.keys, self.written)
        )
        return Secrets(self.make, keys, written, self.warn)

    def sealed(self, section: SomeSection, path: str = "") -> SomeSection:
        """Returns the settings with secret values."""
        changed: dict[str, Any] = {}
        for name, field in type(section).model_fields.items():
            own = f"{path}.{field.alias}" if path else str(field.alias)
            value = getattr(section, name)
            if own == _HIDES_THE_LIST and _KEYS_IN_POOLS & set(self.keys):
                changed[name] = self.make(value)
            elif top_key(own) not in self.keys and own != top_key(_HIDES_THE_LIST):
                continue
            elif own in KEPT and top_key(own) in self.keys:
                changed[name] = self._made(value)
            elif isinstance(value, Section):
                changed[name] = self.sealed(value, own)
            elif isinstance(value, list) and any(isinstance(item, Section) for item in value):
                changed[name] = [self.sealed(item, f"{own}[]") for item in value]
        return section.model_copy(update=changed)

    def mistakes(self, values: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yields a mistake for each value that cannot be secret."""
        for key in set(self.keys) & values.keys():
            paths = self._places(key)
            if not paths and not isinstance(values[key], dict | list):
                paths = [key]
            yield from cannot_be_secret(paths)

    def masked(self, mistakes: Iterable[Mistake], values: Mapping[str, Any]) -> Iterator[Mistake]:
        """Yields the other mistakes, with the values that can be secret masked in their reasons.

        Leaves out mistakes at values that cannot be secret, which are reported anyway.
        """
        refused = [mistake.path for mistake in self.mistakes(values)]
        all_texts = (found for key in self.keys for found in _texts(values.get(key), key))
        texts = {path: text for path, text in all_texts if self._can_have(path)}
        for path, reason in mistakes:
            if any(_meet(path, place) for place in refused):
                continue
            here = [place for place in texts if _meet(path, place)]
            masked = _masked(reason, texts.values())
            if any(_has_part(masked, texts[place]) for place in here):
                masked = _NO_REASON
            # If headers are one secret string, their names are part of it.
            yield Mistake(next((place for place in here if _is_in(path, place)), path), masked)

    def warn_of_unlocated(self, values: Mapping[str, Any]) -> None:
        """Warns of keys with a secret that is not in the stack file, which may not stay secret."""
        for key in sorted(set(self.keys) & values.keys() - set(map(top_key, self.written)) - KEPT):
            self.warn(f"{key} contains a secret. Only {_can_be(key)} stay secret.")

    def _can_have(self, path: str) -> bool:
        """Whether the value at a path of a key with a secret can be the secret, or part of it."""
        places = self._places(top_key(path))
        return not places or is_kept(path) or any(_is_in(path, place) for place in places)

    def _places(self, key: str) -> list[str]:
        return [path for path in self.written if top_key(path) == key]

    def _made(self, value: Any) -> Any:
        match value:
            case dict():
                return {name: self._made(member) for name, member in value.items()}
            case list():
                return [self._made(item) for item in value]
            case _:
                return self.make(value) if value else value


def is_kept(path: str) -> bool:
    """Whether the value at a path can be secret: gpuPools[0].labels.team."""
    general = re.sub(r"\[\d+\]", "[]", path)
    return any(general == kept or general.startswith((f"{kept}.", f"{kept}[")) for kept in KEPT)


def cannot_be_secret(paths: Collection[str]) -> Iterator[Mistake]:
    """Yields a mistake for each encrypted value that cannot be secret."""
    for path in paths:
        if not is_kept(path):
            key = top_key(path)
            only = f" (only {_can_be(key)} can)" if _can_be(key) else ""
            yield Mistake(path, f"cannot be a secret{only}: set it again without --secret")


def top_key(path: str) -> str:
    return re.split(r"[.\[]", path)[0]


def _can_be(key: str) -> str:
    return " and ".join(sorted(kept for kept in KEPT if top_key(kept) == key))


def _is_in(path: str, whole: str) -> bool:
    """Whether a path is equal to another, or inside it."""
    return path == whole or path.startswith((f"{whole}.", f"{whole}["))


def _meet(path: str, other: str) -> bool:
    return _is_in(path, other) or _is_in(other, path)


def _has_part(reason: str, text: str) -> bool:
    visible = reason.replace(MASK, "")
    parts = (text[start : start + _PART] for start in range(len(text) - _PART + 1))
    return any(part in visible for part in parts)


def _masked(reason: str, texts: Iterable[str]) -> str:
    """Masks these texts in a reason, also in quotes. A text inside a word is not masked."""
    forms = {form for text in texts for form in _forms(text)}
    longest_first = map(re.escape, sorted(forms, key=len, reverse=True))
    pattern = rf"(?<!\w)['\"]?(?:{'|'.join(longest_first)})['\"]?(?!\w)"
    return re.sub(pattern, MASK, reason) if forms else reason


def _forms(text: str) -> Iterator[str]:
    """Yields a text as reasons quote it."""
    yield from (text, repr(text)[1:-1])
    yield from (json.dumps(text, ensure_ascii=escapes)[1:-1] for escapes in (True, False))


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yields all nested values as strings, each with its path."""
    match value:
        case dict():
            for name, member in value.items():
                yield from _texts(member, property_path(path, name))
        case list():
            for number, item in enumerate(value):
                yield from _texts(item, property_path(path, number))
        case _ if value:
            yield path, str(value)
