"""What a command comes to: a cause, in a word, and one of four exit codes.

The standard library alone: `aksgpu.ci` runs without an installation.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

_MOST_NAMES = 4
OK, AGAINST, WRONG_USAGE, NOT_KNOWN, STOPPED = 0, 1, 2, 3, 130

EXIT_CODES = (
    f"Exit codes: {OK} nothing stands against it; {AGAINST} something does; {WRONG_USAGE} wrong "
    f"options, or no such stack; {NOT_KNOWN} could not find out, or failed itself; {STOPPED} "
    "interrupted. What is printed names the cause: docs/reference/commands.md."
)


class Cause(Enum):
    """Of several causes, the one that stands first here counts.

    What kept a command from finding out comes first. Then comes what explains the rest: a node that
    is not ready explains that its plugin is missing, and never the other way round.
    """

    INTERRUPTED = (STOPPED, "it was interrupted before it was done")
    CRASHED = (NOT_KNOWN, "aksgpu itself failed")
    ENGINE_UNAVAILABLE = (NOT_KNOWN, "no Pulumi engine or Kubernetes is to be had")
    STACK_FILE_INVALID = (AGAINST, "a stack file cannot be used")
    POLICIES_INVALID = (AGAINST, "a configuration of the policy pack has mistakes")
    ENVIRONMENT_UNREADABLE = (NOT_KNOWN, "a stack file takes values from where they cannot be read")
    STACK_MISSING = (WRONG_USAGE, "a stack does not exist")
    REHEARSAL_UNAVAILABLE = (NOT_KNOWN, "there is no rehearsal cloud to be had")
    # A check.
    STACK_UNREADABLE = (NOT_KNOWN, "there is no kubeconfig to be had from the stack")
    CLUSTER_UNREACHABLE = (NOT_KNOWN, "the cluster's API server does not answer")
    # A preflight; a check has the first of them too.
    CREDENTIALS_REFUSED = (NOT_KNOWN, "the credentials are refused")
    AZURE_UNREACHABLE = (NOT_KNOWN, "Azure cannot be reached")
    NOT_REGISTERED = (AGAINST, "a provider or a feature is not registered")
    EXISTENCE = (AGAINST, "a resource is missing, or exists already")
    SIZE_RETIRED = (AGAINST, "a size is retired, and offered no more")
    SIZE_NOT_OFFERED = (AGAINST, "a size is not offered here as it is wanted")
    VERSION_NOT_OFFERED = (AGAINST, "the Kubernetes version is not offered here")
    QUOTA_TOO_SMALL = (AGAINST, "a quota does not hold what the stack may need")
    UNANSWERED = (NOT_KNOWN, "Azure left a question open")
    # A review.
    CLOUD_UNREACHABLE = (NOT_KNOWN, "Azure, or where the state is, is out of reach")
    BASE_FAILED = (NOT_KNOWN, "the base could not be brought up to compare with")
    PREVIEW_FAILED = (NOT_KNOWN, "a preview did not come to its end")
    RULE_BROKEN = (AGAINST, "a mandatory rule is broken")
    GPU_POOL_LOST = (AGAINST, "a GPU pool goes, and was not allowed")
    PREFLIGHT = (AGAINST, "the preflight found what Azure would not take")
    RULE_NOT_RUN = (NOT_KNOWN, "a rule could not run, so nobody knows whether it holds")
    # A rehearsal.
    CLUSTER_DOWN = (AGAINST, "the control plane of a rehearsed cluster is dead")
    PROGRAM_FAILED = (NOT_KNOWN, "a program such as pulumi failed")
    UPDATE_FAILED = (AGAINST, "pulumi did not finish its work on a stack")
    # A check, of the cluster itself.
    CUDA_MISMATCH = (AGAINST, "the driver is too old for the job's CUDA, or left out")
    JOB_FAILED = (AGAINST, "the sample job failed, or found no GPU")
    NO_GPU_POOL = (AGAINST, "there is no node with an NVIDIA GPU, and no pool for any")
    NODES_MISSING = (AGAINST, "a pool has no nodes, and its stack says that it has some")
    NODE_NOT_READY = (AGAINST, "a node with GPUs is not ready")
    PLUGIN_TWICE = (AGAINST, "two device plugins are at work on a node")
    PLUGIN_NOT_RUNNING = (AGAINST, "a node's device plugin does not run")
    PLUGIN_MISSING = (AGAINST, "no device plugin gets to a node")
    DRIVER_MISSING = (AGAINST, "a node's device plugin finds no driver")
    NO_GPU_ALLOCATABLE = (AGAINST, "a node with GPUs offers none")
    GPUS_ALL_USED = (AGAINST, "all GPUs are in use")
    POD_PENDING = (AGAINST, "a pod that asks for a GPU has no place")
    TIMEOUT = (NOT_KNOWN, "the time given with --timeout was too short")
    # The article's proof.
    ARTICLE_DIFFERS = (AGAINST, "a row is not ok, or a difference unexplained")
    # What is worth a word, and nothing is wrong with it.
    GPUS_PARTLY_UNHEALTHY = (OK, "a node offers fewer GPUs than it has")
    NODE_CORDONED = (OK, "a node takes no new pods")
    GPUS_LEFT_OUT = (OK, "a pool is without a device plugin, as its stack says")
    DIFFERS_FROM_STACK = (OK, "a pool is not what its stack says")
    NODES_BEHIND = (OK, "nodes have an older Kubernetes than the control plane")
    POOL_AT_ZERO = (OK, "a pool has no nodes now")
    NO_NODES_NOW = (OK, "there are no nodes with GPUs now, and nothing is wrong with that")
    GPUS_SCHEDULABLE = (OK, "GPUs are there to be scheduled")
    READY = (OK, "nothing that was asked about stands against it")
    FINE = (OK, "nothing stands against it")

    def __init__(self, exit_code: int, meaning: str) -> None:
        self.exit_code = exit_code
        self.meaning = meaning

    @property
    def word(self) -> str:
        return self.name.lower().replace("_", "-")

    @property
    def is_problem(self) -> bool:
        return self.exit_code != OK

    @property
    def sentence(self) -> str:
        return f"{self.meaning} (exit code {self.exit_code})"

    def document(self) -> dict[str, str | int]:
        """How every JSON report names it."""
        return {"cause": self.word, "meaning": self.meaning, "exitCode": self.exit_code}


def listed(names: Iterable[str]) -> str:
    """Names as a person lists them, the first few of many."""
    all_of_them = sorted(names)
    shown = all_of_them[:_MOST_NAMES]
    if more := len(all_of_them) - len(shown):
        shown.append(f"{more} more")
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def verdict(causes: Iterable[Cause], fine: Cause = Cause.FINE) -> Cause:
    """What several causes come to; `fine` where nothing is wrong."""
    problems = {cause for cause in causes if cause.is_problem}
    return next((cause for cause in Cause if cause in problems), fine)


@dataclass(frozen=True)
class Finding:
    """One thing that a command found out, and one line of what to do about it."""

    cause: Cause
    what: str
    advice: str
    # The key of the stack file that is meant, as in gpuPools[1].vmSize.
    key: str = ""
    pool: str | None = None
    # All that it is true of.
    nodes: tuple[str, ...] = ()
    # Where it is written in the stack file; the first line and the first column are 1.
    line: int | None = None
    column: int | None = None

    @property
    def is_problem(self) -> bool:
        return self.cause.is_problem

    @property
    def node(self) -> str | None:
        """The node that is meant; None where it is none, or one of several."""
        return self.nodes[0] if len(self.nodes) == 1 else None

    @property
    def place(self) -> str:
        """Where it is written, in brackets, after what is said of it."""
        return f" (line {self.line}, column {self.column})" if self.line else ""

    def __str__(self) -> str:
        return f"{self.key}: {self.what}{self.place}" if self.key else f"{self.what}{self.place}"


class StoppedError(Exception):
    """Why a command, or its work on one stack, could not go on."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__("; ".join(map(str, findings)))
        self.findings = findings


def stopped(cause: Cause, what: str, advice: str) -> StoppedError:
    """An error with one finding."""
    return StoppedError(Finding(cause, what, advice))


INTERRUPTION = Finding(
    Cause.INTERRUPTED,
    "it was interrupted before it was done",
    "run it again: what there is to know was not found out",
)
