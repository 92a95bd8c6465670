"""Shows the report of a finished run in its pull request, as one comment that is kept up to date.

    python -m aksgpu.ci.publish FOLDER

runs after the workflow of the pull request, with code of the default branch alone. FOLDER holds the
artifacts of that run, which the code of the pull request made. Of a colleague's, that is text to be
shown, of a bounded size; of a stranger's, the comment is made anew from the fields of the report.
Which pull request it is, the event tells, and GitHub.
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

# The report to show is the first that is there. A fork has no business in Azure.
_AZURE, _OFFLINE = "review-azure", "review-offline"

# GitHub takes 65 536 characters, and ours come on top of the report's.
_LONGEST = 65_000
_CUT = "\n\n*The rest is left out; the whole report is in the run's artifacts.*\n"


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Publishes what the event tells of."""
    folder = Path(arguments[0])
    event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    github = GitHub(
        environment["GITHUB_API_URL"],
        environment["GITHUB_REPOSITORY"],
        environment["GITHUB_TOKEN"],
    )
    run = event["workflow_run"]
    # A repository that is gone was a fork: this one is there.
    is_fork = (run["head_repository"] or {}).get("full_name") != github.repository
    report = _report_in(folder, is_fork=is_fork)
    try:
        pull = _pull_of(run, github, event["repository"]["default_branch"])
        if pull is None:
            sys.stderr.write("No open pull request is at the commit of that run any more.\n")
            return 0
        _publish(github, pull, run, report, is_fork=is_fork)
    except GitHubError as error:
        sys.stderr.write(f"{error}\n")
        return NOT_KNOWN
    # What there is to be uploaded, for the next job.
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
    # Anybody can write our marker; only our own comment is changed.
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
        word = f"There is none for the latest commit: no stack is touched, or {this_run} failed."
    elif is_fork:
        word = (
            f"Made by {this_run}, with the code of this pull request, which comes from a fork: "
            "it is the author's word."
        )
    else:
        word = f"Made by {this_run}."
    if report and is_fork:
        text = foreign.of_a_stranger(from_document(foreign.read_json(report)))
    elif report:
        with report.open(encoding="utf-8", errors="replace") as content:
            text = foreign.of_a_colleague(content.read(_LONGEST).replace(MARKER, ""))
    text = text.strip()
    body = f"{MARKER}\n{word}\n\n{text}\n"
    return body if len(body) <= _LONGEST else body[: _LONGEST - len(_CUT)] + _CUT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
