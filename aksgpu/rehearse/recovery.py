"""Makes a stack usable again after an update that was killed midway."""

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from aks_preview.aks_types import AKS_TYPES
from aksgpu.running import Program
from engine.cache import Say
from provider_kit.arm_types import ArmType
from rehearsal.stand_ins.azure_native.types import TYPES


def recover(pulumi: Program, stack: str, state: Path, subscription: str, say: Say) -> None:
    """Lifts the lock of a dead update, and settles what it had begun and not recorded."""
    if _lock_is_stale(state, stack):
        say("An earlier update was killed; its lock is lifted.")
        pulumi.read("cancel", "--yes", "--stack", stack)
    exported = pulumi.read_json("stack", "export", "--stack", stack)
    pending = exported["deployment"].pop("pending_operations", None) or []
    if not pending:
        return
    say(f"An earlier update left {len(pending)} operations unfinished; asking Azure about them.")
    exported["deployment"]["resources"] += _begun(pending, subscription)
    with tempfile.TemporaryDirectory(dir=state) as folder:
        file = Path(folder) / "deployment.json"
        file.write_text(json.dumps(exported), encoding="utf-8")
        pulumi.read("stack", "import", "--stack", stack, "--file", str(file))
    # Whatever Azure does not have goes from the state again here.
    pulumi.read("refresh", "--yes", "--skip-preview", "--stack", stack)


def _lock_is_stale(state: Path, stack: str) -> bool:
    locks = list(state.glob(f".pulumi/locks/**/{stack}/*.json"))
    return any(not _is_alive(json.loads(lock.read_text())["pid"]) for lock in locks)


def _is_alive(pid: int) -> bool:
    try:
        with suppress(PermissionError):
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _begun(pending: list[dict[str, Any]], subscription: str) -> list[dict[str, Any]]:
    """The resources whose creation was begun, under the ids that they then have."""
    known: dict[str, ArmType] = {**TYPES, **AKS_TYPES}
    return [
        resource | {"id": known[resource["type"]].resource_id(subscription, resource["inputs"])}
        for operation in pending
        if operation["type"] == "creating" and (resource := operation["resource"])["type"] in known
    ]
