"""What AKS does with the properties of node pools and clusters, as of November 2026.

The table says it by path. A change of what is `fixed` needs a new resource. Properties that AKS
updates in place are not fixed, even if it does so in one direction only (`networkPluginMode`,
`podCidr`, `networkPolicy`, `outboundType`, a service principal that gives way to an identity) or in
a preview (`capacityReservationGroupID`, with a reimage of the nodes): aks-preview sends the update,
and AKS refuses it where it must. azure-native replaces a cluster for the first four all the same,
and no option of Pulumi prevents it.

AKS keeps nearly all properties that a PUT request does not contain. So one that a program removes
is sent as an empty value, if there is one. The others stay, and the program is warned. No row has
versions: a program omits them so that AKS upgrades them.

`reimages` has the changes after which AKS reimages all nodes by itself, as patterns `from>to`; `*`
alone is any change. They are from AKS's page on the node disruption policy, of 2026-07-14; those of
`osSKU` and `enableFIPS` from the pages on these, as of 2026-08-21. What waits for the next
upgrade of the node image (SSH, the metadata service, `outboundType`) is no such change.
"""

import csv
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aks_catalogue.shapes import at

# The date of these facts.
AS_OF = date(2026, 11, 22)
# The sections of which AKS keeps what a request leaves out, while it sends the section. Of others,
# what is left out of a section goes.
KEPT_INSIDE = frozenset({"networkProfile", "securityProfile", "storageProfile", "upgradeSettings"})
# What AKS takes for a property that is not set, where that is not `none`.
_NOT_SET = {"apiServerAccessProfile.privateDNSZone": "system"}


@dataclass(frozen=True)
class Properties:
    """The rows of one resource."""

    fixed: Mapping[str, str]
    """What AKS sets only when it creates the resource, by path, with the reason."""
    chosen_by_aks: Collection[str]
    """What AKS chooses or keeps if a program does not set it. After a refresh or an import it can
    be in the state."""
    emptied_by: Mapping[str, Any]
    """The value that removes a property, by its name."""
    kept: Collection[str]
    """What no value removes, although a program can."""
    must_stay: Mapping[str, str]
    """What a program cannot remove, by path, with the reason."""
    by_server: Collection[str]
    """What the server sets. It ignores what a client sends."""
    reimages: Mapping[str, str]
    """The changes that reimage all nodes, by path."""

    def replacing(self, given: Collection[str]) -> list[str]:
        """Returns the paths that replace a resource whose program sets the properties `given`.

        Pulumi would report a value as removed if it is in the state after a refresh, and the
        program does not set it. AKS keeps such a value, so it must not replace the resource.
        """
        return [path for path in self.fixed if path not in self.chosen_by_aks or path in given]

    def given_in(self, properties: Mapping[str, Any]) -> list[str]:
        """Returns the fixed paths at which properties have a value, or an output."""
        return [path for path in self.fixed if at(properties, path) is not None]

    def reimaging(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
        """Returns the paths whose change reimages all nodes. AKS keeps what is left out."""
        return [
            path
            for path, patterns in self.reimages.items()
            if at(new, path) is not None
            and (before := _word(path, old)) != (after := _word(path, new))
            and any(fnmatchcase(f"{before}>{after}", pattern) for pattern in patterns.split())
        ]


def _word(path: str, properties: Mapping[str, Any]) -> str:
    """Returns a value as the patterns have it. What is off, empty or not set is `none`."""
    value = at(properties, path)
    if not value:
        return _NOT_SET.get(path, "none")
    words = value if isinstance(value, list) else [value]
    texts = (word if isinstance(word, str) else json.dumps(word, sort_keys=True) for word in words)
    return "+".join(texts).lower()


def _properties(resource: str) -> Properties:
    with Path(__file__).with_name("aks_properties.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["resource"] == resource]

    def column(name: str) -> Mapping[str, str]:
        return MappingProxyType({row["path"]: row[name] for row in rows if row[name]})

    emptied_by = {path: json.loads(value) for path, value in column("emptied_by").items()}
    return Properties(
        column("fixed"),
        frozenset(column("chosen_by_aks")),
        MappingProxyType(emptied_by),
        tuple(column("kept")),
        column("must_stay"),
        frozenset(column("by_server")),
        column("reimages"),
    )


POOL, CLUSTER = map(_properties, ("pool", "cluster"))
