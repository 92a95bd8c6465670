"""Whether an object is ready, by its kind, and why its pods are not, by their conditions."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kube_client.objects import conditions, is_true
from rehearsal.offline_plug_ins.kubernetes.objects import Object, displayed, metadata, name_of

# In the order in which a pod gets them: the first false one is the most specific.
_CONDITIONS = ("PodScheduled", "Initialized", "Ready")

# Useless beginnings and ends of registries' messages.
_BEFORE = "rpc error: code = Unknown desc = Error response from daemon: "
_AFTER = ": manifest unknown"


@dataclass(frozen=True)
class Verdict:
    """The progress of an object, and whether it is ready or has failed."""

    message: str
    is_ready: bool = False
    has_failed: bool = False


Judge = Callable[[Object], Verdict]


def _daemon_set(live: Object) -> Verdict:
    status = _status(live)
    if unseen := _unseen(live):
        return Verdict(unseen)
    desired = status.get("desiredNumberScheduled")
    if desired is None:
        return Verdict("Missing .status.desiredNumberScheduled")
    counts = (
        ("Current", "currentNumberScheduled"),
        ("Updated", "updatedNumberScheduled"),
        ("Available", "numberAvailable"),
        ("Ready", "numberReady"),
    )
    for word, field in counts:
        if status.get(field, 0) < desired:
            return Verdict(f"{word}: {status.get(field, 0)}/{desired}")
    return Verdict(f"All replicas scheduled as expected. Replicas: {desired}", is_ready=True)


def _deployment(live: Object) -> Verdict:
    status = _status(live)
    if unseen := _unseen(live):
        return Verdict(unseen)
    progressing = conditions(live).get("Progressing", {})
    if progressing.get("status") == "False":
        return Verdict(
            f"[{progressing.get('reason')}] {progressing.get('message')}", has_failed=True
        )
    desired = _desired(live)
    updated, total = status.get("updatedReplicas", 0), status.get("replicas", 0)
    available = status.get("availableReplicas", 0)
    if updated < desired:
        return Verdict(f"Updated: {updated}/{desired}")
    if total > updated:
        return Verdict(f"Pending termination: {total - updated}")
    if available < desired:
        return Verdict(
            f"Waiting for app ReplicaSet be available ({available}/{desired} Pods available)"
        )
    return Verdict("Deployment initialization complete", is_ready=True)


def _job(live: Object) -> Verdict:
    status = _status(live)
    if is_true(live, "Failed"):
        failed = conditions(live)["Failed"]
        return Verdict(f"[{failed.get('reason')}] {failed.get('message')}", has_failed=True)
    if is_true(live, "Complete"):
        return Verdict("Job complete", is_ready=True)
    if not status.get("startTime"):
        return Verdict(f'Waiting for Job "{displayed(live)}" to start')
    counts = " | ".join(
        f"{word}: {status.get(word.lower(), 0)}" for word in ("Active", "Succeeded", "Failed")
    )
    return Verdict(f'Waiting for Job "{displayed(live)}" to succeed ({counts})')


def _namespace(live: Object) -> Verdict:
    return Verdict(f'Namespace "{name_of(live)}" is there', is_ready=True)


# By group and kind, for any version.
_JUDGES: Mapping[tuple[str, str], Judge] = MappingProxyType(
    {
        ("", "Namespace"): _namespace,
        ("apps", "DaemonSet"): _daemon_set,
        ("apps", "Deployment"): _deployment,
        ("batch", "Job"): _job,
    }
)


def judge_of(obj: Object) -> Judge | None:
    """Returns the function that judges an object; None if it is ready once it exists."""
    return _JUDGES.get((obj["apiVersion"].rpartition("/")[0], obj["kind"]))


def complaints(pod: Object) -> list[str]:
    """Returns why a pod is not ready, as lines; none if it is ready or has succeeded."""
    status = pod.get("status") or {}
    if status.get("phase") == "Succeeded":
        return []
    by_type = conditions(pod)
    for name in _CONDITIONS:
        condition = by_type.get(name, {})
        if condition.get("status") == "False":
            message = condition.get("message") if condition.get("reason") else ""
            return [
                f"[Pod {displayed(pod)}]: {reason}"
                for reason in (message, *_of_containers(pod))
                if reason
            ]
    return [f"[Pod {displayed(pod)}]: {reason}" for reason in _of_containers(pod)]


def _of_containers(pod: Object) -> Iterator[str]:
    status = pod.get("status") or {}
    for kind in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(kind) or []:
            if not container.get("ready"):
                yield from _of_container(container)


def _of_container(container: Object) -> Iterator[str]:
    state = container.get("state") or {}
    waiting, ended = state.get("waiting"), state.get("terminated")
    if waiting and waiting.get("reason") not in (None, "ContainerCreating"):
        yield f"[{waiting['reason']}] {_trimmed(waiting.get('message', ''))}".rstrip()
    if ended and ended.get("reason"):
        yield (
            f"[{ended['reason']}] {_trimmed(ended['message'])}"
            if ended.get("message")
            else f'container "{container["name"]}" completed with exit code {ended["exitCode"]}'
        )
    before = (container.get("lastState") or {}).get("terminated")
    if before:
        yield (
            f'container "{container["name"]}" terminated at {before.get("finishedAt")} '
            f"({before.get('reason')}: exit code {before.get('exitCode')})"
        )


def _trimmed(message: str) -> str:
    return message.removeprefix(_BEFORE).removesuffix(_AFTER)


def _status(live: Object) -> Mapping[str, Any]:
    return live.get("status") or {}


def _desired(live: Object) -> int:
    return int((live.get("spec") or {}).get("replicas", 1))


def _unseen(live: Object) -> str:
    """Returns the message while the controller has not seen the latest change."""
    generation, observed = (
        metadata(live).get("generation", 0),
        _status(live).get("observedGeneration"),
    )
    if observed is None or observed < generation:
        return (
            f"{live['kind']} generation is {generation}, but latest observed generation is "
            f"{observed or 0}"
        )
    return ""
