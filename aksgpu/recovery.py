"""Makes a stack usable again after an update that was killed midway."""

import json
import os
from pathlib import Path
from typing import Any

from aksgpu.pulumi_cli import PulumiCli
from engine.cache import Say
from rehearsal.azure_native.types import TYPES


def recover(pulumi: PulumiCli, stack: str, state: Path, subscription: str, say: Say) -> None:
    """Lifts the lock of a dead update, and settles what it had begun and not recorded."""
    if _lock_is_stale(state, stack):
        say("An earlier update was killed; its lock is lifted.")
        pulumi.read("cancel", "--yes", "--stack", stack)
    deployment = pulumi.read_json("stack", "export", "--stack", stack)["deployment"]
    pending = deployment.get("pending_operations") or []
    if pending:
        say(f"An earlier update left {len(pending)} operations unfinished; asking how they ended.")
        pulumi.read(
            "refresh", "--yes", "--skip-preview", "--stack", stack, *_ids(pending, subscription)
        )


def _lock_is_stale(state: Path, stack: str) -> bool:
    locks = list(state.glob(f".pulumi/locks/**/{stack}/*.json"))
    return any(not _is_alive(json.loads(lock.read_text())["pid"]) for lock in locks)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _ids(pending: list[dict[str, Any]], subscription: str) -> list[str]:
    """The ids under which resources are to be found whose creation was begun."""
    flags = []
    for operation in pending:
        resource = operation["resource"]
        if operation["type"] == "creating" and resource["type"] in TYPES:
            identity = TYPES[resource["type"]].resource_id(subscription, resource["inputs"])
            flags += [
                "--import-pending-creates",
                resource["urn"],
                "--import-pending-creates",
                identity,
            ]
    return flags
