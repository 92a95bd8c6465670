"""The comment of a review, against a stand-in for GitHub's interface on this machine."""

import html
import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from aksgpu.ci import publish
from aksgpu.markdown import MARKER, escape

REPOSITORY = "house/aks-gpu"
TOKEN = "ghs_secret"
SHA = "a" * 40
IDS = itertools.count(1)
SARIF = json.dumps({"version": "2.1.0", "runs": []})


class Server:
    """Pull requests and comments, and what was asked of them."""

    def __init__(self) -> None:
        self.pulls: list[dict[str, Any]] = [pull()]
        self.comments: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str]] = []
        self.fails_with = 0

    def answer(self, method: str, path: str, content: Any) -> Any:
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        resource = parts.path.removeprefix(f"/repos/{REPOSITORY}/")
        self.asked.append((method, resource))
        if resource == "pulls":
            assert query["state"] == "open"
            return [pull for pull in self.pulls if pull["head"]["label"] == query["head"]]
        if method == "PATCH":
            (comment,) = [c for c in self.comments if resource == f"issues/comments/{c['id']}"]
            comment["body"] = content["body"]
            return comment
        assert resource == "issues/7/comments"
        if method == "POST":
            self.comments.append(comment_by("github-actions[bot]", content["body"]))
            return self.comments[-1]
        first = (int(query["page"]) - 1) * int(query["per_page"])
        return self.comments[first : first + int(query["per_page"])]

    def changes(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path in self.asked if method != "GET"]


def pull(number: int = 7, owner: str = "house", base: str = "main") -> dict[str, Any]:
    head = {"label": f"{owner}:change", "sha": SHA, "repo": {"id": repository_id(owner)}}
    return {"number": number, "head": head, "base": {"ref": base}}


def repository_id(owner: str) -> int:
    return {"house": 1, "stranger": 2}[owner]


def comment_by(login: str, body: str) -> dict[str, Any]:
    return {"id": next(IDS), "user": {"login": login}, "body": body}


@pytest.fixture
def server() -> Iterator[tuple[Server, str]]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            assert self.headers["Authorization"] == f"Bearer {TOKEN}"
            size = int(self.headers.get("Content-Length") or 0)
            content = json.loads(self.rfile.read(size)) if size else None
            reply = {} if state.fails_with else state.answer(self.command, self.path, content)
            self.send_response(state.fails_with or 200)
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        do_GET = do_POST = do_PATCH = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, args=[0.01], daemon=True).start()
    yield state, f"http://127.0.0.1:{listening.server_port}"
    listening.shutdown()
    listening.server_close()


class Run:
    """A finished run with its artifacts, and the workflow that publishes it."""

    def __init__(self, folder: Path, api: str) -> None:
        self.folder = folder
        self.api = api
        self.owner = "house"
        self.conclusion = "failure"
        self.sha = SHA

    def artifact(self, name: str, report: str, sarif: str = "") -> None:
        place = self.folder / "artifacts" / name
        place.mkdir(parents=True)
        problem = {"what": report, "advice": "none"}
        document = {"cause": "fine", "stacks": [{"stack": "dev", "problems": [problem]}]}
        (place / "review.json").write_text(json.dumps(document))
        (place / "review.md").write_text(f"{MARKER}\n{report}")
        if sarif:
            (place / "review.sarif").write_text(sarif)

    def publish(self) -> tuple[int, dict[str, str]]:
        """Its exit code, and its outputs."""
        event = {
            "repository": {"default_branch": "main"},
            "workflow_run": {
                "head_sha": self.sha,
                "head_branch": "change",
                "head_repository": {
                    "id": repository_id(self.owner),
                    "full_name": f"{self.owner}/aks-gpu",
                    "owner": {"login": self.owner},
                }
                if self.owner
                else None,
                "conclusion": self.conclusion,
                "html_url": "https://github.example/run/1",
            },
        }
        (self.folder / "event.json").write_text(json.dumps(event))
        outputs = self.folder / "outputs"
        outputs.write_text("")
        code = publish.main(
            [str(self.folder / "artifacts")],
            {
                "GITHUB_API_URL": self.api,
                "GITHUB_REPOSITORY": REPOSITORY,
                "GITHUB_TOKEN": TOKEN,
                "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
                "GITHUB_OUTPUT": str(outputs),
            },
        )
        lines = outputs.read_text().splitlines()
        return code, dict(line.split("=", 1) for line in lines)


