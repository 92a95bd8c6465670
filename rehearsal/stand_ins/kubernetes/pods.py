"""What keeps pods from being ready, in the words of their conditions and containers."""

from collections.abc import Iterator

from rehearsal.stand_ins.kubernetes.objects import Object, displayed

# Conditions in the order in which a pod goes through them: the first that fails tells most.
_CONDITIONS = ("PodScheduled", "Initialized", "Ready")

# Registries' messages begin and end with what nobody needs.
_BEFORE = "rpc error: code = Unknown desc = Error response from daemon: "
_AFTER = ": manifest unknown"


def complaints(pod: Object) -> list[str]:
    """Why this pod is not ready, line by line; nothing where it is, or has done its work."""
    status = pod.get("status") or {}
    if status.get("phase") == "Succeeded":
        return []
    conditions = {found["type"]: found for found in status.get("conditions") or []}
    for name in _CONDITIONS:
        condition = conditions.get(name, {})
        if condition.get("status") == "False":
            said = condition.get("message") if condition.get("reason") else ""
            return [
                f"[Pod {displayed(pod)}]: {reason}"
                for reason in (said, *_of_containers(pod))
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
