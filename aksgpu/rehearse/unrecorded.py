"""Whether an update has created what its state does not have, as when a plug-in was killed."""

import json
from collections.abc import Iterable
from pathlib import Path

from aksgpu.rehearse.state import State
from rehearsal.files import read_log

# The user agent of our plug-ins: what other clients create is no update's.
_PLUG_INS = "aks-gpu"


def length(request_log: Path) -> int:
    """The length of the log now, from which an update's requests begin."""
    return len(read_log(request_log))


def has_unrecorded(request_log: Path, since: int, now: State) -> bool:
    recorded = {str(each["id"]).lower() for each in now.created}
    return not recorded.issuperset(_created(read_log(request_log)[since:].splitlines()))


def _created(lines: Iterable[bytes]) -> Iterable[str]:
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
