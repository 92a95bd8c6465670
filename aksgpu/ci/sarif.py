"""Rebuilds the findings of a run for code scanning from their checked fields.

    python -m aksgpu.ci.sarif review.sarif

The file is untrusted: the code of the pull request wrote it. The result has our tool's name, only
our rules, a limited number of results, and texts without links; those of a fork are marked.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from aksgpu.ci.foreign import plain, read_json

_MOST_RESULTS, _LONGEST, _LAST_LINE = 500, 1_000, 1_000_000
_LEVELS = ("note", "warning", "error")
_RULES = Path(__file__).resolve().parents[2] / "policies" / "rules"
# Findings of the review itself, besides the rules of the pack.
_REVIEW_RULES = (
    "gpu-pool-deleted",
    "gpu-pool-forgotten",
    "gpu-pool-replaced",
    "gpu-pool-resized",
    "gpu-pool-rotated",
    "judging-brought",
    "preflight",
    "rule-not-run",
    "stack-not-reviewed",
)
_OTHER = "another-rule"
_FILE = re.compile(r"(?!/)(?:(?!\.\.?/)[\w.%+-][\w.%+ -]*/)*[\w.%+-][\w.%+ -]*\.(?:yaml|json)")
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_FROM_FORK = "Reported by the code of a fork: "


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Rewrites a SARIF file."""
    file = Path(arguments[0])
    event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    # The repository is null if it was deleted.
    source = (event["workflow_run"]["head_repository"] or {}).get("full_name")
    document = read(file)
    if document is None:
        sys.stderr.write(f"{file.name} has no findings that can be read.\n")
        return 1
    is_fork = source != environment["GITHUB_REPOSITORY"]
    file.write_text(json.dumps(rebuilt(document, is_fork=is_fork)), encoding="utf-8")
    return 0


def read(file: Path) -> dict[str, Any] | None:
    """The SARIF document in a file; None if there is none."""
    content = read_json(file)
    return content if isinstance(content, dict) and content.get("version") == "2.1.0" else None


def rebuilt(document: Mapping[str, Any], *, is_fork: bool) -> dict[str, Any]:
    """A document that is safe to upload."""
    known = {*_REVIEW_RULES, *(file.stem.replace("_", "-") for file in _RULES.glob("[a-z]*.py"))}
    results: list[dict[str, Any]] = []
    for untrusted in _maps(document, "runs", "results"):
        if len(results) == _MOST_RESULTS:
            break
        if (result := _result(untrusted, known, _FROM_FORK if is_fork else "")) is not None:
            results.append(result)
    rules = sorted({str(result["ruleId"]) for result in results})
    driver = {
        "name": "aks-gpu review",
        "rules": [{"id": rule, "shortDescription": {"text": rule}} for rule in rules],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"version": "2.1.0", "runs": [run]}


def _maps(value: Any, *path: str) -> Iterator[Mapping[str, Any]]:
    """The maps in the lists at a path; other values are omitted."""
    for item in value.get(path[0]) if isinstance(value.get(path[0]), list) else ():
        if isinstance(item, dict):
            yield from _maps(item, *path[1:]) if path[1:] else [item]


def _result(untrusted: Mapping[str, Any], known: set[str], prefix: str) -> dict[str, Any] | None:
    message = _at(untrusted, "message", "text")
    if not isinstance(message, str):
        return None
    rule, level = untrusted.get("ruleId"), untrusted.get("level")
    place = next(_maps(untrusted, "locations"), {})
    file = _at(place, "physicalLocation", "artifactLocation", "uri")
    fingerprint = _at(untrusted, "partialFingerprints", "aksGpuReview/v1")
    region = {
        name: number
        for name in ("startLine", "startColumn")
        if type(number := _at(place, "physicalLocation", "region", name)) is int
        and 1 <= number <= _LAST_LINE
    }
    is_known = isinstance(rule, str) and rule in known
    is_fingerprint = isinstance(fingerprint, str) and _FINGERPRINT.fullmatch(fingerprint)
    hashed = hashlib.sha256(f"{rule}|{file}|{message}".encode(errors="replace")).hexdigest()
    return {
        "ruleId": rule if is_known else _OTHER,
        "level": level if level in _LEVELS else "warning",
        "message": {"text": prefix + plain(message[:_LONGEST])},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": file if _is_file(file) else "Pulumi.yaml"},
                    "region": {"startLine": 1} | region,
                }
            }
        ],
        "partialFingerprints": {"aksGpuReview/v1": fingerprint if is_fingerprint else hashed},
    }


def _is_file(uri: Any) -> bool:
    """Whether an address is that of a stack file in the repository, also when it is decoded."""
    if not isinstance(uri, str) or len(uri) > _LONGEST or not _FILE.fullmatch(uri):
        return False
    path = PurePosixPath(unquote(uri))
    return str(path).isprintable() and not path.is_absolute() and ".." not in path.parts


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
