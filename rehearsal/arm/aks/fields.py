"""The properties of AKS: how a PUT changes each, and which API versions have it."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from catalogue import aks_properties, aks_types


class Change(Enum):
    """How a PUT of an existing resource changes a property."""

    # It gets the value of the PUT, and keeps its value if the PUT leaves it out.
    KEPT = auto()
    # Fixed at creation: it keeps its value, and another value is refused.
    FIXED = auto()
    # Set by the server, which ignores what a client sends.
    SERVERS = auto()


KEPT, FIXED, SERVERS = Change
Value = TypeVar("Value")


def _by_name(table: Mapping[Value, Iterable[str]]) -> dict[str, Value]:
    """Returns the changes of a table by property name, in alphabetical order."""
    values = {name: value for value, names in table.items() for name in names}
    return dict(sorted(values.items()))


def _beside_location(table: Mapping[str, str]) -> list[str]:
    """Returns the entries inside `properties`; the location is checked elsewhere."""
    return [path for path in table if path not in ("location", "extendedLocation")]


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

    From Azure's SDKs for Python, which have a model for each API version (stable versions until
    2026-08-01, previews until 2025-05-02), and from recorded responses with more properties.
    Responses of stable versions before 2025-09-01 have no eTag, though some of the models have it.
    """
    with Path(__file__).with_name("properties.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["resource"] == resource]
    return MappingProxyType(
        {row["path"]: Lifetime(row["stable"], row["preview"], row["gone"]) for row in rows}
    )


def _table(resource: str, exceptions: Mapping[Change, Iterable[str]]) -> dict[str, Change]:
    """Returns the change of each property, and of some nested ones."""
    paths = [
        path.removeprefix("properties.") for path in lifetimes(resource) if "properties." in path
    ]
    return {path: KEPT for path in paths if "." not in path} | _by_name(exceptions)


CLUSTER = _table(
    "cluster",
    {
        # A service principal is changed by an action of its own.
        FIXED: [
            *_beside_location(aks_properties.CLUSTER.fixed),
            "servicePrincipalProfile.clientId",
        ],
        SERVERS: [*aks_properties.CLUSTER.by_server, "agentPoolProfiles"],
    },
)
POOL = _table(
    "pool",
    {
        FIXED: aks_properties.POOL.fixed,
        SERVERS: [*aks_properties.POOL.by_server, "virtualMachineNodesStatus"],
    },
)
INLINE_POOL = POOL | {"name": SERVERS}
TABLES: Mapping[str, Mapping[str, Change]] = {"cluster": CLUSTER, "pool": POOL}

# Properties that an empty list or map clears; responses then leave them out.
EMPTIED = frozenset(
    ["addonProfiles", "autoScalerProfile", "availabilityZones", "nodeInitializationTaints"]
    + [name for name, empty in aks_properties.POOL.emptied_by.items() if empty in ({}, [])]
)

# The nested properties that a section keeps if a PUT leaves them out; all others are removed.
KEPT_INSIDE = {
    "cluster": (
        "aadProfile.tenantID",
        "apiServerAccessProfile.privateClusterVersion",
        "networkProfile.*",
        "networkProfile.loadBalancerProfile.effectiveOutboundIPs",
        "oidcIssuerProfile.issuerURL",
        "securityProfile.*",
        "storageProfile.*",
        "storageProfile.diskCSIDriver.version",
    ),
    "pool": (
        # hashicorp/terraform-provider-azurerm#24491: a drain timeout that is left out stays.
        "upgradeSettings.*",
    ),
}

# Kinds of pools that the rehearsal does not play.
NOT_PLAYED: Mapping[str, tuple[str, ...]] = {
    "mode": ("Gateway", "Machines", "ManagedSystem"),
    "osSKU": (
        *("AzureContainerLinux", "AzureLinux3OSGuard", "AzureLinuxOSGuard", "CBLMariner"),
        *("Flatcar", "Mariner", "Windows2019", "Windows2022", "Windows2025", "WindowsAnnual"),
    ),
    "osType": ("Windows",),
    "type": ("AvailabilitySet", "VirtualMachines"),
    "workloadRuntime": ("KataMshvVmIsolation", "KataVmIsolation", "WasmWasi"),
}

# What recordings and pages prove otherwise than the SDK's enumerations. The spelling is AKS's; what
# is empty is judged by a rule of its own.
_OTHERWISE = {
    "mode": "System User",
    "osSKU": "",
    "workloadRuntime": "",
    "properties.networkProfile.loadBalancerProfile.backendPoolType": "nodeIPConfiguration nodeIP",
    "properties.networkProfile.outboundType": (
        "loadBalancer userDefinedRouting managedNATGateway userAssignedNATGateway none block "
        "managedNATGatewayV2"
    ),
    "properties.publicNetworkAccess": "Enabled Disabled SecuredByPerimeter",
    "properties.securityProfile.kubernetesResourceObjectEncryptionProfile"
    ".infrastructureEncryption": "Enabled Disabled",
}


def _choices(kind: str) -> Mapping[str, tuple[str, ...]]:
    """Returns the values that properties may have, in any case; those of previews are the same."""
    known = {
        path: tuple(_OTHERWISE[path].split()) if path in _OTHERWISE else values
        for path, values in aks_types.choices(kind).items()
        # What the server sets, and inline pools, which are judged as pools.
        if not path.startswith(("systemData.", "properties.agentPoolProfiles"))
    }
    return MappingProxyType({path: values for path, values in known.items() if values})


CHOICES = {
    "cluster": _choices("ManagedCluster"),
    "pool": _choices("AgentPoolManagedClusterAgentPoolProfileProperties"),
}
# Enumerations with an error code of their own in AKS's list of codes.
CODES: Mapping[str, str] = {
    "properties.networkProfile.networkPlugin": "UnknownNetworkPlugin",
    "properties.networkProfile.outboundType": "UnsupportedOutboundType",
    "properties.networkProfile.loadBalancerSku": "InvalidLoadBalancerSku",
}

# Changes of other properties that AKS refuses: path, old and new value.
NOT_CHANGED_TO = (
    # kubernetes/autoscaler#1051, Azure/AKS#409: clients that left out `azure`
    ("networkProfile.networkPlugin", "azure", "kubenet"),
    # rancher/rancher#29924, when AKS allowed no change at all
    ("networkProfile.loadBalancerSku", "standard", "basic"),
)

# The meaning of an absent property without a default: setting it to this is no change.
IMPLIED: Mapping[str, object] = {
    "apiServerAccessProfile.enablePrivateCluster": False,
    "scaleSetPriority": "Regular",
}

# Older stable versions ignore unknown fields, and previews may have fields that no table has. A
# strict version refuses unknown fields at any depth, like Go's JSON reader.
STRICT_SINCE = "2024-01-01"


def is_strict(api_version: str) -> bool:
    return api_version >= STRICT_SINCE and not api_version.endswith("-preview")


@cache
def hidden(resource: str, api_version: str) -> frozenset[str]:
    """Returns the paths of properties that an API version does not have."""
    paths = lifetimes(resource).items()
    return frozenset(path for path, lifetime in paths if not lifetime.is_in(api_version))


def names(properties: Mapping[str, Change], *changes: Change) -> list[str]:
    """Returns the names of the properties with one of these changes."""
    return [name for name, change in properties.items() if change in changes]
