"""How much memory processes use."""

from collections.abc import Iterable
from pathlib import Path


def used(pids: Iterable[int]) -> int:
    """Returns the MiB that these processes use; shared memory counts once."""
    return sum(map(_share, pids)) >> 10


def _share(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
