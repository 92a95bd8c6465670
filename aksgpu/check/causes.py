"""What a check can come to, and the exit code of each: the one place where they are numbered."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Cause(Enum):
    """Of several causes, the one that stands first here gives the exit code.

    What somebody asked for comes first, then what explains the rest: a node that is not ready
    explains that its plugin is missing, and never the other way round.
    """

    INTERRUPTED = ("interrupted", 130, "the check was interrupted")
    STACK_UNREADABLE = ("stack-unreadable", 23, "there is no kubeconfig to be had from the stack")
    CLUSTER_UNREACHABLE = ("cluster-unreachable", 10, "the cluster's API server does not answer")
    CREDENTIALS_REFUSED = ("credentials-refused", 24, "the API server refuses the credentials")
    CUDA_MISMATCH = ("cuda-mismatch", 16, "the driver is too old for the job's CUDA, or left out")
    JOB_FAILED = ("job-failed", 15, "the sample job failed, or found no GPU")
    NO_GPU_POOL = ("no-gpu-pool", 22, "there is no node with an NVIDIA GPU, and no pool for any")
    NODE_NOT_READY = ("node-not-ready", 11, "a node with GPUs is not ready")
    PLUGIN_TWICE = ("plugin-twice", 13, "two device plugins are at work on a node")
    PLUGIN_NOT_RUNNING = ("plugin-not-running", 18, "a node's device plugin does not run")
    PLUGIN_MISSING = ("plugin-missing", 12, "no device plugin gets to a node")
    DRIVER_MISSING = ("driver-missing", 19, "a node's device plugin finds no driver")
    NO_GPU_ALLOCATABLE = ("no-gpu-allocatable", 14, "a node with GPUs offers none")
    GPUS_ALL_USED = ("gpus-all-used", 21, "all GPUs are in use")
    POD_PENDING = ("pod-pending", 20, "a pod that asks for a GPU has no place")
    TIMEOUT = ("timeout", 17, "the time given with --timeout was too short")
    # What is worth a word, and nothing is wrong with it.
    GPUS_UNHEALTHY = ("gpus-partly-unhealthy", 0, "a node offers fewer GPUs than it has")
    NODE_CORDONED = ("node-cordoned", 0, "a node takes no new pods")
    POOL_AT_ZERO = ("pool-at-zero", 0, "a pool has no nodes now")
    GPUS_SCHEDULABLE = ("gpus-schedulable", 0, "GPUs are there to be scheduled")

    def __init__(self, slug: str, exit_code: int, meaning: str) -> None:
        self.slug = slug
        self.exit_code = exit_code
        self.meaning = meaning


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that a check found out, and one line of what to do about it."""

    cause: Cause
    what: str
    advice: str
    pool: str | None = None
    node: str | None = None

    @property
    def is_problem(self) -> bool:
        return self.cause.exit_code != 0


class CheckError(Exception):
    """Why a check could not go on."""

    def __init__(self, cause: Cause, what: str, advice: str) -> None:
        super().__init__(what)
        self.finding = Finding(cause=cause, what=what, advice=advice)


def verdict(findings: Iterable[Finding]) -> Cause:
    """What the check comes to, all in all."""
    problems = {finding.cause for finding in findings if finding.is_problem}
    return next((cause for cause in Cause if cause in problems), Cause.GPUS_SCHEDULABLE)
