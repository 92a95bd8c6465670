"""The cost of a preview, by the number of pools and the way in which they are created."""

import statistics
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from rich.console import Console

from aksgpu.report import ReportTable
from aksgpu.report import table as wide_table
from benchmarks.programs import WAYS, program
from benchmarks.project import MeasuredProject
from machine_setup import Engine
from rehearsal.cloud import Cloud

# AKS allows a cluster 100 pools.
SIZES = (1, 30, 100)
RUNS = 3


@dataclass(frozen=True)
class Cost:
    """The medians of several runs."""

    pools: int
    scaled: bool
    way: str
    seconds: float
    processor_seconds: float
    peak_mb: float


def measure(engine: Engine, cloud: Cloud, console: Console) -> list[Cost]:
    """Previews each number of pools in each way, in turn, so that machine load affects all."""
    measured: dict[tuple[int, bool, str], list[tuple[float, float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for pools, scaled, run, way in product(SIZES, (False, True), range(RUNS), WAYS):
            console.print(f"previewing {pools} pools, {way}, run {run + 1} of {RUNS}")
            home = Path(folder) / f"{way}-{pools}"
            cost = _preview(engine, cloud, home, program(way, pools, scaled=scaled))
            measured.setdefault((pools, scaled, way), []).append(cost)
    return [
        Cost(*variant, *(round(statistics.median(each), 3) for each in zip(*runs, strict=True)))
        for variant, runs in measured.items()
    ]


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


def _preview(engine: Engine, cloud: Cloud, home: Path, text: str) -> tuple[float, float, float]:
    """Returns a preview's seconds, its processor seconds, and the program's peak megabytes."""
    peak = home / "memory"
    project = MeasuredProject(engine, cloud, home, {"BENCH_MEMORY": str(peak)})
    project.write(text)
    took = project.measured("preview")
    return took.elapsed, took.worked, int(peak.read_text()) / 1024
