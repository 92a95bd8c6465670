"""Whether an update has created what no state has, as when a plug-in was killed."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from aksgpu.rehearse.locks import locked_stacks
from rehearsal.files import read_log

# The user agent of our plug-ins: what other clients create is no update's.
_PLUG_INS = "aks-gpu"
_CHECKPOINTS = ".pulumi/stacks/**/*.json"


def has_unrecorded(state: Path, request_log: Path, since: int) -> bool:
    """Whether a part of the log has created something that no stack has recorded."""
    if locked_stacks(state):
        # The update of another stack records what it creates a moment later.
        return False
    return not _recorded(state).issuperset(_created(read_log(request_log)[since:].splitlines()))


def _recorded(state: Path) -> set[str]:
    """The ids of all resources of all stacks."""
    recorded = set()
    for file in state.glob(_CHECKPOINTS):
        # The engine reports a damaged checkpoint when its stack is used.
        with suppress(ValueError):
            latest = json.loads(file.read_bytes())["checkpoint"].get("latest") or {}
            recorded |= {str(each.get("id")).lower() for each in latest.get("resources") or ()}
    return recorded


def _created(lines: Iterable[bytes]) -> Iterator[str]:
    """The ids of the resources that our plug-ins have created."""
    for line in lines:
        try:
            request = json.loads(line)
        except ValueError:
            # It is still being written.
            continue
        is_ours = request["headers"].get("User-Agent") == _PLUG_INS
        if is_ours and request["method"] == "PUT" and request["status"] == 201:
            yield request["path"].lower()
