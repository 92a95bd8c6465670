"""Whether many pools with custom headers take longer than one; in Azure each takes five seconds."""

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.project import MeasuredProject
from engine import Engine
from rehearsal.cloud import Cloud

COUNTS = (1, 20)
RUNS = 3
_PARALLEL = "64"

_BASE = """
from components import GpuNodePool, GpuNodePoolArgs
from pulumi_azure_native import containerservice as aks, resources

group = resources.ResourceGroup("group", resource_group_name="parallel", location="eastus")
cluster = aks.ManagedCluster(
    "cluster", resource_group_name=group.name, resource_name_="c", location="eastus",
    dns_prefix="c", identity={{"type": "SystemAssigned"}},
    agent_pool_profiles=[
        {{"name": "system", "mode": "System", "count": 1, "vm_size": "Standard_D4ds_v5"}}
    ],
)
for index in range({pools}):
    GpuNodePool(
        f"pool{{index}}",
        GpuNodePoolArgs(
            resource_group_name=group.name, cluster_name=cluster.name, pool_name=f"pool{{index}}",
            vm_size="Standard_NC8as_T4_v3", custom_headers={{"EnableACRTeleport": "false"}},
        ),
    )
"""


@dataclass(frozen=True)
class Update:
    """The median of several updates that make so many pools."""

    pools: int
    seconds: float


def measure(engine: Engine, cloud: Cloud, console: Console) -> list[Update]:
    """Makes one pool and many, in turn, and takes them away again."""
    seconds: dict[int, list[float]] = {count: [] for count in COUNTS}
    with tempfile.TemporaryDirectory() as folder:
        project = MeasuredProject(engine, cloud, Path(folder))
        _up(project, 0)
        for run in range(RUNS):
            for count, took in seconds.items():
                console.print(f"making {count} pools at once, run {run + 1} of {RUNS}")
                took.append(_up(project, count))
                _up(project, 0)
    return [Update(count, round(statistics.median(took), 2)) for count, took in seconds.items()]


def told(updates: list[Update]) -> str:
    one, many = updates
    return (
        f"An update that makes {many.pools} pools took {many.seconds:.1f} s, one that makes "
        f"{one.pools} took {one.seconds:.1f} s: {many.seconds / one.seconds:.2f} times as long."
    )


def _up(project: MeasuredProject, pools: int) -> float:
    project.write(_BASE.format(pools=pools))
    return project.pulumi("up", "--yes", "--skip-preview", "--parallel", _PARALLEL)
