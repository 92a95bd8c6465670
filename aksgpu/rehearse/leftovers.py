"""What a killed update leaves: pending operations, and resources that the state does not have."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from aksgpu.rehearse.state import State
from rehearsal.files import read_log

BROKEN = frozenset({"Canceled", "Failed"})
_FINAL = BROKEN | {"Succeeded"}
# The user agent of our plug-ins. Resources of other clients are not recovered.
_PLUG_INS = "aks-gpu"
_CHECKPOINTS = ".pulumi/stacks/**/*.json"
_WRITE_REQUEST = re.compile(rb'"method": "(PUT|DELETE)"')
_CREATED, _SUCCESS = 201, range(200, 300)


def needs_recovery(now: State, state: Path, request_log: Path) -> bool:
    """Whether there is something to recover."""
    return now.is_pending or bool(in_progress(now.resources) or lost(state, request_log))


def lost(state: Path, request_log: Path) -> set[str]:
    """The ids of resources that our plug-ins created and no stack has.

    If a plug-in is killed, the engine does not record what it created.
    """
    return _created(request_log) - _recorded(state)


def in_progress(resources: Iterable[Mapping[str, Any]]) -> set[str]:
    return {each["urn"] for each in resources if not is_in(each, _FINAL)}


def is_in(resource: Mapping[str, Any], states: Collection[str]) -> bool:
    """Whether Azure reports one of these provisioning states; no state means Succeeded."""
    reported = (resource.get("outputs") or {}).get("provisioningState") or "Succeeded"
    # External resources are not this stack's to wait for.
    return not id_of(resource) or bool(resource.get("external")) or reported in states


def id_of(resource: Mapping[str, Any]) -> str:
    """Its id in Azure, in lower case; empty for resources outside of Azure."""
    identity = str(resource.get("id", "")).lower()
    return identity if identity.startswith("/subscriptions/") else ""


def _recorded(state: Path) -> set[str]:
    """The ids of all Azure resources of the stacks."""
    recorded = set()
    for file in state.glob(_CHECKPOINTS):
        # The engine reports a damaged checkpoint when its stack is used.
        with suppress(ValueError):
            latest = json.loads(file.read_bytes())["checkpoint"].get("latest") or {}
            recorded |= {
                id_of(resource)
                for resource in latest.get("resources") or ()
                if not resource.get("pendingReplacement")
            }
    return recorded


def _created(request_log: Path) -> set[str]:
    """The ids of the resources that our plug-ins created and that still exist."""
    created: set[str] = set()
    for line in read_log(request_log).splitlines():
        if not _WRITE_REQUEST.search(line):
            continue
        try:
            request = json.loads(line)
        except ValueError:
            # The line is still being written, or the log is being shortened.
            continue
        path, is_ours = request["path"].lower(), request["headers"].get("User-Agent") == _PLUG_INS
        if request["method"] == "DELETE" and request["status"] in _SUCCESS:
            created = {each for each in created if not f"{each}/".startswith(f"{path}/")}
        elif request["method"] == "PUT" and request["status"] == _CREATED and is_ours:
            created.add(path)
    return created
