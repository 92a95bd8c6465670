"""The cost of a preview, by the number of pools: by components, and of bare resources.

The engine and the offline plug-ins run as in a rehearsal.
"""

import resource
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path
from types import MappingProxyType

import yaml
from rich.console import Console

from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROGRAM, pulumi_in
from aksgpu.report import ReportTable
from aksgpu.report import table as wide_table
from machine_setup import Engine, ensure_engine
from rehearsal import cloud
from rehearsal.cloud import Cloud

# AKS allows a cluster 100 pools.
SIZES = (1, 30, 100)
RUNS = 3
# Operations of Azure take no time.
_TIME_SCALE = 0.005
# At its end, the program writes its peak memory in kilobytes.
_HEAD = """
import atexit, os, resource
atexit.register(
    lambda: open(os.environ["BENCH_MEMORY"], "w").write(
        str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    )
)
"""
_COMPONENTS = """
from components import GpuNodePool, GpuNodePoolArgs

for index in range(POOLS):
    GpuNodePool(
        f"pool{index}",
        GpuNodePoolArgs(
            resource_group_name="g", cluster_name="c", pool_name=f"pool{index}",
            vm_size="Standard_NC8as_T4_v3", count=1,
            **(dict(min_count=0, max_count=4) if SCALED else {}),
        ),
    )
"""
_BARE = """
import pulumi

class Pool(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("bare:index:Pool", name)
        pool = pulumi.CustomResource(
            "azure-native:containerservice:AgentPool",
            name,
            {
                "resourceGroupName": "g", "resourceName": "c", "agentPoolName": name,
                "mode": "User", "osType": "Linux", "type": "VirtualMachineScaleSets",
                "vmSize": "Standard_NC8as_T4_v3", "count": 1,
                "nodeTaints": ["sku=gpu:NoSchedule"], "gpuProfile": {"driver": "Install"},
                **(
                    {"enableAutoScaling": True, "minCount": 0, "maxCount": 4} if SCALED else {}
                ),
            },
            pulumi.ResourceOptions(parent=self, version=VERSION),
        )
        self.register_outputs({"id": pool.id})

for index in range(POOLS):
    Pool(f"pool{index}")
"""
WAYS: Mapping[str, str] = MappingProxyType({"components": _COMPONENTS, "bare": _BARE})


@dataclass(frozen=True)
class Cost:
    """The medians of several runs. Processor seconds are those of the whole tree of processes."""

    pools: int
    scaled: bool
    way: str
    seconds: float
    processor_seconds: float
    peak_mb: float


def measure(console: Console) -> list[Cost]:
    """Previews each number of pools in each way, in turn, so that machine load affects all."""
    engine = ensure_engine(console.print)
    measured: dict[tuple[int, bool, str], list[tuple[float, float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "cloud"
        try:
            azure = cloud.start(home, _TIME_SCALE)
            for pools, scaled, run, way in product(SIZES, (False, True), range(RUNS), WAYS):
                console.print(f"previewing {pools} pools, {way}, run {run + 1} of {RUNS}")
                text = program(way, pools, scaled=scaled)
                cost = _preview(engine, azure, Path(folder) / f"{way}-{pools}", text)
                measured.setdefault((pools, scaled, way), []).append(cost)
        finally:
            cloud.stop(home)
    return [
        Cost(*variant, *(round(statistics.median(each), 3) for each in zip(*runs, strict=True)))
        for variant, runs in measured.items()
    ]


def program(way: str, pools: int, *, scaled: bool) -> str:
    """Returns a program that registers this number of pools in one of the ways."""
    head = f"POOLS = {pools}\nSCALED = {scaled}\nVERSION = {version('pulumi-azure-native')!r}\n"
    return head + _HEAD + WAYS[way]


def table(costs: list[Cost]) -> ReportTable:
    """Returns a table of the costs, and their ratio to the bare way."""
    bare = {(cost.pools, cost.scaled): cost for cost in costs if cost.way == "bare"}
    headings = ("pools", "count", "way", "seconds", "processor s", "to bare", "peak MB", "to bare")
    shown = wide_table(*headings, title=f"Previews on the engine, medians of {RUNS} runs")
    for cost in costs:
        base = bare[cost.pools, cost.scaled]
        shown.add_row(
            str(cost.pools),
            "autoscaled" if cost.scaled else "fixed",
            cost.way,
            f"{cost.seconds:.2f}",
            f"{cost.processor_seconds:.2f}",
            f"{cost.processor_seconds / base.processor_seconds:.2f}",
            f"{cost.peak_mb:.0f}",
            f"{cost.peak_mb / base.peak_mb:.2f}",
        )
    return shown


def _preview(engine: Engine, azure: Cloud, home: Path, text: str) -> tuple[float, float, float]:
    """Returns a preview's seconds, its processor seconds, and the program's peak megabytes."""
    project, peak = Project(PROGRAM, home), home / "memory"
    project.write()
    file = project.folder / "Pulumi.yaml"
    own = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump(own | {"main": ".", "config": {}}))
    (project.folder / "__main__.py").write_text(text)
    memory = {"BENCH_MEMORY": str(peak)}
    pulumi = pulumi_in(
        engine, project.folder, {**project.environment(), **azure.environment(), **memory}
    )
    if not (project.folder / "Pulumi.bench.yaml").exists():
        pulumi.read("stack", "init", "--stack", "bench")
    began, worked = time.monotonic(), _processor_seconds()
    pulumi.read("preview", "--stack", "bench")
    took = time.monotonic() - began, _processor_seconds() - worked
    return *took, int(peak.read_text()) / 1024


def _processor_seconds() -> float:
    """Returns what all ended descendants of this process have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
