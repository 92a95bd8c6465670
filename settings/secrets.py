"""Secrets in a stack file: which settings can be one, and how they are kept."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from catalogue.mistakes import Mistake
from settings.section import Section

# Of everything else, names, ids and the resources themselves are made.
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
# AKS repeats the labels, taints and tags of all pools in the cluster's own list of pools, which
# goes to the state with the cluster. The engine keeps a list as a secret that has one in what the
# program says of it, and the program says the system pool.
_OF_POOLS = frozenset({"gpuPools", "tags"})
_ALONG_WITH_POOLS = "systemPool.osSku"
MASK = "[secret]"
# Fewer letters of a secret stand in any sentence.
_PART = 4
_NO_REASON = "is not valid; the reason would show a part of the secret"
# As Python and JSON quote; an apostrophe opens nothing.
_QUOTED = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_QUOTED_PART = re.compile(r'\["((?:[^"\\]|\\.)*)"\]')

SomeSection = TypeVar("SomeSection", bound=Section)


@dataclass(frozen=True)
class Secrets:
    """What is secret in a configuration.

    Pulumi tells of a key that there is a secret in it, and not where: so every value below it is
    one that can be.
    """

    make: Callable[[str], Any]
    """Makes a secret of a text."""
    keys: Collection[str]
    """The keys that have a secret in them: tags, gpuPools."""
    written: Collection[str] = ()
    """Where the stack file has encrypted values, if it can be read: gpuPools[0].labels.team."""

    warn: Callable[[str], None] = lambda _: None
    """Is told of each key whose secret is not in the stack file: nobody knows where it is."""

    def of_project(self, project: str) -> "Secrets":
        """Those of one project, whose name is before each key and path: aks-gpu:tags."""
        prefix = f"{project}:"
        keys, written = (
            [path.removeprefix(prefix) for path in paths if path.startswith(prefix)]
            for paths in (self.keys, self.written)
        )
        return Secrets(self.make, keys, written, self.warn)

    def kept(self, section: SomeSection, path: str = "") -> SomeSection:
        """Returns settings whose values that can be secrets are."""
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
                changed[name] = self.kept(value, own)
            elif isinstance(value, list) and any(isinstance(item, Section) for item in value):
                changed[name] = [self.kept(item, f"{own}[]") for item in value]
        return section.model_copy(update=changed)

    def mistakes(self, values: Mapping[str, Any]) -> Iterator[Mistake]:
        """The mistake of each secret that could not be kept."""
        for key in set(self.keys) & values.keys():
            paths = self._places(key)
            if not paths and not isinstance(values[key], dict | list):
                paths = [key]
            yield from cannot_be_secret(paths)

    def told(self, mistakes: Iterable[Mistake], values: Mapping[str, Any]) -> Iterator[Mistake]:
        """The other mistakes, without what is secret in their reasons.

        Those at a secret that could not be kept are left out: what they say of it is of no use.
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
                # What a secret text is made of has names from it: those of headers.
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

    def tell(self, values: Mapping[str, Any]) -> None:
        """Warns of what may not stay secret."""
        for key in sorted(set(self.keys) & values.keys() - set(map(top_key, self.written)) - KEPT):
            self.warn(f"There is a secret in {key}. Of {key}, {_can_be(key)} stay secret.")

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
    """Whether there is a value that can be a secret at a path: gpuPools[0].labels.team."""
    general = re.sub(r"\[\d+\]", "[]", path)
    return any(general == kept or general.startswith((f"{kept}.", f"{kept}[")) for kept in KEPT)


def cannot_be_secret(paths: Collection[str]) -> Iterator[Mistake]:
    """The mistake of each encrypted value that could not be kept."""
    for path in paths:
        if not is_kept(path):
            key = top_key(path)
            only = f"; of {key}, {_can_be(key)} can" if _can_be(key) else ""
            yield Mistake(path, f"cannot be a secret{only}. Set it again without --secret")


def top_key(path: str) -> str:
    return re.split(r"[.\[]", path)[0]


def _can_be(key: str) -> str:
    return " and ".join(sorted(kept for kept in KEPT if top_key(kept) == key))


def _is_in(path: str, whole: str) -> bool:
    """Whether a path is that of a part of another's, or the same."""
    path, whole = (_QUOTED_PART.sub(r".\1", each).removeprefix(".") for each in (path, whole))
    return path == whole or path.startswith((f"{whole}.", f"{whole}["))


def _has_part(reason: str, text: str) -> bool:
    said = reason.replace(MASK, "")
    parts = (text[start : start + _PART] for start in range(len(text) - _PART + 1))
    return any(part in said for part in parts)


def _is_below(path: str, whole: str) -> bool:
    return _is_in(path, whole) and not _is_in(whole, path)


def _masked(reason: str, texts: Collection[str], *more: str) -> str:
    """A reason without these texts, however they are quoted in it, and without what else matches.

    All at once: a mask is not masked again. A text inside a word is no secret that is repeated.
    """
    forms = {form for text in texts for form in (text, repr(text)[1:-1], json.dumps(text)[1:-1])}
    known = (
        rf"(?<!\w)['\"]?{re.escape(form)}['\"]?(?!\w)"
        for form in sorted(forms, key=len, reverse=True)
    )
    pattern = "|".join((*known, *more))
    return re.sub(pattern, MASK, reason, flags=re.DOTALL) if pattern else reason


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """The values in a value, by their paths, as texts."""
    match value:
        case dict():
            for name, member in value.items():
                yield from _texts(member, f"{path}.{name}")
        case list():
            for number, item in enumerate(value):
                yield from _texts(item, f"{path}[{number}]")
        case _ if value:
            yield path, str(value)
