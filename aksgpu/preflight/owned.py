"""What a stack has made already, by its own state."""

from pathlib import Path

from aksgpu.running import READ_SECONDS, Program, ProgramError
from engine.errors import SourceUnavailableError
from engine.on_path import find_on_path

_NO_STACK = "no stack named"


def by_state(pulumi: Program, stack: str) -> frozenset[str] | None:
    """The ids of all that the stack has, in lower case; None where its state cannot be read."""
    command = ("stack", "export", "--stack", stack, "--non-interactive")
    try:
        ended = pulumi.attempt(*command, seconds=READ_SECONDS)
        if ended.code and _NO_STACK in ended.err:
            return frozenset()
        deployment = ended.json().get("deployment") or {}
        return frozenset(
            str(resource["id"]).lower()
            for resource in deployment.get("resources") or ()
            # What is external was only read; what is not of Azure has other ids.
            if str(resource.get("id")).startswith("/subscriptions/")
            and not resource.get("external")
        )
    # Such as where an engine warns of something in the middle of it.
    except (ProgramError, AttributeError, TypeError):
        return None


def by_state_here(folder: Path, stack: str) -> frozenset[str] | None:
    """The same, of a real project, with the engine on PATH; to fetch one would take too long."""
    try:
        executable, _ = find_on_path()
    except SourceUnavailableError:
        return None
    return by_state(Program((executable,), folder), stack)
