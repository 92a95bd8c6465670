"""Which versions of AKS's API have a property, from aks_versions.csv.

The table is from Azure's SDKs for Python, which have a model for each API version (stable versions
until 2026-08-01, previews until 2025-05-02), and from recorded responses with more properties.
Responses of stable versions before 2025-09-01 have no eTag, though some of the models have it.

To renew it: of a new version of azure-mgmt-containerservice, add a row for each field that
aks_types.csv gets, with that version as `stable`; of a preview, read its specification in
Azure/azure-rest-api-specs. Then AS_OF, and AZURE_NATIVE after an update of pulumi-azure-native,
whose documentation of ManagedCluster names it.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from types import MappingProxyType

# The date of these facts.
AS_OF = date(2026, 11, 22)
# The version that azure-native sends: a program with an SDK for another one is not ours.
AZURE_NATIVE = "2025-09-01"
# With this property of a pool, AKS manages its GPUs.
MANAGED_GPUS = "gpuProfile.nvidia.managementMode"


@dataclass(frozen=True)
class Lifetime:
    """The first stable and preview version with a property, and the first without it again.

    Empty stands for none. Preview versions are given by their date.
    """

    stable: str
    preview: str
    gone: str

    def is_in(self, api_version: str) -> bool:
        day, is_preview = api_version[:10], api_version.endswith("-preview")
        begins = filter(None, [self.stable, self.preview if is_preview else ""])
        return any(begin <= day for begin in begins) and not "" < self.gone <= day


@cache
def lifetimes(resource: str) -> Mapping[str, Lifetime]:
    """Returns the lifetimes of the properties of a `cluster` or a `pool` by path.

    A path has neither the names in a map nor the places in a list.
    """
    with Path(__file__).with_name("aks_versions.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["resource"] == resource]
    return MappingProxyType(
        {row["path"]: Lifetime(row["stable"], row["preview"], row["gone"]) for row in rows}
    )


def is_beyond_azure_native(path: str) -> bool:
    """Whether only aks-preview can send a property of a pool."""
    return not lifetimes("pool")[f"properties.{path}"].is_in(AZURE_NATIVE)