@pytest.fixture
def github(server: tuple[Server, str]) -> Server:
    return server[0]


@pytest.fixture
def run(server: tuple[Server, str], tmp_path: Path) -> Run:
    return Run(tmp_path, server[1])


def test_the_first_report_becomes_a_comment(github: Server, run: Run) -> None:
    run.artifact("review-offline", "One pool is replaced.", SARIF)

    assert run.publish() == (0, {"pull": "7", "sarif": "review-offline"})

    (comment,) = github.comments
    assert comment["body"].startswith(f"{MARKER}\n")
    assert "One pool is replaced." in comment["body"]
    assert "https://github.example/run/1" in comment["body"]
    assert comment["body"].count(MARKER) == 1


def test_the_next_report_replaces_the_comment(github: Server, run: Run) -> None:
    github.comments = [comment_by("someone", "hello")] * 100 + [
        comment_by("github-actions[bot]", "of another workflow"),
        comment_by("github-actions[bot]", f"{MARKER}\nold"),
    ]
    run.artifact("review-offline", "new")

    run.publish()

    assert len(github.comments) == 102
    assert "new" in github.comments[-1]["body"]
    assert github.changes() == [("PATCH", f"issues/comments/{github.comments[-1]['id']}")]


def test_another_users_comment_with_the_marker_is_not_changed(github: Server, run: Run) -> None:
    github.comments = [comment_by("stranger", f"{MARKER}\nall is well")]
    run.artifact("review-offline", "new")

    run.publish()

    assert github.changes() == [("POST", "issues/7/comments")]


def test_the_preview_against_azure_precedes_the_offline_preview(github: Server, run: Run) -> None:
    run.artifact("review-offline", "offline", SARIF)
    run.artifact("review-azure", "against Azure", SARIF)

    assert run.publish()[1]["sarif"] == "review-azure"
    assert "against Azure" in github.comments[0]["body"]


def test_a_fork_cannot_publish_a_preview_against_azure(github: Server, run: Run) -> None:
    github.pulls = [pull(owner="stranger")]
    run.owner = "stranger"
    run.artifact("review-azure", "all is well", SARIF)
    run.artifact("review-offline", "offline")

    assert run.publish()[1] == {"pull": "7", "sarif": ""}
    assert "all is well" not in github.comments[0]["body"]
    assert "comes from a fork" in github.comments[0]["body"]
    assert "offline<br>" in github.comments[0]["body"]


def test_markdown_of_a_fork_is_not_shown(github: Server, run: Run) -> None:
    """It was shown as it was, made harmless: whatever it looked like, as a review of ours."""
    github.pulls = [pull(owner="stranger")]
    run.owner = "stranger"
    run.artifact("review-offline", "a problem")
    folder = run.folder / "artifacts" / "review-offline"
    (folder / "review.md").write_text("# Approved by the owners\n")

    run.publish()
    assert "Approved" not in github.comments[0]["body"]

    (folder / "review.json").write_text("[" * 100_000)
    run.publish()
    assert "GPU review: not known" in github.comments[0]["body"]


def test_a_deleted_fork_leaves_no_pull_request(github: Server, run: Run) -> None:
    """It ended in a TypeError: GitHub says null for the repository of a fork that was deleted."""
    run.artifact("review-offline", "new", SARIF)
    run.owner = ""

    assert run.publish() == (0, {})
    assert github.changes() == []


@pytest.mark.parametrize(
    "elsewhere",
    [
        [],
        [pull() | {"head": pull()["head"] | {"sha": "b" * 40}}],
        [pull() | {"head": pull()["head"] | {"repo": {"id": 99}}}],
        [pull() | {"head": pull()["head"] | {"repo": None}}],
        [pull(base="other")],
    ],
    ids=["closed", "has moved on", "another repository", "repository gone", "another branch"],
)
def test_only_the_pull_request_at_that_commit_is_commented(
    github: Server, run: Run, elsewhere: list[dict[str, Any]]
) -> None:
    github.pulls = elsewhere
    run.artifact("review-offline", "new")

    assert run.publish() == (0, {})
    assert github.changes() == []


def test_a_comment_mentions_no_user_and_links_no_issue(github: Server, run: Run) -> None:
    run.artifact("review-offline", "cc @someone @a/team, fixes house/other#1 and #2; see # Title")

    run.publish()

    body = github.comments[0]["body"]
    assert "@s" not in body
    assert "@a" not in body
    assert "#1" not in body
    assert "#2" not in body
    assert "# Title" in body


