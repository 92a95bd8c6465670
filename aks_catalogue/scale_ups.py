"""What the cluster autoscaler tells of pools that it cannot grow.

From kubernetes/autoscaler 1.34: `clusterstate/api/types.go` has the status, which is YAML since
1.30; `cloudprovider/azure` and `clusterstate/clusterstate.go` have the codes. What Azure refuses at
once is in the message, as in Azure/AKS#1184: Code="OperationNotAllowed".
"""

import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

# When the facts here were true.
AS_OF = date(2026, 11, 28)

STATUS = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status"
STATUS_KEY = "status"
BACKOFF, IN_PROGRESS = "Backoff", "InProgress"

_GROUP = re.compile(r"aks-([a-z][a-z0-9]{0,11})-\d+-vmss")
_CODE = re.compile(r'Code="(\w+)"')
_SOLD_OUT = "Azure has no machines for it"
_QUOTA = "the quota is too small"
_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "SkuNotAvailable": _SOLD_OUT,
        "AllocationFailed": _SOLD_OUT,
        "ZonalAllocationFailed": _SOLD_OUT,
        "OverconstrainedAllocationRequest": _SOLD_OUT,
        "OverconstrainedZonalAllocationRequest": _SOLD_OUT,
        # The autoscaler's own codes: it does not say what Azure said.
        "provisioning-state-failed": "Azure could not start its machines, as if sold out",
        "timeout": "its nodes did not come in time",
        "QuotaExceeded": _QUOTA,
        "OperationNotAllowed": _QUOTA,
    }
)


def pool_of(group: str) -> str:
    """Returns the pool of a node group, which is a scale set; empty if it is no pool's."""
    match = _GROUP.fullmatch(group)
    return match[1] if match else ""


def failure(code: str, message: str) -> str:
    """Returns why a scale-up failed, with the code, Azure's if that is known."""
    azures = _CODE.search(message)
    known = azures[1] if azures else code
    reason = _REASONS.get(known, "a scale-up failed")
    return f"{reason}: {known}" if known else reason
