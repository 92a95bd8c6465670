"""Runs all benchmarks, prints the results, and writes them to build/bench.json."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from aksgpu.rehearsal_stage import PROGRAM
from aksgpu.report import as_json
from aksgpu.running import terminated_as_interrupted
from benchmarks import parallel, policies, preview
from machine_setup import ensure_engine
from rehearsal import cloud
from rehearsal.cloud import Cloud

# Time scales: operations that take no time, and operations of the default pace (a pool takes 5 s).
_AT_ONCE, _AS_SEEN = 0.005, 1.0


@contextmanager
def _running(time_scale: float) -> Iterator[Cloud]:
    with tempfile.TemporaryDirectory() as home:
        try:
            yield cloud.start(Path(home), time_scale)
        finally:
            cloud.stop(Path(home))


def main() -> None:
    console = Console()
    engine = ensure_engine(console.print)
    with _running(_AT_ONCE) as at_once:
        costs = preview.measure(engine, at_once, console)
        policy_cost = policies.measure(engine, at_once, console)
    with _running(_AS_SEEN) as as_seen:
        updates = parallel.measure(engine, as_seen, console)
    console.print(preview.table(costs))
    console.print(policies.summary(policy_cost))
    console.print(parallel.summary(updates))
    report = PROGRAM / "build" / "bench.json"
    report.parent.mkdir(exist_ok=True)
    figures = {
        "preview": [asdict(cost) for cost in costs],
        "parallel": [asdict(update) for update in updates],
        "policy": asdict(policy_cost),
        "policy_ms_per_resource": policy_cost.ms_per_resource,
        "rules_ms_per_resource": policy_cost.ms_of_rules,
    }
    report.write_text(as_json(figures), encoding="utf-8")
    console.print(f"Written to {report.relative_to(PROGRAM)}")


if __name__ == "__main__":
    with terminated_as_interrupted():
        main()
