"""What the autoscaler makes of a scale-up that fails, and what it tells of that.

Names, texts and formats are those of kubernetes/autoscaler: `utils/backoff`, `clusterstate` (the
ConfigMap is YAML since 1.30, `clusterstate/api/types.go`), `core/scaleup/orchestrator` and
`processors/status`. It hears at once of quota and of spot machines that are sold out
(`cloudProviderError`); that other machines are sold out it sees by machines that fail to start
(`cloudprovider/azure/azure_scale_set_instance_cache.go`), and then tells no code of Azure's.

On AKS the count of the pool rises meanwhile, and falls when the autoscaler removes what failed.
Here it stays. How a refusal of Azure's is written inside `errorMessage` is not on record.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aks_catalogue.scheduling import Taint, selects, untolerated
from kube_client.backoff import Backoff
from rehearsal.control_planes import nodes
from rehearsal.control_planes.autoscaler import PoolState, missing
from rehearsal.control_planes.desired_state import Refusal
from rehearsal.pace import SECONDS_PER_SECOND

Json = dict[str, Any]

# Upstream's pauses, in seconds: they double from the first to the longest, and begin anew after a
# success. Upstream's do so after three hours without a failure, too.
FIRST, LONGEST = 300.0, 1800.0
# The shortest pause, at any time scale, so that somebody can see it.
SHORTEST = 3.0
# What Azure says only when it has begun to start machines.
LATE = ("AllocationFailed", "ZonalAllocationFailed")
# The code of what it says at once.
AT_ONCE = "cloudProviderError"


@dataclass(frozen=True)
class Failure:
    """Why a node group is backed off, as its status says it."""

    code: str
    message: str

    @classmethod
    def of(cls, refusal: Refusal) -> "Failure":
        if refusal.code in LATE:
            said = "Azure failed to provision a node for this node group"
            return cls("provisioning-state-failed", said)
        said = f'Code="{refusal.code}" Message="{refusal.message}"'
        return cls(AT_ONCE, f"failed to increase node group size: {said}")


class BackOffs:
    """The pools that do not grow for a while, as Azure had no machines for them."""

    def __init__(self, time_scale: float) -> None:
        scale = time_scale * SECONDS_PER_SECOND
        self._first = max(SHORTEST, FIRST * scale)
        self._longest = max(self._first, LONGEST * scale)
        self._failed: dict[str, tuple[Backoff, Failure]] = {}

    def fail(self, pool: str, failure: Failure) -> None:
        backoff, _ = self._failed.get(pool, (Backoff(self._first, self._longest), failure))
        backoff.fail()
        self._failed[pool] = (backoff, failure)

    def succeed(self, pool: str) -> None:
        self._failed.pop(pool, None)

    def failures(self) -> dict[str, Failure]:
        """Returns why each pool that is backed off now is so."""
        failed = self._failed.items()
        return {pool: failure for pool, (backoff, failure) in failed if not backoff.is_due}


def why_not(pod: Json, states: Iterable[PoolState]) -> str:
    """Returns why no pool grows for a pod: the reasons of all pools, counted."""
    counted = Counter(reason for state in states for reason in _reasons(pod, state))
    return ", ".join(f"{count} {reason}" for reason, count in counted.items())


def _reasons(pod: Json, state: PoolState) -> list[str]:
    if state.is_backed_off:
        return ["in backoff after failed scale-up"]
    if state.pool.limits and state.pool.count >= state.pool.limits.most:
        return ["max node group size reached"]
    if not selects(pod["spec"], state.template["metadata"]["labels"].get, name=""):
        return ["node(s) didn't match Pod's node affinity/selector"]
    if untolerated(pod["spec"], map(Taint.of, state.template["spec"]["taints"])):
        return ["node(s) had untolerated taint(s)"]
    return [f"Insufficient {name}" for name in missing(pod, state)]


def status(
    states: Sequence[PoolState], failures: Mapping[str, Failure], before: Json, moment: str
) -> Json:
    """Returns the autoscaler's status without its own time; `before` is the last one.

    Upstream's also has the whole cluster, numbers of nodes, the nodes that may go, and more times.
    """
    old = {group["name"]: group["scaleUp"] for group in before.get("nodeGroups", ())}
    groups = [_group(state, failures.get(state.pool.name)) for state in states]
    for group in groups:
        now, former = group["scaleUp"], old.get(group["name"], {})
        is_same = former.get("status") == now["status"]
        now["lastTransitionTime"] = former["lastTransitionTime"] if is_same else moment
    return {"autoscalerStatus": "Running", "nodeGroups": groups}


def _group(state: PoolState, failure: Failure | None) -> Json:
    pool, limits = state.pool, state.pool.limits
    scale_up: Json = {"status": "NoActivity"}
    if pool.count > len(state.complete):
        scale_up = {"status": "InProgress"}
    elif failure:
        info = {"errorCode": failure.code, "errorMessage": failure.message}
        scale_up = {"status": "Backoff", "backoffInfo": info}
    return {
        "name": nodes.group(state.cluster, pool),
        "health": {"cloudProviderTarget": pool.count, "maxSize": limits.most if limits else 0},
        "scaleUp": scale_up,
    }
