"""Whether this machine has the memory for one more cluster."""

from collections.abc import Iterable
from pathlib import Path

# What a control plane with a few nodes and pods takes (measured), and what has to stay free.
CLUSTER_MEBIBYTES = 600
SPARE_MEBIBYTES = 200


def lacking(coming: int = 0, root: Path = Path("/")) -> str | None:
    """Returns why there is no memory for one more cluster; None if there is, or it is unknown.

    `coming` counts the clusters that are starting and have not taken their memory yet; `root` is
    the root of the file system.
    """
    available = _available(root)
    if available is not None:
        available = max(0, available - coming * CLUSTER_MEBIBYTES)
    needed = CLUSTER_MEBIBYTES + SPARE_MEBIBYTES
    if available is None or available >= needed:
        return None
    return (
        f"A rehearsed cluster needs about {CLUSTER_MEBIBYTES} MiB of memory, and "
        f"{SPARE_MEBIBYTES} MiB have to stay free, but this machine has only {available} MiB free. "
        "Delete a cluster that you no longer need, or end other programs."
    )


def used(pids: Iterable[int]) -> int:
    """Returns the MiB that these processes use; shared memory counts once."""
    return sum(map(_share, pids)) >> 10


def _share(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _available(root: Path) -> int | None:
    limits = [_of_machine(root), _of_group(root)]
    return min((number for number in limits if number is not None), default=None)


def _of_machine(root: Path) -> int | None:
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
    except OSError:
        return None  # not Linux
    sizes = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    match sizes.get("MemAvailable"):
        case [kibibytes, "kB"]:
            return int(kibibytes) >> 10
    return None


def _of_group(root: Path) -> int | None:
    """Returns what the limits of this container still allow."""
    folder = root / "sys/fs/cgroup"
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
        statistics = (folder / "memory.stat").read_text().splitlines()
    except (OSError, ValueError):
        return None
    if limit == "max":
        return None
    # The kernel frees its file cache before it denies memory.
    cached = sum(int(line.split()[1]) for line in statistics if line.startswith("inactive_file "))
    return (int(limit) - used + cached) >> 20
