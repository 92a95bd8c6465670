"""The exit codes: one a cause, in a fixed order, and told wherever people look for them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from aksgpu.main import app
from aksgpu.review.causes import Cause, verdict

PAGE = Path(__file__).resolve().parents[3] / "docs" / "review.md"


def test_no_two_causes_share_an_exit_code() -> None:
    assert len({cause.exit_code for cause in Cause}) == len(Cause)
    assert not {1, 2} & {cause.exit_code for cause in Cause}


@pytest.mark.parametrize(
    ("causes", "comes_to"),
    [
        ([], Cause.FINE),
        ([Cause.FINE, Cause.RULE_NOT_RUN], Cause.RULE_NOT_RUN),
        ([Cause.RULE_NOT_RUN, Cause.GPU_POOL_LOST, Cause.RULE_BROKEN], Cause.RULE_BROKEN),
        ([Cause.RULE_BROKEN, Cause.PREVIEW_FAILED], Cause.PREVIEW_FAILED),
        ([Cause.PREVIEW_FAILED, Cause.CLOUD_UNREACHABLE], Cause.CLOUD_UNREACHABLE),
        ([Cause.STACK_FILE_INVALID, Cause.INTERRUPTED], Cause.INTERRUPTED),
    ],
)
def test_the_first_of_several_causes_counts(causes: list[Cause], comes_to: Cause) -> None:
    assert verdict(causes) is comes_to


def test_help_and_page_tell_every_exit_code_in_the_order_that_counts() -> None:
    told = CliRunner().invoke(app, ["review", "--help"], env={"COLUMNS": "200"}).output
    page = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    rows = [[cell.strip(" `") for cell in line.split("|")] for line in page]
    listed = [(row[1], int(row[2])) for row in rows if row[2].isdigit()]

    assert listed == [(cause.slug, cause.exit_code) for cause in Cause]
    assert all(f" {cause.exit_code} " in told for cause in Cause)
