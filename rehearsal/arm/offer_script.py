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
from typing import Annotated, Literal, TypeVar

from pydantic import ConfigDict, Field

from catalogue.regions import plain

PAGE_SIZE = 50
_STRICT = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


@dataclass(frozen=True, kw_only=True)
class Line:
    """What every line of the script has."""

    __pydantic_config__ = _STRICT

    location: str = "*"


@dataclass(frozen=True, kw_only=True)
class SizeLine(Line):
    size: str
    is_: Annotated[
        Literal["offered", "absent", "restricted", "soldOut"], Field(validation_alias="is")
    ]
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
    __pydantic_config__ = _STRICT

    sizes: tuple[SizeLine, ...] = ()
    limits: tuple[LimitLine, ...] = ()
    versions: tuple[VersionsLine, ...] = ()
    features: tuple[str, ...] = ()
    page_size: Annotated[int, Field(validation_alias="pageSize", ge=1)] = PAGE_SIZE
    autoscaled_counts: Annotated[
        Literal["scale", "refuse"], Field(validation_alias="autoscaledCounts")
    ] = "scale"
    today: date | None = None
    any_gpu_size: Annotated[bool, Field(validation_alias="anyGpuSize")] = False


AnyLine = TypeVar("AnyLine", bound=Line)


def at(lines: Iterable[AnyLine], location: str) -> list[AnyLine]:
    """Returns the lines that hold for a location."""
    return [line for line in lines if meets(line.location, location)]


def meets(pattern: str, name: str) -> bool:
    return fnmatch.fnmatchcase(plain(name), plain(pattern))
