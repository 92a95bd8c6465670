"""The results of commands: causes, each with a name and an exit code, and findings.

The standard library alone: `aksgpu.ci` runs without an installation.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

_MOST_NAMES = 4
OK, AGAINST, WRONG_USAGE, NOT_KNOWN, STOPPED = 0, 1, 2, 3, 130

EXIT_CODES = (
    f"Exit codes: {OK} no problem; {AGAINST} a problem; {WRONG_USAGE} wrong options, or no such "
    f"stack or file; {NOT_KNOWN} could not find out, or failed itself; {STOPPED} interrupted. The "
    "output names the cause: docs/reference/commands.md."
)


# The clouds that a command can ask.
AZURE, REHEARSAL = "Azure", "the rehearsal cloud"


class Cause(Enum):
    """If there are several causes, the first one here is the verdict.

    What kept a command from finding out comes first. A cause comes before those that it explains: a
    node that is not ready explains that its plugin is missing, and never the other way round.
    """

    INTERRUPTED = (STOPPED, "the command was interrupted")
    CRASHED = (NOT_KNOWN, "aksgpu itself failed")
    ENGINE_UNAVAILABLE = (NOT_KNOWN, "Pulumi or Kubernetes is not available")
    STACK_FILE_INVALID = (AGAINST, "a stack file or its configuration of the pack is invalid")
    ENVIRONMENT_UNREADABLE = (
        NOT_KNOWN,
        "a stack file uses values from an environment, which cannot be read here",
    )
    STACK_MISSING = (WRONG_USAGE, "a stack or a file does not exist")
    REHEARSAL_UNAVAILABLE = (NOT_KNOWN, "the rehearsal cloud is not available")
    # A check.
    CLUSTER_UNREACHABLE = (NOT_KNOWN, "the cluster cannot be reached, or its kubeconfig not read")
    # Of a preflight; credentials-refused is of a check too.
    CREDENTIALS_REFUSED = (NOT_KNOWN, "the credentials are refused")
    AZURE_UNREACHABLE = (NOT_KNOWN, "Azure or the state backend cannot be reached")
    NOT_REGISTERED = (AGAINST, "a provider or a feature is not registered")
    EXISTENCE = (AGAINST, "a resource is missing, or already exists")
    NOT_OFFERED = (AGAINST, "a VM size or a Kubernetes version is not offered here")
    QUOTA_TOO_SMALL = (AGAINST, "a quota is too small for the stack")
    UNANSWERED = (NOT_KNOWN, "a question has no answer, or a stack cannot be read")
    # A review.
    PREVIEW_FAILED = (NOT_KNOWN, "a preview failed")
    RULE_BROKEN = (AGAINST, "a mandatory rule is broken")
    GPU_POOL_LOST = (AGAINST, "a GPU pool is deleted, replaced or resized without being allowed")
    RULE_NOT_RUN = (NOT_KNOWN, "a rule could not run")
    # A rehearsal.
    CLUSTER_DOWN = (AGAINST, "the control plane of a rehearsed cluster is dead")
    PROGRAM_FAILED = (NOT_KNOWN, "a program such as pulumi failed")
    UPDATE_FAILED = (AGAINST, "pulumi did not finish an operation on a stack")
    # Of a check: the cluster itself.
    CUDA_MISMATCH = (AGAINST, "the driver is missing, or too old for the job's CUDA")
    JOB_FAILED = (AGAINST, "the job failed")
    NO_GPU_POOL = (AGAINST, "there is no node and no pool with NVIDIA GPUs")
    NODES_MISSING = (AGAINST, "a pool has no nodes, but its stack expects some")
    NODE_NOT_READY = (AGAINST, "a node with GPUs is not ready")
    GPU_FAULT = (AGAINST, "AKS reports a fault of a node's GPUs, driver or device plugin")
    PLUGIN_TWICE = (AGAINST, "two device plugins run on a node")
    PLUGIN_NOT_RUNNING = (AGAINST, "the device plugin of a node does not run")
    PLUGIN_MISSING = (AGAINST, "no device plugin is scheduled on a node")
    DRIVER_MISSING = (AGAINST, "the device plugin of a node finds no driver")
    NO_GPU_ALLOCATABLE = (AGAINST, "a node with GPUs has none allocatable")
    GPUS_ALL_USED = (AGAINST, "all GPUs are in use")
    POD_PENDING = (AGAINST, "a pod that requests a GPU cannot be scheduled")
    TIMEOUT = (NOT_KNOWN, "the check took longer than --timeout")
    # Of the article, and of the proof on Azure.
    DIFFERS = (AGAINST, "something is otherwise than expected")
    # Worth a line, but no problem.
    GPUS_PARTLY_UNHEALTHY = (OK, "a node has fewer allocatable GPUs than its capacity")
    GPUS_IMPAIRED = (OK, "a node's GPUs are slower than usual, or have no metrics")
    NODE_GOES = (OK, "Azure has announced that it takes, moves or restarts a node")
    SEVERAL_FABRICS = (OK, "nodes of a pool may be on several InfiniBand networks")
    NODE_CORDONED = (OK, "a node is cordoned")
    GPUS_LEFT_OUT = (OK, "a pool has no device plugin, as configured in its stack")
    POOL_AT_ZERO = (OK, "a pool has no nodes now")
    NO_NODES_NOW = (OK, "there are no GPU nodes now, as configured")
    GPUS_SCHEDULABLE = (OK, "GPUs can be scheduled")
    READY = (OK, "nothing was found that would be refused")
    FINE = (OK, "no problem was found")

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
        return self.sentence_about("")

    def sentence_about(self, cloud: str) -> str:
        """The sentence with the cloud that was asked, if there is one."""
        where = f"on {cloud}, " if cloud else ""
        return f"{where}{self.meaning} (exit code {self.exit_code})"

    def document(self) -> dict[str, str | int]:
        """The keys that every JSON report has for it."""
        return {"cause": self.word, "meaning": self.meaning, "exitCode": self.exit_code}


def listed(names: Iterable[str]) -> str:
    """The first few names, joined by commas and "and"."""
    all_of_them = sorted(names)
    shown = all_of_them[:_MOST_NAMES]
    if more := len(all_of_them) - len(shown):
        shown.append(f"{more} more")
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def verdict(causes: Iterable[Cause], fine: Cause = Cause.FINE) -> Cause:
    """The first of the problems; `fine` if there is none."""
    problems = {cause for cause in causes if cause.is_problem}
    return next((cause for cause in Cause if cause in problems), fine)


@dataclass(frozen=True)
class Finding:
    """A result of a command, and what to do about it."""

    cause: Cause
    what: str
    advice: str
    # The key of the stack file that is meant, as in gpuPools[1].vmSize.
    key: str = ""
    pool: str | None = None
    # All that it is true of.
    nodes: tuple[str, ...] = ()
    # Where it is written in the stack file; the first line is 1.
    line: int | None = None

    @property
    def is_problem(self) -> bool:
        return self.cause.is_problem

    @property
    def node(self) -> str | None:
        """The one node; None if there is none, or several."""
        return self.nodes[0] if len(self.nodes) == 1 else None

    @property
    def place(self) -> str:
        """The line in the stack file, in brackets."""
        return f" (line {self.line})" if self.line else ""

    def __str__(self) -> str:
        return f"{self.key}: {self.what}{self.place}" if self.key else f"{self.what}{self.place}"


class StoppedError(Exception):
    """A command, or its work on one stack, cannot continue."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__("; ".join(map(str, findings)))
        self.findings = findings


def stopped(cause: Cause, what: str, advice: str) -> StoppedError:
    """An error with one finding."""
    return StoppedError(Finding(cause, what, advice))


INTERRUPTION = Finding(
    Cause.INTERRUPTED,
    "the command was interrupted",
    "run it again",
)
