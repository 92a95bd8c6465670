"""When an object is ready: a rule for each kind that takes its time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rehearsal.stand_ins.kubernetes.objects import Object, displayed, metadata, name_of


@dataclass(frozen=True)
class Verdict:
    """What there is to say of an object right now, and whether that is the end of it."""

    message: str
    is_ready: bool = False
    has_failed: bool = False


@dataclass(frozen=True)
class Rule:
    judge: Callable[[Object], Verdict]
    # How the pods of such an object are found: by its selector, or it is one itself.
    has_pods: bool = False
    is_pod: bool = False
    # What is told of an object that is being deleted, beside that it is still there.
    of_deletion: Callable[[Object], str] = lambda live: ""  # noqa: ARG005
    # What is told when the time is up, with the object's name for the braces.
    timed_out: str = "'{}' timed out waiting to be Ready"


def _daemon_set(live: Object) -> Verdict:
    status = _status(live)
    unseen = _unseen(live)
    if unseen:
        return Verdict(unseen)
    wanted = status.get("desiredNumberScheduled")
    if wanted is None:
        return Verdict("Missing .status.desiredNumberScheduled")
    counts = (
        ("Current", "currentNumberScheduled"),
        ("Updated", "updatedNumberScheduled"),
        ("Available", "numberAvailable"),
        ("Ready", "numberReady"),
    )
    for word, field in counts:
        if status.get(field, 0) < wanted:
            return Verdict(f"{word}: {status.get(field, 0)}/{wanted}")
    return Verdict(f"All replicas scheduled as expected. Replicas: {wanted}", is_ready=True)


def _deployment(live: Object) -> Verdict:
    status = _status(live)
    unseen = _unseen(live)
    if unseen:
        return Verdict(unseen)
    progressing = _condition(live, "Progressing")
    if progressing.get("status") == "False":
        return Verdict(
            f"[{progressing.get('reason')}] {progressing.get('message')}", has_failed=True
        )
    wanted = _wanted(live)
    updated, total = status.get("updatedReplicas", 0), status.get("replicas", 0)
    available = status.get("availableReplicas", 0)
    if updated < wanted:
        return Verdict(f"Updated: {updated}/{wanted}")
    if total > updated:
        return Verdict(f"Pending termination: {total - updated}")
    if available < wanted:
        return Verdict(
            f"Waiting for app ReplicaSet be available ({available}/{wanted} Pods available)"
        )
    return Verdict("Deployment initialization complete", is_ready=True)


def _stateful_set(live: Object) -> Verdict:
    status = _status(live)
    unseen = _unseen(live)
    if unseen:
        return Verdict(unseen)
    wanted = _wanted(live)
    for word, field in (("Updated", "updatedReplicas"), ("Ready", "readyReplicas")):
        if status.get(field, 0) < wanted:
            return Verdict(f"{word}: {status.get(field, 0)}/{wanted}")
    return Verdict("StatefulSet initialization complete", is_ready=True)


def _job(live: Object) -> Verdict:
    status = _status(live)
    failed = _condition(live, "Failed")
    if failed.get("status") == "True":
        return Verdict(f"[{failed.get('reason')}] {failed.get('message')}", has_failed=True)
    if _condition(live, "Complete").get("status") == "True":
        return Verdict("Job complete", is_ready=True)
    if not status.get("startTime"):
        return Verdict(f'Waiting for Job "{displayed(live)}" to start')
    counts = " | ".join(
        f"{word}: {status.get(word.lower(), 0)}" for word in ("Active", "Succeeded", "Failed")
    )
    return Verdict(f'Waiting for Job "{displayed(live)}" to succeed ({counts})')


def _pod(live: Object) -> Verdict:
    if _status(live).get("phase") == "Succeeded":
        return Verdict("Pod ready", is_ready=True)
    steps = (("PodScheduled", "scheduled"), ("Initialized", "initialized"), ("Ready", "ready"))
    for condition, word in steps:
        if _condition(live, condition).get("status") != "True":
            return Verdict(f'Waiting for Pod "{displayed(live)}" to be {word}')
    return Verdict("Pod ready", is_ready=True)


def _service(live: Object) -> Verdict:
    is_balanced = (live.get("spec") or {}).get("type") == "LoadBalancer"
    if is_balanced and not (_status(live).get("loadBalancer") or {}).get("ingress"):
        return Verdict(f'Waiting for Service "{displayed(live)}" to be assigned an IP address')
    return Verdict("Service initialization complete", is_ready=True)


def _namespace(live: Object) -> Verdict:
    return Verdict(f'Namespace "{name_of(live)}" is there', is_ready=True)


# By the group and the kind, whatever the version.
_RULES: Mapping[tuple[str, str], Rule] = MappingProxyType(
    {
        ("", "Namespace"): Rule(
            _namespace, of_deletion=lambda live: f"({_status(live).get('phase')})"
        ),
        ("", "Pod"): Rule(_pod, is_pod=True),
        ("", "Service"): Rule(_service),
        ("apps", "DaemonSet"): Rule(
            _daemon_set,
            has_pods=True,
            of_deletion=lambda live: (
                f"({_status(live).get('numberMisscheduled')} pods misscheduled)"
            ),
            timed_out="timed out waiting for the condition",
        ),
        ("apps", "Deployment"): Rule(
            _deployment,
            has_pods=True,
            of_deletion=lambda live: f"({_status(live).get('replicas', 0)} replicas exist)",
        ),
        ("apps", "StatefulSet"): Rule(
            _stateful_set,
            has_pods=True,
            of_deletion=lambda live: f"({_status(live).get('replicas', 0)} replicas exist)",
        ),
        ("batch", "Job"): Rule(_job, has_pods=True),
    }
)


def rule_of(asked: Object) -> Rule | None:
    """The rule for such an object; without one it is ready as soon as it is there."""
    return _RULES.get((asked["apiVersion"].rpartition("/")[0], asked["kind"]))


def _status(live: Object) -> Mapping[str, Any]:
    return live.get("status") or {}


def _condition(live: Object, name: str) -> Mapping[str, Any]:
    conditions = _status(live).get("conditions") or []
    return next((found for found in conditions if found.get("type") == name), {})


def _wanted(live: Object) -> int:
    return int((live.get("spec") or {}).get("replicas", 1))


def _unseen(live: Object) -> str:
    """What is told while the controller has not seen the latest change yet."""
    generation, seen = metadata(live).get("generation", 0), _status(live).get("observedGeneration")
    if seen is None or seen < generation:
        return (
            f"{live['kind']} generation is {generation}, but latest observed generation is "
            f"{seen or 0}"
        )
    return ""
