"""What the autoscaler makes of a scale-up that fails, and what it tells of that.

Names, texts and formats are those of kubernetes/autoscaler: `utils/backoff`, `clusterstate` (the
ConfigMap is YAML since 1.30, `clusterstate/api/types.go`), `core/scaleup/orchestrator` and
`processors/status`. It hears at once of quota and of spot machines that are sold out
(`cloudProviderError`); that other machines are sold out it sees by machines that fail to start
(`cloudprovider/azure/azure_scale_set_instance_cache.go`), and then tells no code of Azure's.

On AKS the count of the pool rises meanwhile, and falls when the autoscaler removes what failed.
Here it stays. How a refusal of Azure's is written inside `errorMessage` is not on record.
"""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aks_catalogue.scheduling import Taint, selects, untolerated
from kube_client.backoff import Backoff
from rehearsal.control_planes import nodes
from rehearsal.control_planes.autoscaler import PoolState, complete, missing, template
from rehearsal.control_planes.desired_state import Refusal
from rehearsal.pace import SECONDS_PER_SECOND

Json = dict[str, Any]

# Upstream's pauses, in seconds: they double from the first to the longest, and begin anew when none
# has failed for the last of these.
FIRST, LONGEST, RESET = 300.0, 1800.0, 10800.0
# The shortest pause, at any time scale, so that somebody can see it.
SHORTEST = 3.0
# What Azure says only when it has begun to start machines.
LATE = ("AllocationFailed", "ZonalAllocationFailed")
STATUS = "cluster-autoscaler-status"
UPDATED = "cluster-autoscaler.kubernetes.io/last-updated"


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
        return cls("cloudProviderError", f"failed to increase node group size: {said}")


class BackOffs:
    """The pools that do not grow for a while, as Azure had no machines for them."""

    def __init__(self, time_scale: float) -> None:
        scale = time_scale * SECONDS_PER_SECOND
        self._first = max(SHORTEST, FIRST * scale)
        self._longest = max(self._first, LONGEST * scale)
        self._reset = max(2 * self._longest, RESET * scale)
        self._failed: dict[str, tuple[Backoff, float, Failure]] = {}

    def fail(self, pool: str, failure: Failure) -> None:
        moment = time.monotonic()
        backoff, last, _ = self._failed.get(pool, (None, moment, None))
        if backoff is None or moment - last > self._reset:
            backoff = Backoff(self._first, self._longest)
        backoff.fail()
        self._failed[pool] = (backoff, moment, failure)

    def succeed(self, pool: str) -> None:
        self._failed.pop(pool, None)

    def failures(self) -> dict[str, Failure]:
        """Returns why each pool that is backed off now is so."""
        return {
            pool: failure
            for pool, (backoff, _, failure) in self._failed.items()
            if not backoff.is_due
        }


def told(group: str, before: int, count: int, most: int, refusal: Refusal | None) -> list[Json]:
    """Returns the events of one scale-up, on the status: reason, type and message."""
    sizes = f"{count} instead of {before} (max: {most})"
    events = [_event("ScaledUpGroup", f"Scale-up: setting group {group} size to {sizes}")]
    if refusal is None or refusal.code in LATE:
        events.append(_event("ScaledUpGroup", f"Scale-up: group {group} size set to {sizes}"))
    if refusal is None:
        return events
    failure = Failure.of(refusal)
    if refusal.code in LATE:
        why = f"due to OutOfResource.{failure.code}; source errors: {failure.message}"
        message = f"Failed adding {count - before} nodes to group {group} {why}"
        return [*events, _event("ScaleUpFailed", message, "Warning")]
    said = failure.message.partition(": ")[2]
    message = f"Scale-up failed for group {group}: {said}"
    return [*events, _event("FailedToScaleUpGroup", message, "Warning")]


def _event(reason: str, message: str, kind: str = "Normal") -> Json:
    return {"reason": reason, "kind": kind, "message": message}


def why_not(pod: Json, states: Iterable[PoolState]) -> str:
    """Returns why no pool grows for a pod: the reasons of all pools, counted."""
    counted = Counter(reason for state in states for reason in _reasons(pod, state))
    return ", ".join(f"{count} {reason}" for reason, count in counted.items())


def _reasons(pod: Json, state: PoolState) -> list[str]:
    if state.is_backed_off:
        return ["in backoff after failed scale-up"]
    if state.pool.limits and state.pool.count >= state.pool.limits.most:
        return ["max node group size reached"]
    node = template(state)
    if not selects(pod["spec"], node["metadata"]["labels"].get, name=""):
        return ["node(s) didn't match Pod's node affinity/selector"]
    if untolerated(pod["spec"], map(Taint.of, node["spec"]["taints"])):
        return ["node(s) had untolerated taint(s)"]
    return [f"Insufficient {name}" for name in missing(pod, state)]


def status(states: Sequence[PoolState], failures: Mapping[str, Failure]) -> Json:
    """Returns the autoscaler's status without times: the health and growth of each pool.

    Upstream's has the whole cluster and the nodes that may go, too.
    """
    groups = [_group(state, failures.get(state.pool.name)) for state in states]
    return {"autoscalerStatus": "Running", "nodeGroups": groups}


def _group(state: PoolState, failure: Failure | None) -> Json:
    pool, limits = state.pool, state.pool.limits
    ready = complete(state)
    scale_up: Json = {"status": "NoActivity"}
    if pool.count > len(ready):
        scale_up = {"status": "InProgress"}
    elif failure:
        info = {"errorCode": failure.code, "errorMessage": failure.message}
        scale_up = {"status": "Backoff", "backoffInfo": info}
    return {
        "name": nodes.group(state.cluster, pool),
        "health": {
            "status": "Healthy",
            "nodeCounts": _counts(state.nodes, ready),
            "cloudProviderTarget": pool.count,
            "minSize": limits.least if limits else 0,
            "maxSize": limits.most if limits else 0,
        },
        "scaleUp": scale_up,
    }


def _counts(present: Sequence[Json], ready: Sequence[Json]) -> Json:
    going = sum(map(nodes.is_deleting, present))
    return {
        "registered": {
            "total": len(present),
            "ready": len(ready),
            "notStarted": len(present) - len(ready) - going,
            **({"beingDeleted": going} if going else {}),
        },
    }


def stamped(now: Json, before: Json, moment: str) -> Json:
    """Returns a status with its times: each condition has the time since when it is so."""
    old = {group["name"]: group for group in before.get("nodeGroups", ())}

    def with_times(conditions: Json, former: Json) -> Json:
        return {key: _with_time(each, former.get(key), moment) for key, each in conditions.items()}

    groups = [with_times(group, old.get(group["name"], {})) for group in now["nodeGroups"]]
    return {"time": written(moment), **now, "nodeGroups": groups}


def written(moment: str) -> str:
    """Returns a time as Go prints it, which is how the autoscaler writes that of its status."""
    return moment.replace("T", " ").replace("Z", " +0000 UTC")


def _with_time(condition: Any, former: Any, moment: str) -> Any:
    if not isinstance(condition, dict):
        return condition
    is_same = former and former["status"] == condition["status"]
    since = former["lastTransitionTime"] if is_same else moment
    return {**condition, "lastProbeTime": moment, "lastTransitionTime": since}
