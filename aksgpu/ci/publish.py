"""Shows the report of a finished run in its pull request, as one comment that it updates.

    python -m aksgpu.ci.publish FOLDER

It runs after the workflow of the pull request, only with code of the default branch. FOLDER has the
artifacts of that run, which the code of the pull request wrote. From a branch of this repository,
the comment shows the text; from a fork, it is built from the fields of the report. The pull request
is found from the event and GitHub's API.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aksgpu.ci import foreign, sarif
from aksgpu.ci.comment import from_document
from aksgpu.ci.github import GitHub, GitHubError
from aksgpu.markdown import MARKER
from aksgpu.outcome import NOT_KNOWN

_AUTHOR = "github-actions[bot]"

# The first existing report is shown. A fork is never reviewed against Azure.
_AZURE, _OFFLINE = "review-azure", "review-offline"

# GitHub accepts 65 536 characters, and this adds some to the report's.
_LONGEST = 65_000
_CUT = "\n\n*The report is cut here; all of it is in the run's artifacts.*\n"


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Publishes the report of the run in the event."""
    folder = Path(arguments[0])
    event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    github = GitHub(
        environment["GITHUB_API_URL"],
        environment["GITHUB_REPOSITORY"],
        environment["GITHUB_TOKEN"],
    )
    run = event["workflow_run"]
    # A deleted repository was a fork.
    is_fork = (run["head_repository"] or {}).get("full_name") != github.repository
    report = _report_in(folder, is_fork=is_fork)
    try:
        pull = _pull_of(run, github, event["repository"]["default_branch"])
        if pull is None:
            sys.stderr.write("No open pull request has the commit of that run.\n")
            return 0
        _publish(github, pull, run, report, is_fork=is_fork)
    except GitHubError as error:
        sys.stderr.write(f"{error}\n")
        return NOT_KNOWN
    # The findings to upload, for the next job.
    findings = report.parent.name if report and sarif.read(report.with_name("review.sarif")) else ""
    with Path(environment["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as outputs:
        outputs.write(f"pull={pull}\nsarif={findings}\n")
    return 0


def _pull_of(run: dict[str, Any], github: GitHub, branch: str) -> int | None:
    """The pull request whose latest commit the run is about."""
    source = run["head_repository"]
    if source is None:
        return None
    pulls = github.open_pulls(f"{source['owner']['login']}:{run['head_branch']}")
    for pull in pulls:
        head = pull["head"]
        same = head["sha"] == run["head_sha"] and (head["repo"] or {}).get("id") == source["id"]
        if same and pull["base"]["ref"] == branch:
            return int(pull["number"])
    return None


def _report_in(folder: Path, *, is_fork: bool) -> Path | None:
    for name in (_OFFLINE,) if is_fork else (_AZURE, _OFFLINE):
        file = folder / name / ("review.json" if is_fork else "review.md")
        if file.is_file() and not file.is_symlink():
            return file
    return None


def _publish(
    github: GitHub, pull: int, run: dict[str, Any], report: Path | None, *, is_fork: bool
) -> None:
    # Anybody can write the marker: only a comment of our account is updated.
    ours = [
        comment["id"]
        for comment in github.comments(pull)
        if (comment["user"] or {}).get("login") == _AUTHOR
        and (comment["body"] or "").startswith(MARKER)
    ]
    if ours:
        github.change_comment(ours[0], _body(run, report, is_fork=is_fork))
    elif report:
        github.add_comment(pull, _body(run, report, is_fork=is_fork))


def _body(run: dict[str, Any], report: Path | None, *, is_fork: bool) -> str:
    this_run, text = f"[this run]({run['html_url']})", ""
    if report is None:
        origin = (
            f"There is no report for the latest commit: no stack is affected, or {this_run} failed."
        )
    elif is_fork:
        origin = (
            f"Created by {this_run} with the code of this pull request, which comes from a fork: "
            "do not rely on it."
        )
    else:
        origin = f"Created by {this_run}."
    if report and is_fork:
        text = foreign.of_a_stranger(from_document(foreign.read_json(report)))
    elif report:
        with report.open(encoding="utf-8", errors="replace") as content:
            text = foreign.of_a_colleague(content.read(_LONGEST).replace(MARKER, ""))
    text = text.strip()
    body = f"{MARKER}\n{origin}\n\n{text}\n"
    return body if len(body) <= _LONGEST else body[: _LONGEST - len(_CUT)] + _CUT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
