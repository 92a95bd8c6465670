"""Compares updates that create many pools with one that creates a single pool.

In the rehearsal cloud each pool takes five seconds. The pools have custom headers, so this also
measures the peak memory of aks-preview. `bare` are resources without components.
"""

import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from rich.console import Console

from benchmarks.project import MeasuredProject, Seconds
from machine_setup import Engine
from rehearsal.cloud import Cloud

# The way and the number of pools, and the number of runs. AKS allows a cluster 100 pools,
# of which one is the system pool.
RUNS = {
    ("components", 1): 3,
    ("components", 20): 3,
    ("bare", 20): 3,
    ("components", 99): 1,
    ("bare", 99): 1,
}
_PARALLEL = "64"

_CLUSTER = """
import pulumi
from pulumi_azure_native import containerservice as aks, resources

group = resources.ResourceGroup("group", resource_group_name="parallel", location="eastus")
cluster = aks.ManagedCluster(
    "cluster", resource_group_name=group.name, resource_name_="parallel", location="eastus",
    dns_prefix="parallel", identity={"type": "SystemAssigned"},
    agent_pool_profiles=[
        {"name": "system", "mode": "System", "count": 1, "vm_size": "Standard_D4ds_v5"}
    ],
)
"""
_POOLS = {
    "components": """
from components import GpuNodePool, GpuNodePoolArgs

for index in range(POOLS):
    GpuNodePool(
        f"pool{index}",
        GpuNodePoolArgs(
            resource_group_name=group.name, cluster_name=cluster.name, pool_name=f"pool{index}",
            vm_size="Standard_NC8as_T4_v3", custom_headers={"EnableACRTeleport": "false"},
        ),
    )
""",
    "bare": """
for index in range(POOLS):
    pulumi.CustomResource(
        "aks-preview:containerservice:AgentPool",
        f"pool{index}",
        {
            "resourceGroupName": group.name, "resourceName": cluster.name,
            "agentPoolName": f"pool{index}", "mode": "User", "osType": "Linux", "count": 1,
            "type": "VirtualMachineScaleSets", "vmSize": "Standard_NC8as_T4_v3",
            "nodeTaints": ["sku=gpu:NoSchedule"], "gpuProfile": {"driver": "Install"},
            "customHeaders": {"EnableACRTeleport": "false"},
        },
    )
""",
}


@dataclass(frozen=True)
class Update:
    """The medians of the updates with this number of pools."""

    way: str
    pools: int
    seconds: float
    processor_seconds: float
    peak_mb: float


def measure(engine: Engine, cloud: Cloud, console: Console) -> list[Update]:
    """Creates one pool and many pools in turn, and deletes them again."""
    measured: dict[tuple[str, int], list[tuple[float, float, float]]] = {each: [] for each in RUNS}
    with tempfile.TemporaryDirectory() as folder:
        project = MeasuredProject(engine, cloud, Path(folder))
        _up(project, "bare", 0)
        for run in range(max(RUNS.values())):
            for (way, pools), runs in RUNS.items():
                if run < runs:
                    console.print(f"creating {pools} pools, {way}, run {run + 1} of {runs}")
                    with _memory() as peaks:
                        took = _up(project, way, pools)
                    figures = (took.elapsed, took.worked, max(peaks) / 1024)
                    measured[way, pools].append(figures)
                    _up(project, way, 0)
    return [
        Update(*variant, *(round(statistics.median(each), 2) for each in zip(*runs, strict=True)))
        for variant, runs in measured.items()
    ]


def summary(updates: list[Update]) -> str:
    single = updates[0]
    return "\n".join(
        f"An update that creates {many.pools} pools ({many.way}) took {many.seconds:.1f} s, "
        f"{many.seconds / single.seconds:.2f} times as long as one that creates {single.pools}, "
        f"and {many.processor_seconds:.1f} processor seconds; aks-preview used "
        f"{many.peak_mb:.0f} MB of memory."
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


def _up(project: MeasuredProject, way: str, pools: int) -> Seconds:
    project.write(f"POOLS = {pools}\n{_CLUSTER}{_POOLS[way]}")
    return project.measured("up", "--yes", "--skip-preview", "--parallel", _PARALLEL)
