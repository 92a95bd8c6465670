"""What the state of a rehearsed stack has: its resources and outputs, the secret ones in clear."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aksgpu.check.expected import in_clear
from aksgpu.running import Program

_NO_STACK = "no stack named"
_ROOT = "pulumi:pulumi:Stack"


@dataclass(frozen=True)
class State:
    resources: list[Mapping[str, Any]] = field(default_factory=list, repr=False)
    # Whether an update was killed, and left operations that nobody has seen the end of.
    is_pending: bool = False

    @property
    def outputs(self) -> Mapping[str, Any]:
        """The outputs of the stack."""
        roots = (one for one in self.resources if one["type"] == _ROOT)
        return next((root.get("outputs") or {} for root in roots), {})

    @property
    def made(self) -> list[Mapping[str, Any]]:
        """What the stack has made, in Azure and in its clusters."""
        return [
            one
            for one in self.resources
            if one.get("id") and not one["type"].startswith("pulumi:") and not one.get("external")
        ]


def read(pulumi: Program, stack: str) -> State | None:
    """The state of a stack; None where there is no such stack."""
    ended = pulumi.attempt("stack", "export", "--stack", stack, "--show-secrets")
    if ended.code and _NO_STACK in ended.err:
        return None
    deployment = json.loads(ended.succeeded()).get("deployment") or {}
    resources = in_clear(deployment.get("resources") or [])
    return State(resources, bool(deployment.get("pending_operations")))


def begun(pulumi: Program, stack: str) -> State:
    """The state of a stack, which is made where it is not there, and selected for nobody."""
    found = read(pulumi, stack)
    if found is None:
        pulumi.read("stack", "init", "--no-select", stack)
    return found or State()
