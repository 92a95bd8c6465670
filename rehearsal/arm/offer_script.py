"""A script of what the subscription is not offered: sizes, quota, versions.

It is `offers.json` in the cloud's home, and takes effect at the next request whenever it changes.
Without the file, or without a key, everything in the tables is on offer. Its keys:

- `sizes`: a list of `{size, location, is, zones, reason}`. `is` says what is wrong with the size:
  `absent` (not offered there at all), `restricted` (listed, but not for this subscription; in
  `zones` only, if some are named) or `soldOut` (no list tells: the operation of a PUT fails).
  `reason` of a restriction: `NotAvailableForSubscription`, the default, or `QuotaId`;
- `limits`: a list of `{name, location, limit}`: the limit of a family, of `cores` or of
  `lowPriorityCores`;
- `versions`: a list of `{location, offered}`: the minor versions of Kubernetes that are on offer;
- `features`: a list of preview features, such as `Microsoft.Compute/EncryptionAtHost`, that the
  subscription has from the start; without it there is none;
- `pageSize`: how many items a page has, of every list that comes in pages;
- `today`: the day by which sizes and images are retired, such as `2026-09-29`; the default is the
  era's;
- `anyGpuSize`: true puts GPU sizes on offer that no table knows, by their names;
- `autoscaledCounts`: what a PUT with another count does to a pool that the autoscaler scales:
  `scale` (the pool gets the count; the default) or `refuse` (400). No recording shows which of them
  AKS does.

`size`, `name` and `location` are compared without case and white space, and `*` in them matches
anything; the default of `location` is `*`. Of several lines that match, the first one counts.
"""

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, TypeVar

from catalogue.regions import plain

PAGE_SIZE = 50
_REFUSES = {"scale": False, "refuse": True}


@dataclass(frozen=True, kw_only=True)
class Line:
    """What every line of the script has."""

    location: str = "*"


@dataclass(frozen=True, kw_only=True)
class SizeLine(Line):
    size: str
    is_: Literal["offered", "absent", "restricted", "soldOut"]
    zones: tuple[str, ...] = ()
    reason: str = "NotAvailableForSubscription"


@dataclass(frozen=True, kw_only=True)
class LimitLine(Line):
    name: str
    limit: int


@dataclass(frozen=True, kw_only=True)
class VersionsLine(Line):
    offered: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class OfferScript:
    sizes: tuple[SizeLine, ...] = ()
    limits: tuple[LimitLine, ...] = ()
    versions: tuple[VersionsLine, ...] = ()
    features: tuple[str, ...] = ()
    page_size: int = PAGE_SIZE
    refuses_autoscaled_counts: bool = False
    today: date | None = None
    any_gpu_size: bool = False


class ScriptError(ValueError):
    """The script is not valid."""


def parse(content: dict[str, Any]) -> OfferScript:
    """Returns the script in a JSON object."""
    content = dict(content)
    try:
        return OfferScript(
            sizes=tuple(_size(line) for line in content.pop("sizes", ())),
            limits=tuple(LimitLine(**line) for line in content.pop("limits", ())),
            versions=tuple(
                VersionsLine(**line | {"offered": tuple(line["offered"])})
                for line in content.pop("versions", ())
            ),
            features=tuple(map(str, content.pop("features", ()))),
            page_size=int(content.pop("pageSize", PAGE_SIZE)),
            refuses_autoscaled_counts=_REFUSES[content.pop("autoscaledCounts", "scale")],
            any_gpu_size=content.pop("anyGpuSize", False) is True,
            today=_day(content.pop("today", None)),
            **content,
        )
    except (TypeError, KeyError, ValueError) as error:
        raise ScriptError(f"offers.json cannot be read: {error}") from error


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _size(content: dict[str, Any]) -> SizeLine:
    line = dict(content)
    is_ = line.pop("is")
    if is_ not in ("absent", "restricted", "soldOut"):
        raise ScriptError(f"`is` is absent, restricted or soldOut, and not {is_!r}")
    zones = tuple(map(str, line.pop("zones", ())))
    return SizeLine(is_=is_, zones=zones, **line)


AnyLine = TypeVar("AnyLine", bound=Line)


def at(lines: Iterable[AnyLine], location: str) -> list[AnyLine]:
    """Returns the lines that hold for a location."""
    return [line for line in lines if meets(line.location, location)]


def meets(pattern: str, name: str) -> bool:
    return fnmatch.fnmatchcase(plain(name), plain(pattern))
