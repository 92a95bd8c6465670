"""Runs all benchmarks, prints the results, and writes them to build/bench.json."""

from dataclasses import asdict

from rich.console import Console

from aksgpu.rehearsal_stage import PROGRAM
from aksgpu.report import as_json
from aksgpu.running import terminated_as_interrupted
from benchmarks import preview, rules


def main() -> None:
    console = Console()
    costs = preview.measure(console)
    milliseconds = rules.measure()
    console.print(preview.table(costs))
    console.print(f"The rules of the pack take {milliseconds} ms of a processor for each resource.")
    report = PROGRAM / "build" / "bench.json"
    report.parent.mkdir(exist_ok=True)
    figures = {"preview": [asdict(cost) for cost in costs], "rules_ms_per_resource": milliseconds}
    report.write_text(as_json(figures), encoding="utf-8")
    console.print(f"Written to {report.relative_to(PROGRAM)}")


if __name__ == "__main__":
    with terminated_as_interrupted():
        main()
