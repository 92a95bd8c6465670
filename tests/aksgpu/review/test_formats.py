"""The other formats: the same facts as JSON and for the terminal; and no cause is left untold."""

import io
import json
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from aksgpu.outcome import Cause, Finding
from aksgpu.report import ReportConsole
from aksgpu.review.command import FORMATS, print_report
from aksgpu.review.model import Review, StackReview, as_json
from tests.aksgpu.review.reviews import review, urn, whole_stack


def on_terminal(shown_review: Review) -> str:
    console = ReportConsole(file=io.StringIO(), width=200)
    print_report(shown_review, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


EVERY = [*FORMATS.values(), on_terminal]


@pytest.mark.parametrize("written", EVERY)
@pytest.mark.parametrize("cause", [cause for cause in Cause if cause is not Cause.FINE])
def test_every_cause_is_reported_in_every_format(
    cause: Cause, written: Callable[[Review], str]
) -> None:
    stack = StackReview(stack="dev")
    stack.problems.append(Finding(cause=cause, what="it went wrong", advice="do it again"))

    text = written(review(stack))

    assert "it went wrong" in text
    assert "do it again" in text
    assert str(cause.exit_code) in text


@pytest.mark.parametrize("written", EVERY)
def test_every_format_has_every_part(written: Callable[[Review], str]) -> None:
    text = written(review(whole_stack(pools=2)))
    for word in (
        "is wrong",
        "pool1",
        "a-rule",
        "It is broken.",
        "Mend it.",
        "b-rule",
        "Not known.",
        "The quota is 0.",
        "Ask for more.",
    ):
        assert word in text, word


def test_json_contains_the_whole_review() -> None:
    document: dict[str, Any] = json.loads(as_json(review(whole_stack())))

    assert (document["version"], document["cause"], document["exitCode"]) == (
        2,
        "stack-file-invalid",
        1,
    )
    (stack,) = document["stacks"]
    resource = {"urn": urn("pool0"), "name": "pool0", "type": urn("").split("::")[2]}
    assert (stack["cause"], stack["preflight"]["cause"]) == (
        "stack-file-invalid",
        "quota-too-small",
    )
    assert stack["lost"][0]["resource"] == resource
    assert stack["lost"][0]["allowance"] == "replace:dev/pool0"
    assert stack["findings"][0] == {
        "rule": "a-rule",
        "pack": "a-pack",
        "severity": "high",
        "mandatory": True,
        "resource": resource,
        "message": "It is broken.",
        "remedy": "Mend it.",
        "url": "https://example.com/a-rule",
    }
    assert stack["notRun"][0]["why"] == "Not known."
    assert stack["changes"] == [{"kind": "replace", "resource": resource, "properties": ["vmSize"]}]
    (pool,) = stack["pools"]
    assert pool["before"] == [{"vmSize": "Standard_NC0", "nodes": [0, 1], "gpus": [0, 4]}]
    assert pool["after"] == [{"vmSize": "Standard_NC0", "nodes": [1, 2], "gpus": None}]


def test_a_lost_pool_stands_before_what_azure_would_say() -> None:
    """A preflight's own cause stands earlier in the list of causes: it hid the lost pool."""
    stack = whole_stack()
    stack.problems, stack.findings = [], []
    lost, stack.lost = stack.lost, []
    without = stack.verdict
    stack.lost = lost
    assert (stack.verdict, without) == (Cause.GPU_POOL_LOST, Cause.QUOTA_TOO_SMALL)


def test_names_are_no_markup_in_the_terminal() -> None:
    stack = whole_stack(text=" [bold]x[/bold] [/nosuch]")
    assert "[bold]x[/bold] [/nosuch]" in on_terminal(review(stack))


def test_a_failed_preview_counts_no_gpus() -> None:
    stack = whole_stack()
    stack.pools = None
    assert "the number of GPUs after the change is not known" in on_terminal(review(stack))
    assert json.loads(as_json(review(stack)))["stacks"][0]["pools"] is None


def test_equal_findings_are_reported_once_with_all_resources() -> None:
    text = on_terminal(review(whole_stack(pools=3)))
    assert text.count("a-rule · pool0, pool1, pool2 (azure-native:containerservice:AgentPool)") == 1
    assert text.count("It is broken.") == 1


# What rules a terminal, in either of its forms; what turns the order of letters; what nobody sees.
RULING = "\x1b[31m \x9b2J \x1b]0;title\x07 \u202e \u2066 \u200b \u061c \u00ad \u2028 \x85 \x00"


@pytest.mark.parametrize("written", EVERY)
def test_no_name_sends_control_characters_to_a_report(written: Callable[[Review], str]) -> None:
    """Resource names with ESC stood in the terminal's report and in the Markdown."""
    shown = written(review(whole_stack(text=RULING, names=RULING)))
    ruling = {letter for letter in shown if unicodedata.category(letter) in RULING_CATEGORIES}
    assert ruling <= {"\n", "\t"}
    assert "31m" in shown


RULING_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
