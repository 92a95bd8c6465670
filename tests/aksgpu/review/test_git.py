"""What was there at a commit: files where the project had them, and what links lead to."""

import json
from pathlib import Path

import pytest

from aksgpu.review import reviewing
from aksgpu.review.git import content_at
from aksgpu.review.model import StackReview
from aksgpu.review.reviewing import ReviewOptions
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


def test_a_moved_stack_file_is_compared_with_its_base(repository: Path) -> None:
    """By `stackConfigDir` it was a new stack, judged by nothing."""
    commit(repository)
    (repository / "stacks").mkdir()
    (repository / "Pulumi.dev.yaml").rename(repository / "stacks" / "Pulumi.dev.yaml")
    (repository / "Pulumi.dev.policies.json").unlink()
    (repository / "Pulumi.yaml").write_text("name: a\nruntime: python\nstackConfigDir: stacks\n")

    files = reviewing._files(options(repository), "dev")
    review = StackReview(stack="dev", file="")
    judged = reviewing._judging(review, options(repository), files)

    assert (files.base, files.is_deleted) == ("config: {}\n", False)
    assert json.loads(judged.by.configuration or "{}") == MANDATORY
    assert [brought.what for brought in judged.brought] == ["host-encryption"]


def test_a_stack_file_in_utf_16_is_compared_with_its_base(repository: Path) -> None:
    (repository / "Pulumi.dev.yaml").write_text("config: {}\n", encoding="utf-16")
    commit(repository)
    assert reviewing._files(options(repository), "dev").base == "config: {}\n"


def test_symbolic_links_are_followed(repository: Path) -> None:
    (repository / "Pulumi.dev.policies.json").rename(repository / "common.json")
    (repository / "Pulumi.dev.policies.json").symlink_to("common.json")
    (repository / "Pulumi.a.policies.json").symlink_to("./Pulumi.dev.policies.json")
    (repository / "Pulumi.b.policies.json").symlink_to("Pulumi.b.policies.json")
    (repository / "Pulumi.c.policies.json").symlink_to("/etc/hostname")
    commit(repository)

    contents = [content_at(repository, "main", f"Pulumi.{each}.policies.json") for each in "abc"]

    assert contents == [json.dumps(MANDATORY).encode(), None, None]


@pytest.mark.parametrize("content", [b"\xff", "{}".encode("utf-16")])
def test_an_unreadable_policy_configuration_is_reported_as_invalid(
    repository: Path, content: bytes
) -> None:
    """The review said that it had failed itself."""
    commit(repository)
    (repository / "Pulumi.dev.policies.json").write_bytes(content)
    review = StackReview(stack="dev", file="")
    files = reviewing._files(options(repository), "dev")
    reviewing._judging(review, options(repository), files)
    (problem,) = review.problems
    assert problem.cause.word == "policies-invalid"
