"""offers.json: the sizes, quota and versions that the subscription does not get.

The file is in the cloud's home. A change applies from the next request on. Without the file, or
without a key, everything in the tables is on offer. Its keys:

- `sizes`: a list of `{size, location, is, zones, reason}`. `is` has the availability of the size:
  `offered` (the default; it also offers a size that no table has, judged by its name),
  `absent` (not offered in the location), `restricted` (listed, but not available to this
  subscription; if `zones` is set, in these zones only) or `soldOut` (listed as available, but there
  are no machines: the operation of a PUT fails, and the autoscaler gets no nodes). `reason` is the
  reason of a restriction: `NotAvailableForSubscription`, the default, or `QuotaId`. More keys of
  `soldOut`:
  - `zones`: in these zones only. A pool of several zones gets its nodes in the others; one without
    zones gets them as long as a zone of the region has some;
  - `priority`: `spot` or `regular` machines only;
- `limits`: a list of `{name, location, limit}`: the quota of a family, of `cores` or of
  `lowPriorityCores`;
- `versions`: a list of `{location, offered}`: the minor versions of Kubernetes that are on offer;
- `features`: preview features that are registered from the start; by default
  `Microsoft.Compute/EncryptionAtHost` and `Microsoft.ContainerService/UseCustomizedOSImage`;
- `pageSize`: the number of items on a page of a list;
- `today`: the day by which retirements of sizes and images count, such as `2026-09-29`; the default
  is the era's;
- `anyGpuSize`: true also offers GPU sizes that no table has, judged by their names;
- `autoscaledCounts`: what a PUT with another count does to a pool that the autoscaler scales:
  `scale` (the pool gets the count; the default) or `refuse` (400). No recording shows which of them
  AKS does.

`size`, `name` and `location` are compared without case and white space; `*` matches any text. The
default of `location` is `*`. Of several entries that match, the first one counts. Entries that are
`soldOut` add up, and the next other one counts beside them.
"""

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal, TypeVar

from pydantic import ConfigDict, Field

from aks_catalogue.regions import plain

PAGE_SIZE = 50
_STRICT = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


@dataclass(frozen=True, kw_only=True)
class Line:
    """The common keys of the script's entries."""

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
    priority: Literal["spot", "regular"] | None = None

    def __post_init__(self) -> None:
        if self.is_ != "soldOut" and self.priority is not None:
            raise ValueError("priority is a key of soldOut")


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
    # As in a subscription in use, which AKS has invited.
    features: tuple[str, ...] = (
        "Microsoft.Compute/EncryptionAtHost",
        "Microsoft.ContainerService/UseCustomizedOSImage",
    )
    page_size: Annotated[int, Field(validation_alias="pageSize", ge=1)] = PAGE_SIZE
    autoscaled_counts: Annotated[
        Literal["scale", "refuse"], Field(validation_alias="autoscaledCounts")
    ] = "scale"
    today: date | None = None
    any_gpu_size: Annotated[bool, Field(validation_alias="anyGpuSize")] = False


AnyLine = TypeVar("AnyLine", bound=Line)


def at(lines: Iterable[AnyLine], location: str) -> list[AnyLine]:
    """Returns the entries for a location."""
    return [line for line in lines if meets(line.location, location)]


def meets(pattern: str, name: str) -> bool:
    return fnmatch.fnmatchcase(plain(name), plain(pattern))
