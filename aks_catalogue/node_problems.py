"""The node conditions in which AKS's node problem detector reports on GPUs, and on their machines.

The pages and nodes of AKS differ in some names, and by VM size and node image in what is there at
all: a condition that is missing says nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

# When the facts here were true.
AS_OF = date(2026, 11, 28)

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

# What Azure announces of a machine: learn.microsoft.com/azure/aks/node-problem-detector and
# .../node-auto-drain. The message begins with the event and its state, "Preempt Scheduled: TIME",
# also where Azure only recommends to leave: Azure/karpenter-provider-azure, `interruption`.
_SPOT, _ANY = "PreemptionScheduled", "VMEventScheduled"
_RECOMMENDED = "SpotRebalanceRecommendation Advisory"
_TAKEN = NodeProblem(
    "Azure takes this spot machine back, with about 30 seconds' notice",
    "nothing to do: AKS drains the node, and pods with a controller come back on another; those of "
    "a capacity on its next rung that has machines",
)
_LIKELY = NodeProblem(
    "Azure may soon take this spot machine back",
    "nothing to do, or save a checkpoint: nothing is taken yet",
    is_fault=False,
)
_ANNOUNCED = NodeProblem(
    "Azure has announced something for its machine",
    "read the message: a restart or a move ends what runs there, and a freeze lasts some seconds",
    is_fault=False,
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


def vm_event(true: Mapping[str, str]) -> tuple[str, NodeProblem] | None:
    """What Azure is about to do with a node's machine, by the messages of its true conditions."""
    # Of a spot machine that goes, both are true.
    condition = next((kind for kind in (_SPOT, _ANY) if kind in true), None)
    if condition is None:
        return None
    if _RECOMMENDED in true[condition]:
        return condition, _LIKELY
    is_taken = condition == _SPOT or "Preempt" in true[condition]
    return condition, _TAKEN if is_taken else _ANNOUNCED
