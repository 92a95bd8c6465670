"""The locks that updates hold on the stacks of a state in files."""

import json
import os
import socket
from contextlib import suppress
from pathlib import Path

from aksgpu.running import ProgramError
from engine.cache import Say

# What the engine's file is called, whatever a wrapper puts around it, as `.pulumi-wrapped`.
_ENGINE = "pulumi"


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


def holders_of(state: Path) -> dict[Path, str]:
    """Every lock of a state that is not dead for certain, with the update that holds it."""
    locks = sorted(state.glob(".pulumi/locks/**/*.json"))
    return {lock: holder for lock in locks if (holder := _holder(lock))}


def _holder(lock: Path) -> str | None:
    """Who holds a lock, if that may be at work."""
    try:
        said = json.loads(lock.read_bytes())
        pid, host, user = int(said["pid"]), str(said["hostname"]), str(said["username"])
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError):
        # Pulumi writes them whole: it is what a crash of the machine has left.
        return None
    if host == socket.gethostname() and not _is_at_work(pid):
        return None
    return f"the update of {user}@{host}, process {pid}"


def _is_at_work(pid: int) -> bool:
    """Whether a process may be an engine; False if it is gone, or another for certain.

    When it began does not count: the clock may have been set since.
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
        # It has ended at this moment.
        return False
    except OSError:
        # Nobody may look, or there is no /proc, as on macOS.
        return True
    if rest.split()[0] in {"Z", "X"}:
        return False
    with suppress(OSError):
        words.append(str((process / "exe").readlink()))
    return any(_ENGINE in Path(word).name for word in [name, *words])