@pytest.mark.parametrize(
    "call",
    [
        "@octocat",
        "@&#111;ctocat",
        "&#64;octocat",
        "&#064octocat",
        "&#x40;octocat",
        "&commat;octocat",
        "a/b#12",
        "a/b#&#49;",
        "&#35;12",
        "&#x23;12",
        "&num;12",
        "GH-12",
        "https://github.com/a/b/issues/12",
        "https://github.com/a/b/pull/12",
    ],
)
def test_a_comment_mentions_nobody_through_entities_and_urls(
    github: Server, run: Run, call: str
) -> None:
    run.artifact("review-offline", f"see {call} there")

    run.publish()

    body = github.comments[0]["body"]
    assert call not in body
    assert call in body.replace("\N{ZERO WIDTH SPACE}", "")


def test_escapes_of_the_review_are_kept(github: Server, run: Run) -> None:
    name = "Standard_NC24ads_A100_v4 [x] | #1 @you `y` &#640;"
    escaped = escape(name)
    run.artifact("review-offline", escaped)

    run.publish()

    body = github.comments[0]["body"]
    assert escaped.replace("\N{ZERO WIDTH SPACE}", "") in body.replace("\N{ZERO WIDTH SPACE}", "")
    assert html.unescape(body).replace("\N{ZERO WIDTH SPACE}", "").count(name) == 1


def test_comments_of_deleted_users_are_handled(github: Server, run: Run) -> None:
    github.comments.append({"id": 1, "user": None, "body": None})
    run.artifact("review-offline", "new")

    assert run.publish()[0] == 0
    assert "new" in github.comments[-1]["body"]


def test_a_report_of_any_length_fits(github: Server, run: Run) -> None:
    run.artifact("review-offline", "@x" * 5_000_000)

    run.publish()

    assert 60_000 < len(github.comments[0]["body"]) < 65_536
    assert "is cut here" in github.comments[0]["body"][-100:]


def test_a_report_with_invalid_bytes_or_symbolic_links_does_no_harm(
    github: Server, run: Run, tmp_path: Path
) -> None:
    run.artifact("review-offline", "", "not JSON")
    report = tmp_path / "artifacts" / "review-offline" / "review.md"
    report.write_bytes(b"\xff\xfe well")
    assert run.publish() == (0, {"pull": "7", "sarif": ""})
    assert "well" in github.comments[0]["body"]

    secret = tmp_path / "secret"
    secret.write_text(json.dumps({"version": "2.1.0", "who": "of the runner"}))
    for name in ("review.md", "review.sarif"):
        link = report.with_name(name)
        link.unlink()
        link.symlink_to(secret)
    run.artifact("review-azure", "in its place")
    (report.parent.with_name("review-azure") / "review.sarif").symlink_to(secret)
    assert run.publish() == (0, {"pull": "7", "sarif": ""})
    assert "of the runner" not in github.comments[0]["body"]


@pytest.mark.parametrize(
    "sarif", ['{"version": "1.0"}', "[]", "[" * 100_000, SARIF + " " * 9_000_000]
)
def test_an_invalid_sarif_file_is_not_uploaded(github: Server, run: Run, sarif: str) -> None:
    run.artifact("review-offline", "new", sarif)

    assert run.publish() == (0, {"pull": "7", "sarif": ""})


def test_a_run_without_a_report_updates_the_comment_and_creates_none(
    github: Server, run: Run
) -> None:
    run.conclusion = "success"
    assert run.publish()[0] == 0
    assert github.changes() == []

    github.comments = [comment_by("github-actions[bot]", f"{MARKER}\none pool is replaced")]
    run.publish()
    assert "one pool is replaced" not in github.comments[0]["body"]
    assert "no stack is affected" in github.comments[0]["body"]


@pytest.mark.parametrize("code", [403, 500])
def test_a_refusal_is_reported_without_the_token(
    github: Server, run: Run, capsys: pytest.CaptureFixture[str], code: int
) -> None:
    github.fails_with = code
    run.artifact("review-offline", "new")

    assert run.publish()[0] == 3

    written = capsys.readouterr()
    assert f"returned {code}" in written.err
    assert TOKEN not in written.err + written.out
