"""The locks that updates hold on the stacks of a state in files."""

import json
import os
import re
import socket
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from aksgpu.running import ProgramError
from engine.cache import Say

# A process's beginning is known to the second.
_SLACK_SECONDS = 2.0
# The engine's name among the processes.
_ENGINE = "pulumi"
# Where its beginning stands in what follows a process's state in its `stat`.
_BEGINNING = 18


def lift_locks(stack: str, state: Path, say: Say) -> None:
    """Lifts the locks of updates that are dead for certain.

    Each for itself: `pulumi cancel` lifts all, also that of an update at work. Raises ProgramError
    where one is left.
    """
    locks = sorted(state.glob(f".pulumi/locks/**/{stack}/*.json"))
    for dead in [lock for lock in locks if _holder(lock) is None]:
        dead.unlink(missing_ok=True)
        say("An earlier update was killed; its lock is lifted.")
    if holders := list(filter(None, map(_holder, locks))):
        raise ProgramError(
            f"The stack {stack} is locked by {' and '.join(holders)}. Wait for its end. If it is "
            f"dead, lift its lock with `pulumi cancel --yes --stack {stack}`, in a shell that "
            "`aksgpu env` has set up"
        )


def _holder(lock: Path) -> str | None:
    """Who holds a lock, if that may be at work."""
    try:
        said = json.loads(lock.read_bytes())
        pid, host, user = int(said["pid"]), str(said["hostname"]), str(said["username"])
        began = datetime.fromisoformat(said["timestamp"]).timestamp()
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError):
        # Pulumi writes them whole: it is what a crash of the machine has left.
        return None
    if host == socket.gethostname() and not _is_at_work(pid, began):
        return None
    return f"the update of {user}@{host}, process {pid}"


def _is_at_work(pid: int, since: float) -> bool:
    """Whether a process is the engine that it was at a time, and not another with its number."""
    try:
        name, _, rest = Path("/proc", str(pid), "stat").read_text(errors="replace").rpartition(")")
        state, *fields = rest.split()
        booted = re.search(r"^btime (\d+)", Path("/proc/stat").read_text(), re.MULTILINE)
    except OSError:
        # There is no such process, or no /proc, as on macOS.
        return not Path("/proc/stat").exists() and _is_there(pid)
    if state == "Z" or name.partition("(")[2] != _ENGINE or booted is None:
        return False
    began = int(booted[1]) + int(fields[_BEGINNING]) / os.sysconf("SC_CLK_TCK")
    return began <= since + _SLACK_SECONDS


def _is_there(pid: int) -> bool:
    try:
        with suppress(PermissionError):
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
