"""NVIDIA's GPU Operator on AKS: its Helm chart, and values with which its parts fit together."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Any

from aks_catalogue.device_plugin import GPU_TOLERATION
from aks_catalogue.mistakes import Mistake, property_path, shown
from aks_catalogue.scheduling import tolerations

# When the facts here were true.
AS_OF = date(2026, 11, 21)

CHART = "gpu-operator"
REPOSITORY = "https://helm.ngc.nvidia.com/nvidia"
VERSION = "v26.7.0"
VERSION_FORM = re.compile(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", re.ASCII)
NAMESPACE = "gpu-operator"

# The labels by which the operator's parts choose their nodes, and two of these parts.
DEPLOY_LABEL = "nvidia.com/gpu.deploy."
DRIVER_PART, TOOLKIT_PART = "driver", "container-toolkit"
# On nodes with this label the operator runs nothing.
WITHOUT_OPERANDS = (f"{DEPLOY_LABEL}operands", "false")
# The container runtime of AKS's own GPU nodes, by the name that containerd has for it.
AKS_RUNTIME = "nvidia-container-runtime"

_CONTROL_PLANE_TOLERATION = {
    "key": "node-role.kubernetes.io/control-plane",
    "operator": "Equal",
    "value": "",
    "effect": "NoSchedule",
}
# Helm replaces lists as a whole, so these contain the chart's own tolerations too.
_TOLERATIONS: Mapping[str, Sequence[Mapping[str, str]]] = MappingProxyType(
    {
        "daemonsets.tolerations": (GPU_TOLERATION,),
        "node-feature-discovery.worker.tolerations": (_CONTROL_PLANE_TOLERATION, GPU_TOLERATION),
    }
)
# Both resources at once are invalid, and without the ClusterPolicy there is no device plugin.
_ONE_RESOURCE = {"clusterPolicy.deployCR": True, "gpuCluster.deployCR": False}
# Helm waits for these pods, and the chart replaces them one by one: 45 minutes for 180 nodes.
_ROLL_OUT = {"rollingUpdate": {"maxUnavailable": "10%"}}
# Each node with GPUs gets the default `all-disabled`, which would undo what AKS has partitioned.
_AKS_PARTITIONS = {"migManager.enabled": False}


@dataclass(frozen=True)
class Profile:
    """Who installs the driver, and the chart's values that follow from it, by path."""

    pools_driver: str
    values: Mapping[str, Any]
    # Values of the profile that a user can override.
    defaults: Mapping[str, Any] = field(default_factory=dict)


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "aks": Profile(
            pools_driver="Install",
            values={
                "driver.enabled": False,
                "toolkit.enabled": False,
                "operator.runtimeClass": AKS_RUNTIME,
                **_ONE_RESOURCE,
            },
        ),
        "operator": Profile(
            pools_driver="None",
            values={"driver.enabled": True, "toolkit.enabled": True, **_ONE_RESOURCE},
            # Without this, the toolkit writes a configuration of a newer version than AKS's own,
            # with which containerd does not start.
            defaults={"toolkit.env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]},
        ),
    }
)


def values(
    driver: str, taints: Sequence[str], users: Mapping[str, Any], *, has_mig: bool
) -> dict[str, Any]:
    """Returns the chart's values: those of the profile, and the user's merged into them.

    The operands tolerate the taints, besides what the user's values tolerate.
    """
    merged = _copied(users)
    for path, value in {**_required(driver, has_mig=has_mig), **PROFILES[driver].defaults}.items():
        _put(merged, path, value)
    for path, standard in _TOLERATIONS.items():
        _put(merged, path, tolerations(taints, standard))
    merged["node-feature-discovery"]["worker"].setdefault("updateStrategy", _ROLL_OUT)
    return merged


def contradictions(
    driver: str, users: Mapping[str, Any], path: str, *, has_mig: bool
) -> Iterator[Mistake]:
    """Yields which of the user's values would break the profile, each with its path."""
    for key in users:
        if "." in key:
            yield Mistake(
                property_path(path, key),
                "Helm reads no keys with dots from values: write nested maps",
            )
    for place, value in {
        **_required(driver, has_mig=has_mig),
        **{list_: [] for list_ in (*_TOLERATIONS, *PROFILES[driver].defaults)},
    }.items():
        yield from _contradiction(driver, users, path, place.split("."), value)


def _contradiction(
    driver: str, users: Any, path: str, keys: Sequence[str], wanted: Any
) -> Iterator[Mistake]:
    here = path
    for key in keys:
        if not isinstance(users, Mapping):
            yield Mistake(here, f"cannot be {shown(users)}: the chart has a map here")
            return
        if key not in users:
            return
        users, here = users[key], property_path(here, key)
    if isinstance(wanted, list):
        if not isinstance(users, list | tuple):
            yield Mistake(here, f"cannot be {shown(users)}: the chart has a list here")
    # In Helm's templates a text such as "false" is true.
    elif users != wanted or type(users) is not type(wanted):
        yield Mistake(here, _why(here, driver, users, wanted))


def _why(path: str, driver: str, users: Any, wanted: Any) -> str:
    if path.endswith("migManager.enabled"):
        because = "AKS partitions the GPUs of pools with a MIG profile, and MIG manager undoes that"
    elif path.endswith("deployCR"):
        because = "the GPUs of this stack need the ClusterPolicy, and no GPUCluster beside it"
    else:
        because = f"gpuOperator.driver: {driver} requires {shown(wanted)}"
    return f"is {shown(users)}, but {because}: remove it"


def _required(driver: str, *, has_mig: bool) -> dict[str, Any]:
    return {**PROFILES[driver].values, **(_AKS_PARTITIONS if has_mig else {})}


def _put(values: dict[str, Any], path: str, value: Any) -> None:
    """Sets a value by its path; a list keeps the user's items in front."""
    *parents, last = path.split(".")
    for key in parents:
        values = values.setdefault(key, {})
    if isinstance(value, list):
        own = list(values.get(last) or ())
        named = {item.get("name") for item in own if isinstance(item, Mapping)} - {None}
        more = [item for item in value if item not in own and item.get("name") not in named]
        value = own + more
    values[last] = value


def _copied(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a copy of nested maps; everything else in it, such as an output, stays as it is."""
    return {
        key: _copied(value) if isinstance(value, Mapping) else value
        for key, value in values.items()
    }
