"""Measures whether many pools take longer than one: `python -m tests.aks_preview.parallel`.

The pools of the ARM server take 5 s each; all that is more is the engine's and ours.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from engine import ensure_engine
from rehearsal import cloud
from tests.aks_preview.conftest import POOL_API, Aks, PreviewBench
from tests.rehearsal.conftest import Azure, new_cluster, wait_until_made

ROUNDS = 3
MANY = 20
AT_MOST = 1.3


def program(aks: Aks, count: int) -> str:
    preamble, pool = aks.program(headers={"EnableACRTeleport": "false"}).split("pool = ")
    line = pool.splitlines()[0]
    return preamble + "\n".join(
        line.replace("'pool'", f"'p{number}'").replace("'gpu'", f"'p{number}'")
        for number in range(count)
    )


def up(bench: PreviewBench, text: str) -> float:
    bench.write(text)
    began = time.monotonic()
    bench.pulumi("up", "--yes", "--skip-preview", "--parallel", "64")
    return time.monotonic() - began


def measure(folder: Path) -> int:
    running = cloud.start(folder / "cloud", time_scale=1.0)
    try:
        aks = Aks(Azure(running), "parallel", "c")
        group = f"/resourceGroups/{aks.group}?api-version=2025-04-01"
        aks.azure.call("PUT", group, {"location": "eastus"})
        aks.azure.call("PUT", f"{aks.path}?{POOL_API}", new_cluster())
        wait_until_made(aks.azure, aks.path)
        bench = PreviewBench(ensure_engine(), running, folder / "bench")
        bench.begin()
        seconds: dict[int, list[float]] = {1: [], MANY: []}
        for _ in range(ROUNDS):
            for count, took in seconds.items():
                took.append(up(bench, program(aks, count)))
                up(bench, "")
    finally:
        cloud.stop(folder / "cloud")
    one, many = (statistics.median(took) for took in seconds.values())
    sys.stdout.write(
        f"1 pool {one:.1f} s, {MANY} pools {many:.1f} s: {many / one:.2f} times as long, "
        f"at most {AT_MOST} are allowed\n"
    )
    return 0 if many <= AT_MOST * one else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(measure(Path(temporary)))
