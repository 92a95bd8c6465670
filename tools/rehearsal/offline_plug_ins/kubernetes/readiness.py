"""Whether an object is ready, by its kind, and why its pods are not, by their conditions."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kube_client.objects import conditions, is_true
from rehearsal.offline_plug_ins.kubernetes.objects import Object, displayed, metadata, name_of

# In the order in which a pod gets them: the first false one is the most specific.
_CONDITIONS = ("PodScheduled", "Initialized", "Ready")

_UNSEEN = "Waiting for its controller"


@dataclass(frozen=True)
class Verdict:
    """The progress of an object, and whether it is ready or has failed."""

    message: str
    is_ready: bool = False
    has_failed: bool = False


Judge = Callable[[Object], Verdict]


def _daemon_set(live: Object) -> Verdict:
    status = _status(live)
    desired = status.get("desiredNumberScheduled")
    if not _is_seen(live) or desired is None:
        return Verdict(_UNSEEN)
    counts = (status.get(name, 0) for name in ("updatedNumberScheduled", "numberAvailable"))
    ready = min(*counts, status.get("numberReady", 0))
    if ready < desired:
        return Verdict(f"Ready: {ready}/{desired}")
    return Verdict(f"All replicas scheduled as expected. Replicas: {desired}", is_ready=True)


def _deployment(live: Object) -> Verdict:
    status = _status(live)
    if not _is_seen(live):
        return Verdict(_UNSEEN)
    progressing = conditions(live).get("Progressing", {})
    if progressing.get("status") == "False":
        return Verdict(
            f"[{progressing.get('reason')}] {progressing.get('message')}", has_failed=True
        )
    desired = _desired(live)
    updated, total = status.get("updatedReplicas", 0), status.get("replicas", 0)
    available = min(updated, status.get("availableReplicas", 0))
    if available < desired:
        return Verdict(f"Available: {available}/{desired}")
    if total > updated:
        return Verdict("Waiting for pods of before to end")
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
        yield f"[{waiting['reason']}] {waiting.get('message', '')}".rstrip()
    if ended and ended.get("reason"):
        yield (
            f"[{ended['reason']}] {ended['message']}"
            if ended.get("message")
            else f'container "{container["name"]}" completed with exit code {ended["exitCode"]}'
        )
    before = (container.get("lastState") or {}).get("terminated")
    if before:
        yield (
            f'container "{container["name"]}" terminated at {before.get("finishedAt")} '
            f"({before.get('reason')}: exit code {before.get('exitCode')})"
        )


def _status(live: Object) -> Mapping[str, Any]:
    return live.get("status") or {}


def _desired(live: Object) -> int:
    return int((live.get("spec") or {}).get("replicas", 1))


def _is_seen(live: Object) -> bool:
    """Whether the controller has seen the latest change."""
    observed = _status(live).get("observedGeneration")
    return observed is not None and observed >= metadata(live).get("generation", 0)
