"""What an update that was killed has left: what nobody knows of, or nobody waits for."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from aksgpu.rehearse.state import State
from rehearsal.files import read_log

BROKEN = frozenset({"Canceled", "Failed"})
_OVER = BROKEN | {"Succeeded"}
# How our plug-ins name themselves to Azure. What others have made is not taken over.
_PLUG_INS = "aks-gpu"
_CHECKPOINTS = ".pulumi/stacks/**/*.json"
_OF_WRITING = re.compile(rb'"method": "(PUT|DELETE)"')
_MADE, _TAKEN = 201, range(200, 300)


def is_left(now: State, state: Path, request_log: Path) -> bool:
    """Whether there is something to recover."""
    return now.is_pending or bool(under_way(now.resources) or lost(state, request_log))


def lost(state: Path, request_log: Path) -> set[str]:
    """The names in Azure of what our plug-ins have made and no stack has.

    Where a plug-in was killed, the engine has recorded nothing.
    """
    return _made(request_log) - _recorded(state)


def under_way(resources: Iterable[Mapping[str, Any]]) -> set[str]:
    return {each["urn"] for each in resources if not is_in(each, _OVER)}


def is_in(resource: Mapping[str, Any], states: Collection[str]) -> bool:
    """Whether Azure says that it is in one of these states; what has none is as it shall be."""
    said = (resource.get("outputs") or {}).get("provisioningState") or "Succeeded"
    # What is external is somebody else's to wait for.
    return not name_of(resource) or bool(resource.get("external")) or said in states


def name_of(resource: Mapping[str, Any]) -> str:
    """Its name in Azure; empty for what is not there."""
    name = str(resource.get("id", "")).lower()
    return name if name.startswith("/subscriptions/") else ""


def _recorded(state: Path) -> set[str]:
    """The names in Azure of all that the stacks have."""
    recorded = set()
    for file in state.glob(_CHECKPOINTS):
        # One that is damaged has nothing; the engine says so when it is that stack's turn.
        with suppress(ValueError):
            latest = json.loads(file.read_bytes())["checkpoint"].get("latest") or {}
            recorded |= {
                name_of(resource)
                for resource in latest.get("resources") or ()
                if not resource.get("pendingReplacement")
            }
    return recorded


def _made(request_log: Path) -> set[str]:
    """The names of all that our plug-ins have made in Azure, and nobody has deleted."""
    made: set[str] = set()
    for line in read_log(request_log).splitlines():
        if not _OF_WRITING.search(line):
            continue
        try:
            request = json.loads(line)
        except ValueError:
            # Somebody is in the middle of writing it, or of making room.
            continue
        name, is_ours = request["path"].lower(), request["headers"].get("User-Agent") == _PLUG_INS
        if request["method"] == "DELETE" and request["status"] in _TAKEN:
            made = {each for each in made if each != name and not each.startswith(f"{name}/")}
        elif request["method"] == "PUT" and request["status"] == _MADE and is_ours:
            made.add(name)
    return made
