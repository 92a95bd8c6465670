"""What AKS keeps of a pool or a cluster where a PUT leaves it out, as of November 2026.

It keeps nearly everything. So what a program takes out has to be sent as nothing, where AKS knows a
nothing of it; the rest stays, and whoever takes it out has to hear so. Versions are in neither
table: a program leaves them out where AKS raises them by itself.
"""

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

# When the facts here were true.
AS_OF = date(2026, 11, 22)

# What takes a property out, by its name.
EMPTY_POOL: Mapping[str, Any] = MappingProxyType(
    {"enableAutoScaling": False, "nodeLabels": {}, "nodeTaints": [], "tags": {}}
)
EMPTY_CLUSTER: Mapping[str, Any] = MappingProxyType(
    {"apiServerAccessProfile": {"authorizedIPRanges": []}, "tags": {}}
)

# What nothing takes out, by its path, with what does; and what a program that takes it out cannot
# mean, with why.
LASTING_POOL: Mapping[str, str] = MappingProxyType(
    {
        "enableEncryptionAtHost": "only a new pool is without",
        "osDiskSizeGB": "another size replaces the pool",
        "osDiskType": "another type replaces the pool",
        "osSKU": "set the one that you want, such as Ubuntu",
        "upgradeSettings.maxSurge": "set 10%, AKS's own, to go back to it",
    }
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
        "aadProfile": "Microsoft Entra stays on a cluster for ever: keep `entra`",
        "apiServerAccessProfile.enablePrivateCluster": (
            "a private cluster stays private: keep `private: true`, or make a new cluster"
        ),
    }
)
