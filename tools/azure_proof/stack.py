"""The proof's own Pulumi project: this checkout's program, with a stack and a state of its own."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROGRAM, pulumi_in
from aksgpu.rehearse.locks import locked_stacks
from aksgpu.review.automation import Place, create, run
from aksgpu.running import Program
from machine_setup import Engine
from stack_settings import PROJECT

# The stack, and its pool, which is that of dev.
STACK, POOL = "azure-proof", "gpu"
_DEV = PROGRAM / "Pulumi.dev.yaml"
_OF_IT = ("--stack", STACK, "--non-interactive", "--color", "never")


def dev_settings() -> dict[str, Any]:
    """The settings of the stack dev: the proof changes a size and names in them."""
    config = yaml.safe_load(_DEV.read_text(encoding="utf-8"))["config"]
    return {key.removeprefix(f"{PROJECT}:"): value for key, value in config.items()}


def as_config(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as a stack file has them."""
    return {f"{PROJECT}:{key}": value for key, value in settings.items()}


@dataclass(frozen=True)
class ProofStack:
    engine: Engine
    home: Path

    @property
    def project(self) -> Project:
        return Project(PROGRAM, self.home, offline={})

    @property
    def folder(self) -> Path:
        return self.project.folder

    @property
    def pulumi(self) -> Program:
        return pulumi_in(self.engine, self.folder, self.project.environment())

    @property
    def _place(self) -> Place:
        return Place(self.engine, self.pulumi)

    def begin(self) -> None:
        """Writes the project, and creates the stack if it is not there yet."""
        self.project.write()
        create(self._place, STACK)

    def up(self, settings: Mapping[str, Any], **options: Any) -> None:
        """Raises StoppedError with the engine's errors, as `run` does."""
        text = yaml.safe_dump({"config": as_config(settings)}, sort_keys=False)
        self.project.write_stack(STACK, text)
        self.run("up", **options)

    def run(self, operation: str, **options: Any) -> None:
        """Runs `up`, `refresh` or `destroy`."""
        run(self._place, STACK, operation, **options)

    def changes(self) -> dict[str, int]:
        """How many resources a preview would change, by what it would do with them."""
        summary = self.pulumi.read_json("preview", "--json", *_OF_IT).get("changeSummary") or {}
        return {what: number for what, number in summary.items() if what != "same"}

    def pending(self) -> bool:
        """Whether a killed update has left operations whose end is not known."""
        exported = self.pulumi.read_json("stack", "export", *_OF_IT)
        return bool((exported.get("deployment") or {}).get("pending_operations"))

    def await_the_last_update(self) -> None:
        """An update goes on when the proof is killed; what a killed update has locked is freed."""
        while locked_stacks(self.project.state):
            time.sleep(1)
        if self.project.has_locks(STACK):
            self.pulumi.read("cancel", "--yes", *_OF_IT)

    def kubeconfig(self) -> str:
        return self.pulumi.read("stack", "output", "kubeconfig", "--show-secrets", *_OF_IT)
