"""The resources that a stack has created, according to its state."""

from pathlib import Path

from aksgpu.running import READ_SECONDS, Program, ProgramError
from machine_setup.errors import SourceUnavailableError
from machine_setup.on_path import find_on_path

# What Pulumi says of a stack that does not exist.
NO_STACK = "no stack named"


def by_state(pulumi: Program, stack: str) -> frozenset[str] | None:
    """The ids of the stack's resources, in lower case; None if its state cannot be read."""
    command = ("stack", "export", "--stack", stack, "--non-interactive")
    try:
        process = pulumi.attempt(*command, seconds=READ_SECONDS)
        if process.code and NO_STACK in process.err:
            return frozenset()
        deployment = process.json().get("deployment") or {}
        return frozenset(
            str(resource["id"]).lower()
            for resource in deployment.get("resources") or ()
            # External resources were only read. Resources outside of Azure have other ids.
            if str(resource.get("id")).startswith("/subscriptions/")
            and not resource.get("external")
        )
    # For example an engine that prints a warning into its JSON.
    except (ProgramError, AttributeError, TypeError):
        return None


def by_state_here(folder: Path, stack: str) -> frozenset[str] | None:
    """The same for a real project, with the engine on PATH: downloading one would take too long."""
    try:
        executable, _ = find_on_path()
    except SourceUnavailableError:
        return None
    return by_state(Program((executable,), folder), stack)
