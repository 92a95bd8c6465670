"""Secrets in a stack file: which values can be secret, and how they stay secret."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from catalogue.mistakes import Mistake
from settings.section import Section

# The keys whose values can be secret. Others become names, IDs, or decide which resources exist.
KEPT = frozenset(
    {
        "cluster.authorizedIpRanges",
        "devicePlugin.image",
        "gpuPools[].customHeaders",
        "gpuPools[].labels",
        "gpuPools[].taints",
        "network.dnsServiceIp",
        "network.podCidr",
        "network.serviceCidr",
        "network.subnetId",
        "sampleJob.image",
        "systemPool.customHeaders",
        "tags",
    }
)
# AKS repeats the labels, taints and tags of all pools in the outputs of the cluster. The engine
# keeps that list secret if a value of the system pool in the cluster's inputs is secret.
_OF_POOLS = frozenset({"gpuPools", "tags"})
_ALONG_WITH_POOLS = "systemPool.osSku"
MASK = "[secret]"
# Shorter parts of a secret occur in any sentence.
_PART = 4
_NO_REASON = "is not valid (the reason is hidden, because it contains part of the secret)"
# Quoted strings of Python and JSON; an apostrophe in a word is no quote.
_QUOTED = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_QUOTED_PART = re.compile(r'\["((?:[^"\\]|\\.)*)"\]')

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
            if own == _ALONG_WITH_POOLS and _OF_POOLS & set(self.keys):
                changed[name] = self.make(value)
            elif top_key(own) not in self.keys and own != top_key(_ALONG_WITH_POOLS):
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
        """Yields the other mistakes, with secrets masked in their reasons.

        Leaves out mistakes at values that cannot be secret, which are reported anyway.
        """
        refused = [mistake.path for mistake in self.mistakes(values)]
        texts = {path: text for key in self.keys for path, text in _texts(values.get(key), key)}
        of_refused = {
            text for path, text in texts.items() if any(_is_in(path, whole) for whole in refused)
        }
        for path, reason in mistakes:
            if any(_is_in(path, whole) or _is_in(whole, path) for whole in refused):
                continue
            key = top_key(path)
            if key in self.keys and (is_kept(path) or not self._places(key)):
                hidden = {
                    place: text
                    for place, text in texts.items()
                    if is_kept(place) or not self._places(top_key(place))
                }
                # If headers are one secret string, their names are part of it.
                above = (place for place in hidden if _is_below(path, place))
                masked = _masked(reason, {*hidden.values(), *of_refused}, _QUOTED)
                here = (
                    hidden[place] for place in hidden if _is_in(place, path) or _is_in(path, place)
                )
                if any(_has_part(masked, text) for text in here):
                    masked = _NO_REASON
                yield Mistake(next(above, path), masked)
            else:
                yield Mistake(path, _masked(reason, of_refused))

    def warn_of_unlocated(self, values: Mapping[str, Any]) -> None:
        """Warns of keys with a secret that is not in the stack file, which may not stay secret."""
        for key in sorted(set(self.keys) & values.keys() - set(map(top_key, self.written)) - KEPT):
            self.warn(f"{key} contains a secret. Only {_can_be(key)} stay secret.")

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
    path, whole = (_QUOTED_PART.sub(r".\1", each).removeprefix(".") for each in (path, whole))
    return path == whole or path.startswith((f"{whole}.", f"{whole}["))


def _has_part(reason: str, text: str) -> bool:
    visible = reason.replace(MASK, "")
    parts = (text[start : start + _PART] for start in range(len(text) - _PART + 1))
    return any(part in visible for part in parts)


def _is_below(path: str, whole: str) -> bool:
    return _is_in(path, whole) and not _is_in(whole, path)


def _masked(reason: str, texts: Collection[str], *more: str) -> str:
    """Masks these texts in a reason, in any quotes, and all matches of further patterns.

    One substitution, so that no mask is masked again. A text inside a word is not masked.
    """
    forms = {form for text in texts for form in (text, repr(text)[1:-1], json.dumps(text)[1:-1])}
    known = (
        rf"(?<!\w)['\"]?{re.escape(form)}['\"]?(?!\w)"
        for form in sorted(forms, key=len, reverse=True)
    )
    pattern = "|".join((*known, *more))
    return re.sub(pattern, MASK, reason, flags=re.DOTALL) if pattern else reason


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yields all nested values as strings, each with its path."""
    match value:
        case dict():
            for name, member in value.items():
                yield from _texts(member, f"{path}.{name}")
        case list():
            for number, item in enumerate(value):
                yield from _texts(item, f"{path}[{number}]")
        case _ if value:
            yield path, str(value)
