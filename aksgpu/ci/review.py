"""Reviews the stacks of a workflow's job into build/report, in every format.

    STACKS='["dev"]' LABELS='["replace:gpu"]' python -m aksgpu.ci.review --offline

The report goes into the job's summary too, also where the review fails. A label `replace:POOL` of
the pull request, which only people of this repository can put there, lets that pool be replaced.
Arguments are handed on to `aksgpu review`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_LABEL = "replace:"
_FORMATS = {"--markdown": "review.md", "--sarif": "review.sarif", "--json": "review.json"}


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs the review; its exit code."""
    stacks: list[str] = json.loads(environment["STACKS"])
    labels: list[str] = json.loads(environment.get("LABELS") or "[]")
    if not stacks:
        sys.stderr.write("STACKS names no stack.\n")
        return 2
    # Nothing else lies there: all of it is handed on.
    place = Path("build") / "report"
    place.mkdir(parents=True, exist_ok=True)
    command = [str(Path(".venv") / "bin" / "aksgpu"), "review", *arguments]
    command += [f"--stack={stack}" for stack in stacks]
    command += [
        f"--allow-replace={label.removeprefix(_LABEL)}"
        for label in labels
        if label.startswith(_LABEL)
    ]
    command += [f"{option}={place / name}" for option, name in _FORMATS.items()]
    ended = subprocess.run(command, check=False)
    report = place / _FORMATS["--markdown"]
    if report.exists() and (summary := environment.get("GITHUB_STEP_SUMMARY")):
        with Path(summary).open("a", encoding="utf-8") as written:
            written.write(report.read_text(encoding="utf-8"))
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
