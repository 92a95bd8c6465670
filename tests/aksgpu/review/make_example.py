"""Reviews the example, in all formats: `python -m tests.aksgpu.review.make_example FOLDER`.

Without a folder, it writes the example that docs/review.md shows.
"""

import sys
import tempfile
from datetime import date
from pathlib import Path

from tests.aksgpu.review.price_list import price_list
from tests.aksgpu.review.pull_request import STACK, make_pull_request, run_review
from tests.bench import ROOT

KEPT = ROOT / "docs" / "examples" / "review"
TERMINAL = "terminal.txt"
FORMATS = {"markdown": "report.md", "json": "report.json"}
# What an hour costs in the example, which is no answer of Azure's; and the day of its review.
PRICES = {
    "Standard_D4ds_v5": 0.25,
    "Standard_NC24ads_A100_v4": 3.5,
    "Standard_NC48ads_A100_v4": 7.0,
    "Standard_NC8as_T4_v3": 0.75,
    "Standard_NV36ads_A10_v5": 3.0,
    "Standard_NV6ads_A10_v5": 0.5,
}
DAY = date(2026, 11, 22)
# A mandatory rule is broken.
EXIT_CODE = 1


def make_example(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        project = Path(place) / "project"
        make_pull_request(project)
        files = [
            word for name, file in FORMATS.items() for word in (f"--{name}", str(folder / file))
        ]
        where = ["--project", str(project), "--stack", STACK]
        with price_list(PRICES) as address:
            ended = run_review(
                Path(place),
                *where,
                "--offline",
                "--base",
                "main",
                *files,
                AKS_GPU_PRICE_LIST=address,
                AKS_GPU_TODAY=str(DAY),
            )
    if ended.returncode != EXIT_CODE:
        raise SystemExit(f"It ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    # A terminal's lines are filled up with blanks; a file's need not be.
    lines = [line.rstrip() for line in ended.stdout.splitlines()]
    (folder / TERMINAL).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else KEPT
    chosen.mkdir(parents=True, exist_ok=True)
    make_example(chosen)
