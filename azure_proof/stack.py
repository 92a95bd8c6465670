"""The proof's own Pulumi project: this checkout's program, with a stack and a state of its own."""

import json
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from aksgpu.project import locks_of
from aksgpu.rehearsal_stage import PROGRAM, pulumi_in
from aksgpu.review.automation import Place, run
from aksgpu.running import Program
from engine import Engine
from rehearsal.files import write_whole
from settings.reading import PROJECT

# The stack, and its pool, which is that of dev.
STACK, POOL = "azure-proof", "gpu"
_DEV = PROGRAM / "Pulumi.dev.yaml"


def dev_settings() -> dict[str, Any]:
    """The settings of the stack dev: the proof changes a size and names in them."""
    config = yaml.safe_load(_DEV.read_text(encoding="utf-8"))["config"]
    return {key.removeprefix(f"{PROJECT}:"): value for key, value in config.items()}


@dataclass(frozen=True)
class ProofStack:
    engine: Engine
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / f"Pulumi.{STACK}.yaml"

    def environment(self) -> dict[str, str]:
        return {
            "PULUMI_BACKEND_URL": (self.folder / "state").as_uri(),
            # A shell of `aksgpu env` has these of another project.
            "PULUMI_OPTION_CWD": str(self.folder),
            "PULUMI_OPTION_POLICY_PACK": "",
            "PULUMI_OPTION_POLICY_PACK_CONFIG": "",
            "PULUMI_CONFIG_PASSPHRASE": (self.folder / "passphrase").read_text(encoding="utf-8"),
            "PULUMI_SELF_MANAGED_STATE_GZIP": "false",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }

    def begin(self) -> None:
        """Writes the project, if it is not there yet."""
        if self.file.exists():
            return
        (self.folder / "state").mkdir(parents=True, exist_ok=True)
        write_whole(self.folder / "passphrase", secrets.token_urlsafe().encode(), 0o600)
        project = yaml.safe_load((PROGRAM / "Pulumi.yaml").read_text(encoding="utf-8"))
        project["main"] = os.path.relpath(PROGRAM, self.folder)
        project["runtime"]["options"]["virtualenv"] = str(PROGRAM / ".venv")
        for plug_in in project["plugins"]["providers"]:
            plug_in["path"] = str(PROGRAM / plug_in["path"])
        self._write(self.folder / "Pulumi.yaml", project)
        self.pulumi().read("stack", "init", STACK)

    def write(self, settings: Mapping[str, Any]) -> None:
        """Writes the stack file, and keeps the key of its secrets."""
        kept = yaml.safe_load(self.file.read_text(encoding="utf-8")) if self.file.exists() else None
        config = {f"{PROJECT}:{key}": value for key, value in settings.items()}
        self._write(self.file, {**(kept or {}), "config": config})

    def pulumi(self) -> Program:
        return pulumi_in(self.engine, self.folder, self.environment())

    def up(self, settings: Mapping[str, Any], **options: Any) -> None:
        """Raises StoppedError with the engine's errors, as `run` does."""
        self.write(settings)
        self.run("up", **options)

    def run(self, operation: str, **options: Any) -> None:
        """Runs `up`, `refresh` or `destroy`."""
        run(Place(self.engine, self.pulumi()), STACK, operation, **options)

    def changes(self) -> dict[str, int]:
        """How many resources a preview would change, by what it would do with them."""
        command = ("preview", "--json", "--stack", STACK)
        summary = self.pulumi().read_json(*command).get("changeSummary") or {}
        return {what: number for what, number in summary.items() if what != "same"}

    def pending(self) -> bool:
        """Whether a killed update has left operations whose end is not known."""
        exported = self.pulumi().read_json("stack", "export", "--stack", STACK)
        return bool((exported.get("deployment") or {}).get("pending_operations"))

    def await_the_last_update(self) -> None:
        """An update goes on when the proof is killed; what a killed update has locked is freed."""
        while locks := locks_of(STACK, self.folder / "state"):
            if not any(map(_is_running, locks)):
                self.pulumi().read("cancel", "--yes", *_OF_IT)
                return
            time.sleep(1)

    def kubeconfig(self) -> str:
        return self.pulumi().read("stack", "output", "kubeconfig", "--show-secrets", *_OF_IT)

    def _write(self, file: Path, content: Mapping[str, Any]) -> None:
        write_whole(file, yaml.safe_dump(dict(content), sort_keys=False).encode())


_OF_IT = ("--stack", STACK, "--non-interactive", "--color", "never")


def _is_running(lock: Path) -> bool:
    """Whether the process that holds a lock of the state still runs."""
    try:
        os.kill(int(json.loads(lock.read_text(encoding="utf-8"))["pid"]), 0)
    except (OSError, ValueError, LookupError):
        return False
    return True


def read(file: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None if there is no such file."""
    if not file.exists():
        return None
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content
