"""The locks of updates on the stacks of a file backend."""

import json
import os
import socket
from contextlib import suppress
from pathlib import Path

from aksgpu.outcome import Cause, Finding

# Part of the name of the engine's file, also in a wrapper such as `.pulumi-wrapped`.
_ENGINE = "pulumi"


def locked_stacks(state: Path) -> list[Finding]:
    """A finding for each lock whose update may be running."""
    locks = sorted(state.glob(".pulumi/locks/**/*.json"))
    return [_finding(lock, holder) for lock in locks if (holder := _holder(lock))]


def _finding(lock: Path, holder: str) -> Finding:
    what = f"nothing was changed: the stack {lock.parent.name} is locked by {holder}"
    advice = f"wait for its end, or end it there with Ctrl-C; if it is dead, remove {lock}"
    return Finding(Cause.UPDATE_FAILED, what, advice)


def _holder(lock: Path) -> str | None:
    """The update that holds a lock, if it may be running."""
    try:
        content = json.loads(lock.read_bytes())
        pid, host, user = int(content["pid"]), str(content["hostname"]), str(content["username"])
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError):
        # Pulumi writes locks atomically: only a crash of the machine leaves an invalid one.
        return None
    if host == socket.gethostname() and not _may_be_engine(pid):
        return None
    return f"the update of {user}@{host}, process {pid}"


def _may_be_engine(pid: int) -> bool:
    """Whether a process may be an engine; False if it has ended, or is another program.

    Its start time does not count: the clock may have been set since.
    """
    try:
        with suppress(PermissionError):
            os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    process = Path("/proc", str(pid))
    try:
        name, _, rest = (process / "stat").read_text(errors="replace").rpartition(")")
        words = (process / "cmdline").read_text(errors="replace").split("\0")
    except ProcessLookupError:
        # It has just ended.
        return False
    except OSError:
        # Permission denied, or no /proc, as on macOS.
        return True
    if rest.split()[0] in {"Z", "X"}:
        return False
    with suppress(OSError):
        words.append(str((process / "exe").readlink()))
    return any(_ENGINE in Path(word).name for word in [name, *words])
