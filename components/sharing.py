"""How pods share the GPUs of a pool, and the device plugin's configuration file for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import yaml

from aks_catalogue import valid_pools as rules
from aks_catalogue.device_plugin import GPU


@dataclass(frozen=True, kw_only=True)
class TimeSlicingArgs:
    """How many pods use a GPU in turns. Nothing keeps them from each other's memory."""

    replicas: Annotated[int, rules.WHOLE, rules.SEVERAL]
    """How many pods get each GPU, at least 2."""
    rename: bool = False
    """Whether pods ask for `nvidia.com/gpu.shared` instead of `nvidia.com/gpu`."""
    fail_requests_greater_than_one: bool = True
    """Whether a container that asks for more than one fails: two replicas are no more of a GPU than
    one."""


@dataclass(frozen=True, kw_only=True)
class SharingArgs:
    """How pods share the GPUs of a pool."""

    mps: Annotated[Mapping[str, Any] | None, rules.NO_MPS] = None
    """Not supported: it is here to be refused with a reason."""
    time_slicing: Annotated[TimeSlicingArgs | None, rules.REQUIRED_TO_SHARE] = None
    """Pods use a GPU in turns. Required."""


def config_file(slicing: TimeSlicingArgs) -> str:
    """Returns the configuration of the device plugin, as its README has it."""
    sharing = {
        "renameByDefault": slicing.rename,
        "failRequestsGreaterThanOne": slicing.fail_requests_greater_than_one,
        "resources": [{"name": GPU, "replicas": slicing.replicas}],
    }
    config = {"version": "v1", "sharing": {"timeSlicing": sharing}}
    return yaml.safe_dump(config, sort_keys=False)
