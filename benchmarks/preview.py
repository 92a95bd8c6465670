"""The cost of a preview, by the number of pools and the way in which they are created."""

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from aksgpu.report import ReportTable
from aksgpu.report import table as wide_table
from benchmarks.programs import WAYS, program
from benchmarks.project import MeasuredProject
from engine import Engine
from rehearsal.cloud import Cloud

# AKS allows a cluster 100 pools.
SIZES = (1, 30, 100)
RUNS = 3


@dataclass(frozen=True)
class Cost:
    """The medians of several runs."""

    pools: int
    way: str
    seconds: float
    peak_mb: float


def measure(engine: Engine, cloud: Cloud, console: Console) -> list[Cost]:
    """Previews each number of pools in each way, in turn, so that machine load affects all."""
    measured: dict[tuple[int, str], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for pools in SIZES:
            for run in range(RUNS):
                for way in WAYS:
                    console.print(f"previewing {pools} pools, {way}, run {run + 1} of {RUNS}")
                    home = Path(folder) / f"{way}-{pools}"
                    cost = _preview(engine, cloud, home, program(way, pools))
                    measured.setdefault((pools, way), []).append(cost)
    costs = []
    for (pools, way), runs in measured.items():
        seconds, memory = map(statistics.median, zip(*runs, strict=True))
        costs.append(Cost(pools, way, round(seconds, 3), round(memory, 1)))
    return costs


def table(costs: list[Cost]) -> ReportTable:
    """Returns a table of the costs, and their ratio to the bare way."""
    bare = {cost.pools: cost for cost in costs if cost.way == "bare"}
    headings = ("pools", "way", "seconds", "to bare", "peak MB", "to bare")
    shown = wide_table(*headings, title=f"Previews on the engine, medians of {RUNS} runs")
    for cost in costs:
        base = bare[cost.pools]
        shown.add_row(
            str(cost.pools),
            cost.way,
            f"{cost.seconds:.2f}",
            f"{cost.seconds / base.seconds:.2f}",
            f"{cost.peak_mb:.0f}",
            f"{cost.peak_mb / base.peak_mb:.2f}",
        )
    return shown


def _preview(engine: Engine, cloud: Cloud, home: Path, text: str) -> tuple[float, float]:
    """Returns the preview's elapsed seconds and the program's peak memory in megabytes."""
    peak = home / "memory"
    project = MeasuredProject(engine, cloud, home, {"BENCH_MEMORY": str(peak)})
    project.write(text)
    return project.pulumi("preview"), int(peak.read_text()) / 1024
