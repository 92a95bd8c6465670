"""Runs the measurements, shows them, and writes them to build/bench.json."""

import json
import tempfile
from pathlib import Path

from rich.console import Console

from aksgpu.rehearsal_stage import PROGRAM
from benchmarks import preview
from engine import ensure_engine
from rehearsal import cloud

console = Console()
engine = ensure_engine(console.print)
with tempfile.TemporaryDirectory() as home:
    running = cloud.start(Path(home), time_scale=0.005)
    try:
        costs = preview.measure(engine, running, console)
    finally:
        cloud.stop(Path(home))

console.print(preview.table(costs))
report = PROGRAM / "build" / "bench.json"
report.parent.mkdir(exist_ok=True)
report.write_text(json.dumps({"preview": preview.as_json(costs)}, indent=2) + "\n")
console.print(f"Written to {report.relative_to(PROGRAM)}")
