"""The findings of a run, made anew before code scanning gets them."""

import html
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aksgpu.ci import sarif
from aksgpu.review import sarif as of_review
from tests.aksgpu.ci.test_foreign import AROUND, CALLS, TARGETS, writings
from tests.aksgpu.review.reviews import review, whole_stack
from tests.aksgpu.review.test_sarif import SCHEMA

STRANGE: dict[str, Any] = {
    "version": "2.1.0",
    "runs": [
        {
            "automationDetails": {"id": "codeql/"},
            "tool": {"driver": {"name": "CodeQL", "rules": [{"id": "py/sql-injection"}]}},
            "results": [
                {
                    "ruleId": "py/sql-injection",
                    "level": "fatal",
                    "message": {"text": "[mend it](https://evil.example/#1) @octocat \x1b[31m"},
                    "locations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"uri": "https://evil.example/x.yaml"},
                                "region": {"startLine": -1, "startColumn": True},
                            }
                        }
                    ],
                    "partialFingerprints": {"aksGpuReview/v1": "x"},
                    "properties": {"tags": ["security"]},
                }
            ]
            * 5_000,
        }
    ],
}


def valid(report: Any) -> list[dict[str, Any]]:
    jsonschema.validate(report, SCHEMA)
    (run,) = report["runs"]
    assert run["tool"]["driver"]["name"] == "aks-gpu review"
    assert "automationDetails" not in run
    assert len(run["results"]) <= 500
    return run["results"]  # type: ignore[no-any-return]


def test_findings_of_a_fork_keep_only_their_messages() -> None:
    """They were uploaded as they were: they could call themselves CodeQL, with any links."""
    results = valid(sarif.rebuilt(STRANGE, is_fork=True))
    result = results[0]
    assert (result["ruleId"], result["level"]) == ("another-rule", "warning")
    text = result["message"]["text"]
    assert text.startswith("Reported by the code of a fork")
    assert all(each not in text for each in ("://", "@o", "#1", " [m", "\x1b"))
    (place,) = result["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "Pulumi.yaml"},
        "region": {"startLine": 1},
    }
    assert set(result) == {"ruleId", "level", "message", "locations", "partialFingerprints"}


def test_findings_of_the_repository_itself_are_unchanged() -> None:
    whole = json.loads(of_review.as_sarif(review(whole_stack(pools=2))))
    before = whole["runs"][0]["results"]
    after = valid(sarif.rebuilt(whole, is_fork=False))
    for old, new in zip(before, after, strict=True):
        assert new["locations"] == old["locations"]
        assert new["partialFingerprints"] == old["partialFingerprints"]
        assert new["level"] == old["level"]
    own = [each for each in before if each["ruleId"] in of_review._REVIEW_RULES]
    kept = {each["ruleId"] for each in after}
    assert own
    assert {each["ruleId"] for each in own} <= kept


def test_the_rules_of_the_review_are_known() -> None:
    assert set(sarif._REVIEW_RULES) == set(of_review._REVIEW_RULES)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["runs", "results", "message", "text", "locations", "ruleId", "level"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(anything, anything, st.booleans())
@settings(max_examples=12, deadline=None)
def test_any_input_becomes_valid_sarif(some: Any, more: Any, is_fork: bool) -> None:
    valid(sarif.rebuilt({"version": "2.1.0", "runs": some}, is_fork=is_fork))
    result = {"message": {"text": "x"}, "locations": some, "level": more, "ruleId": more}
    strange = {"runs": [{"results": [result]}]}
    assert len(valid(sarif.rebuilt(strange, is_fork=is_fork))) == 1


@given(written=st.sampled_from(TARGETS).flatmap(writings), around=st.sampled_from(AROUND))
@settings(max_examples=20, deadline=None)
def test_messages_of_a_fork_contain_no_links_and_mentions(written: str, around: str) -> None:
    stranger = {"message": {"text": around.replace("{}", written)}}
    (result,) = valid(sarif.rebuilt({"runs": [{"results": [stranger]}]}, is_fork=True))
    text = html.unescape(result["message"]["text"])
    # SARIF's links have brackets that no backslash is before.
    assert not re.search(r"(?<!\\)(?:\\\\)*\[", text)
    assert not CALLS.search(text)
    assert "://" not in text


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("Pulumi.dev.yaml", "Pulumi.dev.yaml"),
        ("infra/a%20b/Pulumi.dev.yaml", "infra/a%20b/Pulumi.dev.yaml"),
        ("../Pulumi.dev.yaml", "Pulumi.yaml"),
        ("/etc/x.yaml", "Pulumi.yaml"),
        ("file:///x.yaml", "Pulumi.yaml"),
        ("a/../x.yaml", "Pulumi.yaml"),
        ("a%28b%29/Pulumi.dev.yaml", "a%28b%29/Pulumi.dev.yaml"),
        ("%2e%2e/x.yaml", "Pulumi.yaml"),
        ("a/..%2f..%2fx.yaml", "Pulumi.yaml"),
        ("%2Fetc/x.yaml", "Pulumi.yaml"),
        ("a%00.yaml", "Pulumi.yaml"),
        (f"{'a' * 100_000}.yaml", "Pulumi.yaml"),
        (3, "Pulumi.yaml"),
    ],
)
def test_locations_are_files_of_the_repository(uri: Any, expected: str) -> None:
    place = {"physicalLocation": {"artifactLocation": {"uri": uri}}}
    report = {"runs": [{"results": [{"message": {"text": "x"}, "locations": [place]}]}]}
    (result,) = valid(sarif.rebuilt(report, is_fork=True))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == expected


@pytest.mark.parametrize("source", ["house/aks-gpu", "stranger/aks-gpu", ""])
def test_the_sarif_file_is_rewritten(tmp_path: Path, source: str) -> None:
    repository = {"full_name": source} if source else None
    event = {"workflow_run": {"head_repository": repository}}
    (tmp_path / "event.json").write_text(json.dumps(event))
    file = tmp_path / "review.sarif"
    environment = {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": "house/aks-gpu",
    }
    file.write_text("no JSON")
    assert sarif.main([str(file)], environment) == 1
    file.write_text(json.dumps(STRANGE))
    assert sarif.main([str(file)], environment) == 0
    text = valid(json.loads(file.read_text()))[0]["message"]["text"]
    assert text.startswith("Reported by the code of a fork") == (source != "house/aks-gpu")
