"""Makes the findings of a run anew, for code scanning, from what is believed of them.

    python -m aksgpu.ci.sarif review.sarif

A stranger's code has written them: they get our tool's name, our rules and no others, a bounded
number of results, and words without links; and a fork's say whose word they are.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aksgpu.ci.foreign import plain, read_json

_MOST_RESULTS, _LONGEST, _LAST_LINE = 500, 1_000, 1_000_000
_LEVELS = ("note", "warning", "error")
_RULES = Path(__file__).resolve().parents[2] / "policies" / "rules"
# What the review itself finds, beside the rules of the pack.
_OWN = (
    "gpu-pool-deleted",
    "gpu-pool-forgotten",
    "gpu-pool-replaced",
    "gpu-pool-resized",
    "judging-brought",
    "preflight",
    "rule-not-run",
    "stack-not-reviewed",
)
_OTHER = "another-rule"
_FILE = re.compile(r"(?!/)(?:(?!\.\.?/)[\w.%+-][\w.%+ -]*/)*[\w.%+-][\w.%+ -]*\.(?:yaml|json)")
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_WORD = "By the author's own word, from a fork: "


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Writes a file anew."""
    file = Path(arguments[0])
    event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    # A repository that is gone is nobody's.
    source = (event["workflow_run"]["head_repository"] or {}).get("full_name")
    found = read(file)
    if found is None:
        sys.stderr.write(f"{file.name} has no findings that can be read.\n")
        return 1
    is_fork = source != environment["GITHUB_REPOSITORY"]
    file.write_text(json.dumps(anew(found, is_fork=is_fork)), encoding="utf-8")
    return 0


def read(file: Path) -> dict[str, Any] | None:
    """The findings in a file; None where it has none."""
    found = read_json(file)
    return found if isinstance(found, dict) and found.get("version") == "2.1.0" else None


def anew(found: Mapping[str, Any], *, is_fork: bool) -> dict[str, Any]:
    """The findings as they may be uploaded."""
    known = {*_OWN, *(file.stem.replace("_", "-") for file in _RULES.glob("[a-z]*.py"))}
    results: list[dict[str, Any]] = []
    for said in _maps(found, "runs", "results"):
        if len(results) == _MOST_RESULTS:
            break
        if (result := _result(said, known, _WORD if is_fork else "")) is not None:
            results.append(result)
    rules = sorted({str(result["ruleId"]) for result in results})
    driver = {
        "name": "aks-gpu review",
        "rules": [{"id": rule, "shortDescription": {"text": rule}} for rule in rules],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"version": "2.1.0", "runs": [run]}


def _maps(found: Any, *path: str) -> Iterator[Mapping[str, Any]]:
    """The maps in the lists at a path; what is none is left out."""
    for one in found.get(path[0]) if isinstance(found.get(path[0]), list) else ():
        if isinstance(one, dict):
            yield from _maps(one, *path[1:]) if path[1:] else [one]


def _result(said: Mapping[str, Any], known: set[str], word: str) -> dict[str, Any] | None:
    message = _at(said, "message", "text")
    if not isinstance(message, str):
        return None
    rule, level = said.get("ruleId"), said.get("level")
    place = next(_maps(said, "locations"), {})
    file = _at(place, "physicalLocation", "artifactLocation", "uri")
    fingerprint = _at(said, "partialFingerprints", "aksGpuReview/v1")
    region = {
        name: number
        for name in ("startLine", "startColumn")
        if type(number := _at(place, "physicalLocation", "region", name)) is int
        and 1 <= number <= _LAST_LINE
    }
    is_known = isinstance(rule, str) and rule in known
    is_file = isinstance(file, str) and _FILE.fullmatch(file)
    is_fingerprint = isinstance(fingerprint, str) and _FINGERPRINT.fullmatch(fingerprint)
    told = hashlib.sha256(f"{rule}|{file}|{message}".encode(errors="replace")).hexdigest()
    return {
        "ruleId": rule if is_known else _OTHER,
        "level": level if level in _LEVELS else "warning",
        "message": {"text": word + plain(message[:_LONGEST])},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": file if is_file else "Pulumi.yaml"},
                    "region": {"startLine": 1} | region,
                }
            }
        ],
        "partialFingerprints": {"aksGpuReview/v1": fingerprint if is_fingerprint else told},
    }


def _at(found: Any, *path: str) -> Any:
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
