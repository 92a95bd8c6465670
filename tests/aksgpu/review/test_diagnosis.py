"""Why a preview failed, told from what the engine says."""

import pytest

from aksgpu.outcome import Cause
from aksgpu.review.diagnosis import problems_of


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("error: no stack named 'prod' found", Cause.STACK_MISSING),
        ("Missing required configuration variable 'batch:pools'", Cause.STACK_FILE_INVALID),
        ("could not unmarshal 'Pulumi.dev.yaml': invalid YAML file", Cause.STACK_FILE_INVALID),
        ("dial tcp 127.0.0.1:1: connect: connection refused", Cause.AZURE_UNREACHABLE),
        ("Cannot connect to host login.example:443 ssl:default", Cause.AZURE_UNREACHABLE),
        ("ClientConnectorError(ConnectionKey(host='x', port=1))", Cause.AZURE_UNREACHABLE),
        ("dial tcp: lookup api.pulumi.com: no such host", Cause.AZURE_UNREACHABLE),
        ("Please run 'az login' to set up an account", Cause.AZURE_UNREACHABLE),
        ("AADSTS7000215: Invalid client secret provided", Cause.AZURE_UNREACHABLE),
        (
            "PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions",
            Cause.AZURE_UNREACHABLE,
        ),
        ("Program failed with an unhandled exception", Cause.PREVIEW_FAILED),
    ],
)
def test_errors_of_the_engine_are_mapped_to_causes(error: str, cause: Cause) -> None:
    (problem,) = problems_of([error, error])
    assert problem.cause is cause
    assert problem.advice


def test_a_language_that_is_missing_has_a_way_out() -> None:
    """A program in YAML was told to preview it, to see the error with its context."""
    error = "failed to load language plugin yaml: no language plugin 'pulumi-language-yaml' found"
    (problem,) = problems_of([error])
    assert "Pulumi's own release on the PATH" in problem.advice


def test_a_follow_up_error_is_reported_only_without_its_cause() -> None:
    follows = "an unhandled error occurred: the program failed: exit status 1"

    assert [problem.what for problem in problems_of(["too hot", follows])] == ["too hot"]
    assert [problem.what for problem in problems_of([follows])] == [follows]


def test_the_end_of_a_long_traceback_is_reported() -> None:
    lines = [f"line {number}" for number in range(100)]
    (problem,) = problems_of(["\n".join([*lines, "ValueError: too hot"])])
    assert problem.what.startswith("...\n")
    assert problem.what.endswith("ValueError: too hot")
    assert len(problem.what.splitlines()) < 20
