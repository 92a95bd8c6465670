"""Reviews the stacks of a workflow's job, and writes the reports to build/report.

    STACKS='["dev"]' LABELS='["replace:dev/gpu@1a2b3c4"]' COMMIT=1a2b3c4d... \
        python -m aksgpu.ci.review --offline

The report is also the job's summary, even if the review fails. A label of the pull request such as
`replace:dev/gpu@1a2b3c4`, which needs write access to the repository, is an allowance for this
commit. Arguments are passed to `aksgpu review`.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from aksgpu.allowances import of_label
from aksgpu.outcome import NOT_KNOWN, STOPPED, WRONG_USAGE
from aksgpu.running import Program, ProgramError, terminated_as_interrupted
from aksgpu.stack_names import short_name

_FORMATS = {"--markdown": "review.md", "--json": "review.json"}


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs the review; its exit code."""
    stacks: list[str] = json.loads(environment["STACKS"])
    labels: list[str] = json.loads(environment.get("LABELS") or "[]")
    if not stacks:
        sys.stderr.write("STACKS names no stack.\n")
        return WRONG_USAGE
    # This folder has only the reports: the workflow uploads all of it.
    place = Path("build") / "report"
    place.mkdir(parents=True, exist_ok=True)
    command = ["review", *arguments, *(f"--stack={stack}" for stack in stacks)]
    reviewed = {short_name(stack) for stack in stacks}
    for label in labels:
        try:
            allowance = of_label(label, environment.get("COMMIT", ""))
        except ValueError as error:
            sys.stderr.write(f"A label was ignored: {error}.\n")
            continue
        if allowance and allowance.stack in reviewed:
            command.append(f"--allow={allowance}")
    command += [f"{option}={place / name}" for option, name in _FORMATS.items()]
    aksgpu = Program((Path.cwd() / ".venv" / "bin" / "aksgpu",), Path.cwd())
    try:
        with terminated_as_interrupted():
            code = aksgpu.watch(*command)
    except ProgramError as error:
        sys.stderr.write(f"{error}\n")
        code = NOT_KNOWN
    except KeyboardInterrupt:
        code = STOPPED
    report = place / _FORMATS["--markdown"]
    if report.exists() and (summary := environment.get("GITHUB_STEP_SUMMARY")):
        with Path(summary).open("a", encoding="utf-8") as written:
            written.write(report.read_text(encoding="utf-8"))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
