"""What a program takes out is taken out on Azure, or somebody says that it is not.

AKS keeps what a PUT leaves out. So every argument of a component, taken out, either leaves a value
that undoes it in the request, or is in a table of what replaces the resource or stays.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields, replace
from inspect import getclosurevars
from typing import Any

import pytest

from aks_catalogue import aks_properties
from aks_catalogue.shapes import at
from aks_catalogue.valid import property_mistakes
from components import (
    AksCluster,
    AksClusterArgs,
    AutoscalerArgs,
    EntraArgs,
    GpuNodePool,
    GpuNodePoolArgs,
    MaintenanceArgs,
    NetworkArgs,
    NodePool,
    NodePoolArgs,
    SharingArgs,
    SystemNodePool,
    SystemNodePoolArgs,
    SystemPoolArgs,
    TimeSlicingArgs,
)
from components.declared import camel_case, rules_of
from tests.conftest import Deploy

PLACE: dict[str, Any] = {"resource_group_name": "g", "cluster_name": "c"}
SUBNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n"
IDENTITY = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/"
RESERVATIONS = (
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/r"
)
NETWORK = NetworkArgs(
    outbound="none",
    dataplane="cilium",
    policy="cilium",
    pod_cidr="10.8.0.0/16",
    service_cidr="10.0.0.0/16",
    dns_service_ip="10.0.0.9",
)
SYSTEM = SystemPoolArgs(vm_size="Standard_D4ds_v5")
ENTRA = EntraArgs(admin_group_object_ids=["00000000-0000-0000-0000-000000000001"])

# What an argument is set to where it needs another one, or a value of a form of its own. All others
# get the first of these that their rules take.
POOL: dict[str, dict[str, Any]] = {
    "min_count": {"min_count": 1, "max_count": 3},
    "max_count": {"min_count": 1, "max_count": 3},
    "extra": {"extra": {"kubeletConfig": {"cpuManagerPolicy": "static"}}},
}
SYSTEM_POOL: dict[str, dict[str, Any]] = POOL | {
    "taints": {"taints": ["CriticalAddonsOnly=true:NoSchedule"]},
}
USER_POOL: dict[str, dict[str, Any]] = POOL | {
    "spot_max_price": {"spot": True, "spot_max_price": 1.5},
}
GPU_POOL: dict[str, dict[str, Any]] = USER_POOL | {
    "capacity_reservation_group_id": {"capacity_reservation_group_id": RESERVATIONS},
    "gpu_taint": {"tainted": True, "gpu_taint": "nvidia.com/gpu"},
    "proximity_placement_group_id": {
        "proximity_placement_group_id": RESERVATIONS.replace(
            "capacityReservationGroups", "proximityPlacementGroups"
        )
    },
    "mig_strategy": {
        "vm_size": "Standard_NC24ads_A100_v4",
        "mig_profile": "MIG1g",
        "mig_strategy": "mixed",
    },
    "sharing": {"sharing": SharingArgs(time_slicing=TimeSlicingArgs(replicas=2))},
    "mig_profile": {"vm_size": "Standard_NC24ads_A100_v4", "mig_profile": "MIG1g"},
    "gpu_stack": {"gpu_stack": "none"},
    "gpu_operator_driver": {"gpu_stack": "operator", "gpu_operator_driver": "operator"},
    "custom_headers": {"custom_headers": {"A": "b"}},
    "replace_on_header_change": {"custom_headers": {"A": "b"}, "replace_on_header_change": True},
}
CLUSTER: dict[str, dict[str, Any]] = {
    "network": {"network": NETWORK},
    "private_dns_zone": {"private": True, "private_dns_zone": "none"},
    "support_plan": {"sku_tier": "Premium", "support_plan": "AKSLongTermSupport"},
    "autoscaler": {"autoscaler": AutoscalerArgs(expander="least-waste")},
    "maintenance": {"maintenance": MaintenanceArgs(day="Sunday", start="02:00")},
    "user_assigned_identity_id": {
        "user_assigned_identity_id": f"{IDENTITY}userAssignedIdentities/i"
    },
    "entra": {"entra": ENTRA},
    "disable_local_accounts": {"entra": ENTRA, "disable_local_accounts": True},
    "extra": {"extra": {"addonProfiles": {"azurepolicy": {"enabled": True}}}},
}
VALUES: dict[str, list[Any]] = {
    "bool": [True, False],
    "int": [2, 60],
    "float": [2.5],
    "Mapping": [{"a": "b"}],
    "Sequence": [["1"], ["a=b:NoSchedule"]],
    "str": ["1.35", "33%", "other"],
}
# What AKS raises by itself, and the docs say so; and what is sent with each request or not at all.
OF_AKS = {"kubernetesVersion", "orchestratorVersion"}
OF_REQUESTS = {"customHeaders", "replaceOnHeaderChange"}
# The limits go with the autoscaler: AKS drops them where it is turned off.
WITH_THE_AUTOSCALER = {"minCount", "maxCount"}
# Said as a whole, or replaced as a whole.
WHOLES = {"nodeLabels", "tags", "identity", "agentPoolProfiles"}

Make = Callable[[dict[str, Any]], None]


def make_gpu_pool(changes: dict[str, Any]) -> None:
    args: dict[str, Any] = {"vm_size": "Standard_NC8as_T4_v3", "tainted": False, **changes}
    GpuNodePool("it", GpuNodePoolArgs(**PLACE, pool_name="it", **args))


def make_system_pool(changes: dict[str, Any]) -> None:
    args: dict[str, Any] = {"vm_size": "Standard_D4ds_v5", **changes}
    SystemNodePool("it", SystemNodePoolArgs(**PLACE, pool_name="it", **args))


def make_node_pool(changes: dict[str, Any]) -> None:
    args: dict[str, Any] = {"vm_size": "Standard_D4ds_v5", **changes}
    NodePool("it", NodePoolArgs(**PLACE, pool_name="it", **args))


def make_cluster(changes: dict[str, Any]) -> None:
    place: dict[str, Any] = {**PLACE, "location": "eastus"}
    AksCluster("it", replace(AksClusterArgs(**place, system_pool=SYSTEM), **changes))


POOL_TOLD = {
    *aks_properties.POOL.kept,
    *aks_properties.POOL.replacing({"gpuProfile.driver"}),
} | OF_AKS
# What is fixed and is AKS's to choose is replaced where it is said; taken out, it stays.
POOL_TOLD |= WITH_THE_AUTOSCALER | OF_REQUESTS | {"scaleSetPriority"}
# All that no argument sends is told, wherever it is.
POOL_TOLD |= {"kubeletConfig"}
CLUSTER_TOLD = {*aks_properties.CLUSTER.kept, *aks_properties.CLUSTER.must_stay} | OF_AKS
# Said as long as there is an aadProfile, whose going is refused.
CLUSTER_TOLD |= {"disableLocalAccounts", "addonProfiles.azurepolicy.enabled"}
KINDS: dict[str, tuple[str, Make, dict[str, dict[str, Any]], set[str], Any]] = {
    "gpu": ("AgentPool", make_gpu_pool, GPU_POOL, POOL_TOLD, GpuNodePoolArgs),
    "system": (
        "AgentPool",
        make_system_pool,
        SYSTEM_POOL,
        POOL_TOLD | {"nodeTaints"},
        SystemNodePoolArgs,
    ),
    "user": ("AgentPool", make_node_pool, USER_POOL, POOL_TOLD, NodePoolArgs),
    "cluster": ("ManagedCluster", make_cluster, CLUSTER, CLUSTER_TOLD, AksClusterArgs),
}


def row(kind: str, name: str) -> dict[str, Any]:
    """What an argument is set to."""
    *_, rows, _, arguments = KINDS[kind]
    if name in rows:
        return rows[name]
    declared: Any = next(each for each in fields(arguments) if each.name == name)
    of_type = next(VALUES[word] for word in VALUES if word in str(declared.type))
    return next(
        {name: value}
        for value in (*choices(rules_of(arguments).get(camel_case(name), ())), *of_type)
        if value != declared.default and takes(arguments, {name: value})
    )


def choices(rules: Iterable[Any]) -> Iterator[str]:
    """The values that `one_of` names."""
    for rule in rules:
        judge = getclosurevars(rule).nonlocals.get("is_wrong")
        yield from getclosurevars(judge).nonlocals.get("choices", ()) if judge else ()


def takes(arguments: Any, changes: dict[str, Any]) -> bool:
    all_ = ((camel_case(each.name), each.default) for each in fields(arguments))
    known = {name: default for name, default in all_ if default is not MISSING}
    values = {**known, **{camel_case(name): value for name, value in changes.items()}}
    return not [*property_mistakes(rules_of(arguments), camel_case(next(iter(changes))), values)]


def optional(kind: str) -> list[str]:
    return [
        each.name
        for each in fields(KINDS[kind][-1])
        if each.default is not MISSING or each.default_factory is not MISSING
    ]


def paths(values: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, value in values.items():
        inner = f"{path}.{name}" if path else name
        if isinstance(value, dict) and inner not in WHOLES:
            yield from paths(value, inner) if value else [inner]
        else:
            yield inner


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in KINDS for name in optional(kind)]
)
def test_a_removed_property_is_sent_as_empty_or_reported(
    deploy: Deploy, kind: str, name: str
) -> None:
    token, make, _, warned, _ = KINDS[kind]
    before = deploy(lambda: make(row(kind, name))).only(token).inputs
    after = deploy(lambda: make({})).only(token).inputs

    gone = {path for path in paths(before) if at(after, path) is None}
    stays = {path for path in gone if path not in warned and path.partition(".")[0] not in warned}
    assert stays == set()
