"""Compares an update with many pools with one of a single pool, all with custom headers.

In the rehearsal cloud each pool takes five seconds. It also measures the peak memory of
aks-preview.
"""

import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from rich.console import Console

from benchmarks.project import MeasuredProject
from engine import Engine
from rehearsal.cloud import Cloud

# The number of pools, and the number of runs.
RUNS = {1: 3, 20: 3, 200: 1}
_PARALLEL = "64"

_BASE = """
from components import GpuNodePool, GpuNodePoolArgs
from pulumi_azure_native import containerservice as aks, resources

group = resources.ResourceGroup("group", resource_group_name="parallel", location="eastus")
# AKS allows a cluster 100 pools.
clusters = [
    aks.ManagedCluster(
        name, resource_group_name=group.name, resource_name_=name, location="eastus",
        dns_prefix=name, identity={{"type": "SystemAssigned"}},
        agent_pool_profiles=[
            {{"name": "system", "mode": "System", "count": 1, "vm_size": "Standard_D4ds_v5"}}
        ],
    )
    for name in ("a", "b", "c")
]
for index in range({pools}):
    GpuNodePool(
        f"pool{{index}}",
        GpuNodePoolArgs(
            resource_group_name=group.name, cluster_name=clusters[index % 3].name,
            pool_name=f"pool{{index}}",
            vm_size="Standard_NC8as_T4_v3", custom_headers={{"EnableACRTeleport": "false"}},
        ),
    )
"""


@dataclass(frozen=True)
class Update:
    """The medians of the updates with this number of pools."""

    pools: int
    seconds: float
    peak_mb: float


def measure(engine: Engine, cloud: Cloud, console: Console) -> list[Update]:
    """Creates one pool and many pools in turn, and deletes them again."""
    measured: dict[int, list[tuple[float, float]]] = {count: [] for count in RUNS}
    with tempfile.TemporaryDirectory() as folder:
        project = MeasuredProject(engine, cloud, Path(folder))
        _up(project, 0)
        for run in range(max(RUNS.values())):
            for count, runs in RUNS.items():
                if run < runs:
                    console.print(f"making {count} pools at once, run {run + 1} of {runs}")
                    with _memory() as peaks:
                        took = _up(project, count)
                    measured[count].append((took, max(peaks) / 1024))
                    _up(project, 0)
    updates = []
    for count, figures in measured.items():
        seconds, memory = map(statistics.median, zip(*figures, strict=True))
        updates.append(Update(count, round(seconds, 2), round(memory, 1)))
    return updates


def summary(updates: list[Update]) -> str:
    single = updates[0]
    return "\n".join(
        f"An update that creates {many.pools} pools took {many.seconds:.1f} s, "
        f"{many.seconds / single.seconds:.2f} times as long as one that creates {single.pools}; "
        f"aks-preview used {many.peak_mb:.0f} MB of memory."
        for many in updates
    )


@contextmanager
def _memory() -> Iterator[list[int]]:
    """Measures the peak memory of the aks-preview plug-ins within the block, in kilobytes."""
    peaks, is_over = [0], Event()

    def look() -> None:
        while not is_over.wait(0.1):
            for process in Path("/proc").glob("[0-9]*"):
                # The process may have ended.
                with suppress(OSError, IndexError):
                    if b"/aks_preview\0" in (process / "cmdline").read_bytes():
                        peak = (process / "status").read_text().partition("VmHWM:")[2]
                        peaks.append(int(peak.split()[0]))

    looking = Thread(target=look)
    looking.start()
    try:
        yield peaks
    finally:
        is_over.set()
        looking.join()


def _up(project: MeasuredProject, pools: int) -> float:
    project.write(_BASE.format(pools=pools))
    return project.pulumi("up", "--yes", "--skip-preview", "--parallel", _PARALLEL)
