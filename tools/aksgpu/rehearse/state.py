"""The state of a rehearsed stack: its resources and outputs, with secrets decrypted."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aksgpu.check.expected import in_clear
from aksgpu.outcome import Cause, stopped
from aksgpu.preflight.owned import NO_STACK
from aksgpu.rehearsal_stage import down_line, rehearsed_program
from aksgpu.running import Program, ProgramError

_ROOT = "pulumi:pulumi:Stack"
_FINAL = frozenset({"Canceled", "Failed", "Succeeded"})


@dataclass(frozen=True)
class State:
    resources: list[Mapping[str, Any]] = field(default_factory=list, repr=False)
    has_pending_operations: bool = False

    @property
    def is_unfinished(self) -> bool:
        """Whether an update was killed, by what it has left."""
        return self.has_pending_operations or any(map(_is_in_progress, self.created))

    @property
    def outputs(self) -> Mapping[str, Any]:
        """The outputs of the stack."""
        roots = (each for each in self.resources if each["type"] == _ROOT)
        return next((root.get("outputs") or {} for root in roots), {})

    @property
    def created(self) -> list[Mapping[str, Any]]:
        """The resources that the stack created, in Azure and in its clusters."""
        return [
            each
            for each in self.resources
            if each.get("id")
            and not each["type"].startswith("pulumi:")
            and not each.get("external")
        ]


def _is_in_progress(resource: Mapping[str, Any]) -> bool:
    reported = (resource.get("outputs") or {}).get("provisioningState") or "Succeeded"
    return resource["id"].startswith("/") and reported not in _FINAL


def read(pulumi: Program, stack: str) -> State | None:
    """The state of a stack; None if the stack does not exist. Raises StoppedError if it fails."""
    process = pulumi.attempt("stack", "export", "--stack", stack, "--show-secrets")
    if process.code and NO_STACK in process.err:
        return None
    try:
        exported = process.succeeded()
    except ProgramError as error:
        if "Pulumi.yaml" in str(error):
            # The copy has what the owner wrote.
            own = str(error).replace(str(pulumi.folder), str(rehearsed_program()))
            raise stopped(Cause.STACK_FILE_INVALID, own, "correct the Pulumi.yaml") from None
        raise stopped(
            Cause.PROGRAM_FAILED,
            str(error),
            f"if the state or the passphrase of the rehearsal is damaged, `{down_line()}` removes "
            "it, and the next rehearsal begins anew",
        ) from None
    deployment = json.loads(exported).get("deployment") or {}
    resources = in_clear(deployment.get("resources") or [])
    return State(resources, bool(deployment.get("pending_operations")))


def read_or_init(pulumi: Program, stack: str) -> State:
    """The state of a stack; creates the stack if it does not exist, without selecting it."""
    state = read(pulumi, stack)
    if state is None:
        # A name can begin with a dash.
        pulumi.read("stack", "init", "--no-select", "--", stack)
    return state or State()
