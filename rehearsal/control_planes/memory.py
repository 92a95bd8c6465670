"""Whether this machine has the memory for one more cluster."""

from collections.abc import Iterable
from pathlib import Path

# What a control plane takes, measured with a few nodes and pods in it, and what is to be left over.
CLUSTER_MEBIBYTES = 600
SPARE_MEBIBYTES = 200


def lacking(coming: int = 0, root: Path = Path("/")) -> str | None:
    """What is wrong, in words; None where there is room, or where nobody can tell.

    `coming` is how many clusters are being started and have not taken theirs yet; `root` is where
    the files of the system lie.
    """
    available = _available(root)
    if available is not None:
        available = max(0, available - coming * CLUSTER_MEBIBYTES)
    needed = CLUSTER_MEBIBYTES + SPARE_MEBIBYTES
    if available is None or available >= needed:
        return None
    return (
        f"A cluster of the rehearsal takes about {CLUSTER_MEBIBYTES} MiB of memory, with "
        f"{SPARE_MEBIBYTES} MiB left over for everything else, and this machine has {available} "
        "MiB free. Delete a cluster that is no longer needed, or end other programs."
    )


def used(pids: Iterable[int]) -> int:
    """How many MiB these processes take; what they share counts once."""
    return sum(map(_share, pids)) >> 10


def _share(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _available(root: Path) -> int | None:
    found = [_of_machine(root), _of_group(root)]
    return min((number for number in found if number is not None), default=None)


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
    """What a container may still take."""
    folder = root / "sys/fs/cgroup"
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
        statistics = (folder / "memory.stat").read_text().splitlines()
    except (OSError, ValueError):
        return None
    if limit == "max":
        return None
    # The system takes its cache of files back before it denies anybody memory.
    cached = sum(int(line.split()[1]) for line in statistics if line.startswith("inactive_file "))
    return (int(limit) - used + cached) >> 20
