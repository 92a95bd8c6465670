"""Properties that AKS keeps if a PUT request does not contain them, as of November 2026.

AKS keeps nearly all of them. So a property that a program removes must be sent as an empty value,
if there is one. The others stay, and the program is warned. No table has versions: a program omits
them so that AKS upgrades them.
"""

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

# The date of these facts.
AS_OF = date(2026, 11, 22)

# The value that removes a property, by its name.
EMPTY_POOL: Mapping[str, Any] = MappingProxyType(
    {"enableAutoScaling": False, "nodeLabels": {}, "nodeTaints": [], "tags": {}}
)
EMPTY_CLUSTER: Mapping[str, Any] = MappingProxyType(
    {"apiServerAccessProfile": {"authorizedIPRanges": []}, "tags": {}}
)

# Properties that no value removes, by path, with the way to change them. REFUSED_CLUSTER has those
# whose removal is an error, with the reason.
LASTING_POOL: Mapping[str, str] = MappingProxyType(
    {
        "artifactStreamingProfile.enabled": "set artifactStreaming: false to turn it off",
        "capacityReservationGroupID": "only a new pool can be without it",
        "enableEncryptionAtHost": "only a new pool can be without it",
        "maxPods": "another number replaces the pool",
        "osDiskSizeGB": "another size replaces the pool",
        "osDiskType": "another type replaces the pool",
        "osSKU": "to change it, set another value, such as Ubuntu",
        "upgradeSettings.drainTimeoutInMinutes": "to restore AKS's default, set 30",
        "upgradeSettings.maxSurge": "to restore AKS's default, set 10%",
        "upgradeSettings.maxUnavailable": "to restore AKS's default, set 0",
        "upgradeSettings.nodeSoakDurationInMinutes": "to restore AKS's default, set 0",
        "upgradeSettings.undrainableNodeBehavior": "to restore AKS's default, set Schedule",
    }
)
# AKS's defaults of properties that are sent with others. Older states and pools do not have them.
DEFAULT_POOL: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"upgradeSettings": {"maxUnavailable": "0"}}
)
LASTING_CLUSTER: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        (
            "networkProfile.dnsServiceIP",
            "networkProfile.podCidr",
            "networkProfile.serviceCidr",
        ),
        "another value replaces the cluster",
    )
)
REFUSED_CLUSTER: Mapping[str, str] = MappingProxyType(
    {
        "aadProfile": "AKS cannot turn Microsoft Entra ID off again: keep `entra`",
        "apiServerAccessProfile.enablePrivateCluster": (
            "a private cluster stays private: keep `private: true`, or create a new cluster"
        ),
    }
)
