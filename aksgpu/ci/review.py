"""Reviews the stacks of a workflow's job into build/report, in every format.

    STACKS='["dev"]' LABELS='["replace:gpu"]' python -m aksgpu.ci.review --offline

The report goes into the job's summary too, also where the review fails. A label `replace:POOL` of
the pull request, which only people of this repository can put there, lets that pool be replaced.
Arguments are handed on to `aksgpu review`.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from aksgpu.outcome import NOT_KNOWN, STOPPED, WRONG_USAGE
from aksgpu.running import Program, ProgramError, terminated_as_interrupted

_LABEL = "replace:"
_FORMATS = {"--markdown": "review.md", "--sarif": "review.sarif", "--json": "review.json"}


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs the review; its exit code."""
    stacks: list[str] = json.loads(environment["STACKS"])
    labels: list[str] = json.loads(environment.get("LABELS") or "[]")
    if not stacks:
        sys.stderr.write("STACKS names no stack.\n")
        return WRONG_USAGE
    # Nothing else lies there: all of it is handed on.
    place = Path("build") / "report"
    place.mkdir(parents=True, exist_ok=True)
    command = ["review", *arguments, *(f"--stack={stack}" for stack in stacks)]
    command += [
        f"--allow-replace={label.removeprefix(_LABEL)}"
        for label in labels
        if label.startswith(_LABEL)
    ]
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
