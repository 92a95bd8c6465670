"""The node conditions in which AKS's node problem detector reports on GPUs.

The pages and nodes of AKS differ in some names, and by VM size and node image in what is there at
all: a condition that is missing says nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

# When the facts here were true.
AS_OF = date(2026, 11, 22)

_REPLACE = (
    "drain the node, and delete its machine (`az aks nodepool delete-machines`), so that AKS "
    "creates another; if the problem returns, open a support request"
)
_REIMAGE = (
    "a new node takes some minutes; else drain the node and reimage it, or delete its machine "
    "(`az aks nodepool delete-machines`)"
)


@dataclass(frozen=True)
class NodeProblem:
    """What it means if a condition is true."""

    meaning: str
    advice: str
    # Whether jobs on the node fail; else they are slower, or nobody measures them.
    is_fault: bool = True


XID_ADVICE = (
    "look up the numbers of the Xid errors (in the node's kernel log) in NVIDIA's Xid catalog: for "
    f"RESTART_APP, such as 94, restart the application; for others {_REPLACE}"
)
_XID = NodeProblem("the driver reports Xid errors", XID_ADVICE)
_THROTTLED = NodeProblem(
    "the GPUs are throttled", "look for heat or a power limit in the metrics", is_fault=False
)
PROBLEMS: Mapping[str, NodeProblem] = MappingProxyType(
    {
        "GPUMissing": NodeProblem("the node has fewer GPUs than its VM size", _REPLACE),
        # On the page on node problems, on that on GPUs, and on a node.
        "XIDErrors": _XID,
        "GPUXIDErrors": _XID,
        "XIDError": _XID,
        "NVLinkStatusInactive": NodeProblem("NVLink is down between its GPUs", _REPLACE),
        "IBLinkFlapping": NodeProblem("its InfiniBand link goes down and up", _REPLACE),
        "GPUClockThrottling": _THROTTLED,
        "UnhealthyNvidiaDevicePlugin": NodeProblem(
            "the device plugin that AKS manages does not work", _REIMAGE
        ),
        "UnhealthyNvidiaDCGMServices": NodeProblem(
            "the DCGM services that AKS manages do not work", _REIMAGE, is_fault=False
        ),
        "UnhealthyNvidiaGridLicenseStatus": NodeProblem(
            "its GRID driver has no license, which makes it slow", _REIMAGE, is_fault=False
        ),
    }
)

# Those that are not in the table yet: all report a problem, and none that something is well.
_OF_GPUS = re.compile(
    r"(GPU|XID|NVLink|NVSwitch|IB(Link|Port)|UnhealthyNvidia)(?!.*(Ready|Healthy|Available|OK)$).*"
)


def node_problem(condition: str) -> NodeProblem | None:
    """What a true condition of this type means for GPUs; None if it is about something else."""
    if condition in PROBLEMS:
        return PROBLEMS[condition]
    if not _OF_GPUS.fullmatch(condition):
        return None
    if "throttl" in condition.lower():
        return _THROTTLED
    return NodeProblem("the GPUs have a problem", _REPLACE)
