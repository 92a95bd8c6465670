"""What a workflow marks in the change: the worst findings, on their lines."""

import dataclasses

import pytest

from aksgpu.outcome import Cause, Finding
from aksgpu.review.annotations import as_annotations
from aksgpu.review.model import StackReview
from tests.aksgpu.review.reviews import review, whole_stack


def test_each_kind_of_finding_is_on_its_line() -> None:
    lines = as_annotations(review(whole_stack())).splitlines()
    assert [line.split("::")[1] for line in lines] == [
        "error file=Pulumi.dev.yaml,line=3,title=stack-file-invalid",
        "error file=Pulumi.dev.yaml,line=7,title=gpu-pool-lost",
        "error file=Pulumi.dev.yaml,line=7,title=a-rule",
        "error file=Pulumi.dev.yaml,line=7,title=b-rule",
        "error file=Pulumi.dev.yaml,line=3,title=preflight",
    ]
    assert lines[2].endswith("): It is broken. Mend it.")


def test_errors_come_before_warnings_and_what_is_allowed_is_not_marked() -> None:
    """GitHub shows ten of one step."""
    stack = whole_stack(pools=12)
    stack.problems, stack.not_run, stack.preflight = [], [], None
    stack.lost = [dataclasses.replace(lost, allowed=True) for lost in stack.lost]
    advice = [dataclasses.replace(each, mandatory=False) for each in stack.findings[:11]]
    stack.findings = [*advice, stack.findings[-1]]
    levels = [line.split()[0] for line in as_annotations(review(stack)).splitlines()]
    assert levels == ["::error", *["::warning"] * 9]


@pytest.mark.parametrize("text", ["a\n::stop-commands::x", "a\r::error::x", "50 %0A::error::x"])
def test_no_text_begins_another_command(text: str) -> None:
    problem = Finding(Cause.PREVIEW_FAILED, text, "report it")
    stack = StackReview(stack="dev", file="a, b: c/Pulumi.dev.yaml", problems=[problem])
    (line,) = as_annotations(review(stack)).splitlines()
    assert line.startswith("::error file=a%2C b%3A c/Pulumi.dev.yaml,title=preview-failed::")
    assert "%0A::error" not in line.replace("%250A", "")
