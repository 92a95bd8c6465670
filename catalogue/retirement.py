"""What Azure has retired, and what takes the place of retired families of sizes."""

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

from catalogue.nodes import SKIP_DRIVER_TAG
from catalogue.today import today

# When the facts here were true.
AS_OF = date(2026, 11, 21)

# By family, the size to move to: of the same kind of work, with a whole GPU.
SUCCESSORS: Mapping[str, str] = MappingProxyType(
    {
        "NC": "Standard_NC8as_T4_v3",
        "NC_Promo": "Standard_NC8as_T4_v3",
        "NCv2": "Standard_NC24ads_A100_v4",
        "NCv3": "Standard_NC24ads_A100_v4",
        "ND": "Standard_ND96asr_v4",
        "NV": "Standard_NV36ads_A10_v5",
        "NV_Promo": "Standard_NV36ads_A10_v5",
        "NVv3": "Standard_NV36ads_A10_v5",
        "NVv4": "Standard_NV24ads_V710_v5",
    }
)

# Tags of pools that once had a meaning: since when they have none, and what takes their place.
TAGS: Mapping[str, tuple[date, str]] = MappingProxyType(
    {SKIP_DRIVER_TAG: (date(2025, 8, 14), "gpuProfile.driver: None")}
)

# A day on which nothing of what the catalogue knows was retired yet.
BEFORE_ANY = date(2023, 9, 5)


def has_come(retired_on: date | None) -> bool:
    """Whether the day of a retirement has come; None: no such day is known."""
    return retired_on is not None and retired_on <= today()
