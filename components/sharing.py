"""How pods share the GPUs of a pool, and the device plugin's configuration file for it."""

import yaml

from aks_catalogue import valid_pools as rules
from aks_catalogue.device_plugin import GPU
from components.declared import arguments, checked


@arguments
class TimeSlicingArgs:
    """How many pods use a GPU in turns. Nothing keeps them from each other's memory."""

    replicas: int = checked(rules.WHOLE, rules.SEVERAL)
    """How many pods get each GPU, at least 2."""
    rename: bool = False
    """Whether pods ask for `nvidia.com/gpu.shared` instead of `nvidia.com/gpu`."""
    fail_requests_greater_than_one: bool = True
    """Whether a container that asks for more than one fails: two replicas are no more of a GPU than
    one."""


@arguments
class SharingArgs:
    """How pods share the GPUs of a pool."""

    time_slicing: TimeSlicingArgs | None = checked(rules.REQUIRED_TO_SHARE, default=None)
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
