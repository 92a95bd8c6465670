"""What a review can come to, and the exit code of each: the one place where they are numbered."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Cause(Enum):
    """Of several causes, the one that stands first here gives the exit code.

    What kept the review from knowing comes first: where the preview did not come to its end, what
    was found until then is not all.
    """

    INTERRUPTED = ("interrupted", 130, "the review was interrupted")
    ENGINE_UNAVAILABLE = ("engine-unavailable", 38, "no Pulumi engine or Kubernetes is to be had")
    STACK_FILE_INVALID = ("stack-file-invalid", 33, "a stack file cannot be used")
    STACK_MISSING = ("stack-missing", 36, "a stack does not exist")
    CLOUD_UNREACHABLE = ("cloud-unreachable", 35, "Azure, or where the state is, is out of reach")
    BASE_FAILED = ("base-failed", 37, "the base could not be brought up to compare with")
    PREVIEW_FAILED = ("preview-failed", 34, "a preview did not come to its end")
    RULE_BROKEN = ("rule-broken", 30, "a mandatory rule is broken")
    GPU_POOL_LOST = ("gpu-pool-lost", 31, "a GPU pool goes, and was not allowed")
    PREFLIGHT = ("preflight", 39, "the preflight found what Azure would not take")
    RULE_NOT_RUN = ("rule-not-run", 32, "a rule could not run, so nobody knows whether it holds")
    FINE = ("fine", 0, "nothing stands against it")

    def __init__(self, slug: str, exit_code: int, meaning: str) -> None:
        self.slug = slug
        self.exit_code = exit_code
        self.meaning = meaning


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why a stack could not be reviewed to the end."""

    cause: Cause
    what: str
    advice: str
    # The key of the stack file that is meant, as in gpuPools[1].vmSize.
    key: str = ""


class ReviewError(Exception):
    """What ends the review of one stack."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(problem.what for problem in problems))
        self.problems = problems


def verdict(causes: Iterable[Cause]) -> Cause:
    """What it comes to, all in all."""
    there = set(causes)
    return next((cause for cause in Cause if cause in there), Cause.FINE)
