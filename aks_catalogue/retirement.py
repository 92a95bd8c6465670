"""What Azure has retired, and the successors of retired VM size families."""

from collections.abc import Mapping
from datetime import date, timedelta
from types import MappingProxyType

from aks_catalogue.nodes import SKIP_DRIVER_TAG
from aks_catalogue.today import today

# The date of these facts.
AS_OF = date(2026, 11, 21)

# By family, the size to move to: for the same kind of work, with at least one whole GPU.
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

# Tags of pools that AKS ignores now: since when, and the property that replaces them.
TAGS: Mapping[str, tuple[date, str]] = MappingProxyType(
    {SKIP_DRIVER_TAG: (date(2025, 8, 14), "gpuProfile.driver: None")}
)

# Node images that end, by osSKU.
IMAGES: Mapping[str, date] = MappingProxyType({"Ubuntu2204": date(2027, 6, 30)})
# For how long Azure keeps a preview version of AKS's API (AKS preview API life cycle).
PREVIEW_API = timedelta(days=365)

# A date before all retirements in the catalogue.
BEFORE_ALL_RETIREMENTS = date(2023, 9, 5)


def has_passed(retired_on: date | None) -> bool:
    """Whether a retirement is in effect. None means that no retirement is announced."""
    return retired_on is not None and retired_on <= today()
