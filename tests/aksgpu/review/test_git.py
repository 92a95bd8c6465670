"""What was there at a commit, where the project had it; and which files are read at all."""

import json
import os
from pathlib import Path

import pytest

from aksgpu.review import reviewing
from aksgpu.review.judging import Criteria
from aksgpu.review.model import StackReview
from aksgpu.review.reviewing import ReviewOptions
from stack_settings.stack_file import StackFileError
from tests.aksgpu.review.pull_request import git

MANDATORY = {"host-encryption": "mandatory"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: a\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    (tmp_path / "Pulumi.dev.policies.json").write_text(json.dumps(MANDATORY))
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    return tmp_path


def commit(folder: Path) -> None:
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "base")


def options(folder: Path) -> ReviewOptions:
    return ReviewOptions(stacks=("dev",), project=folder, offline=True, base="main", allowed=())


def judged(folder: Path) -> tuple[StackReview, Criteria]:
    """The review of the stack with the criteria that apply, before any preview."""
    review, asked = StackReview(stack="dev"), options(folder)
    file = reviewing._stack_file(asked, "dev")
    base = asked.at_base("Pulumi.dev.yaml")
    return review, reviewing._criteria(review, asked, file, base)


def test_a_moved_stack_file_is_compared_with_its_base(repository: Path) -> None:
    """By `stackConfigDir` it was a new stack, judged by nothing."""
    commit(repository)
    (repository / "stacks").mkdir()
    (repository / "Pulumi.dev.yaml").rename(repository / "stacks" / "Pulumi.dev.yaml")
    (repository / "Pulumi.dev.policies.json").unlink()
    (repository / "Pulumi.yaml").write_text("name: a\nruntime: python\nstackConfigDir: stacks\n")

    review, criteria = judged(repository)

    assert options(repository).at_base("Pulumi.dev.yaml") == "config: {}\n"
    assert json.loads(criteria.configuration or "{}") == MANDATORY
    assert review.policy_changes
    assert [change.what for change in review.policy_changes.changes] == ["host-encryption"]


def test_a_stack_file_with_a_byte_order_mark_is_compared_with_its_base(repository: Path) -> None:
    (repository / "Pulumi.dev.yaml").write_text("config: {}\n", encoding="utf-8-sig")
    commit(repository)
    assert options(repository).at_base("Pulumi.dev.yaml") == "config: {}\n"


@pytest.mark.parametrize("link", ["/dev/zero", "../secrets.json"])
def test_only_files_of_the_folder_are_read(repository: Path, link: str) -> None:
    """One was read without an end, the other quoted in the report."""
    (repository.parent / "secrets.json").write_text('{"all": "secret"}')
    commit(repository)
    for name in ("Pulumi.dev.policies.json", "Pulumi.other.yaml"):
        (repository / name).unlink(missing_ok=True)
        (repository / name).symlink_to(link)
    review, criteria = judged(repository)
    (problem,) = review.problems
    assert "symbolic link" in problem.what
    assert "secret" not in f"{problem} {criteria} {review}"
    with pytest.raises(StackFileError, match="symbolic link"):
        reviewing._stack_file(options(repository), "other")


def test_files_without_bounds_are_not_read(repository: Path) -> None:
    commit(repository)
    (repository / "Pulumi.dev.yaml").write_bytes(b"#" * 2**20 + b"\n")
    os.mkfifo(repository / "Pulumi.pipe.yaml")
    for stack in ("dev", "pipe"):
        with pytest.raises(StackFileError, match="1048576 bytes"):
            reviewing._stack_file(options(repository), stack)


@pytest.mark.parametrize("content", [b"\xff", "{}".encode("utf-16")])
def test_an_unreadable_policy_configuration_is_reported_as_invalid(
    repository: Path, content: bytes
) -> None:
    """The review said that it had failed itself."""
    commit(repository)
    (repository / "Pulumi.dev.policies.json").write_bytes(content)
    review, _ = judged(repository)
    (problem,) = review.problems
    assert problem.cause.word == "stack-file-invalid"
