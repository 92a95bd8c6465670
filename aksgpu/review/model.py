"""What a review knows of the stacks: the facts that every format of the report tells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Literal, NamedTuple

from aksgpu.allowances import Allowance
from aksgpu.outcome import Cause, Finding, verdict
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.preflight import Preflight
from aksgpu.review.judging import Judging

ChangeKind = Literal["create", "import", "update", "replace", "delete"]
# In the order of a reader's interest.
CHANGE_WORDS: dict[ChangeKind, str] = {
    "delete": "deleted",
    "replace": "replaced",
    "update": "updated",
    "import": "imported",
    "create": "created",
}
CHANGE_KINDS: tuple[ChangeKind, ...] = tuple(CHANGE_WORDS)

LossKind = Literal["replace", "delete", "resize", "forget"]
_SCARCE = "whether as many GPUs can be had again is not certain"
# What becomes of a GPU pool in a word, and what Azure does.
LOSSES: dict[LossKind, tuple[str, str]] = {
    "replace": (
        "replaced",
        f"Azure deletes it, with its nodes and all that runs on them, and {_SCARCE}",
    ),
    "delete": ("deleted", "Azure deletes it, with its nodes and all that runs on them"),
    # A pool that is there can have no other vmSize in the older versions of the API; in the newer
    # ones, with single machines and in the classic provider, its nodes are taken away.
    "resize": (
        "resized",
        f"Either Azure refuses that, or these nodes go, with all that runs on them, and {_SCARCE}",
    ),
    # An update of a cluster leaves the pools that it does not name as they are, and the provider
    # does not delete them: pulumi/pulumi-azure-native, issues 579 and 1686.
    "forget": (
        "forgotten",
        "Azure leaves it as it is: its nodes stay and are paid for, and the stack has no hold on "
        "them any more",
    ),
}

# Most urgent first; a rule of another pack may have none.
SEVERITIES = ("critical", "high", "medium", "low", "")


class Resource(NamedTuple):
    """A resource of a stack, as its URN names it."""

    urn: str

    @property
    def name(self) -> str:
        # A name may have the separator in it; nothing before it may.
        return self.urn.split("::", 3)[-1]

    @property
    def type(self) -> str:
        parts = self.urn.split("::", 3)
        return parts[2].rpartition("$")[2] if len(parts) == 4 else ""


@dataclass(frozen=True, kw_only=True)
class Change:
    kind: ChangeKind
    resource: Resource
    # The properties on whose account it is updated or replaced.
    properties: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class LostPool:
    """A GPU pool that goes, be it that another one comes in its place."""

    kind: LossKind
    pool: str
    resource: Resource
    vm_size: str
    why: str
    # How it is allowed, and whether it is.
    allowance: Allowance
    allowed: bool

    @property
    def message(self) -> str:
        becomes, consequence = LOSSES[self.kind]
        return f"The GPU pool {self.pool} ({self.vm_size}) is {becomes}{self.why}. {consequence}."

    @property
    def remedy(self) -> str:
        if self.allowed:
            return "It was allowed."
        return f"Take the change back, or allow it with --allow {self.allowance}."


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A rule that a resource breaks."""

    rule: str
    pack: str
    severity: str
    mandatory: bool
    # None: the rule is about the whole stack.
    resource: Resource | None
    message: str
    remedy: str = ""
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class NotRun:
    """A rule that could not judge a resource."""

    rule: str
    pack: str
    resource: Resource | None
    why: str


class Span(NamedTuple):
    """From the fewest to the most."""

    least: Fraction
    most: Fraction

    def __str__(self) -> str:
        if self.least == self.most:
            return str(self.least)
        return f"{self.least} to {self.most}"


class GpuCount(NamedTuple):
    """The nodes and GPUs of one size, before and after; None: not known."""

    vm_size: str
    nodes_before: Span | None
    nodes_after: Span | None
    gpus_before: Span | None
    gpus_after: Span | None


class PoolState(NamedTuple):
    """A pool's machines of one size, as they were or will be; None: not known."""

    vm_size: str
    nodes: Span | None
    gpus: Span | None


@dataclass(frozen=True, kw_only=True)
class PoolChange:
    """A GPU pool before and after, and what becomes of it in a word; empty: it stays as it is."""

    pool: str
    resource: Resource
    becomes: str
    before: Sequence[PoolState]
    after: Sequence[PoolState]


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What the nodes cost an hour, by a price list and its day."""

    before: Span
    after: Span
    currency: str
    source: str
    asked_on: date
    # The pools whose price, place or number of nodes is not known.
    unpriced: Sequence[str]


@dataclass(kw_only=True)
class StackReview:
    """What is known of one stack."""

    stack: str
    # The stack file's name, as from the root of the repository.
    file: str
    # What is worth knowing of how it was reviewed.
    notes: list[str] = field(default_factory=list)
    # None where it was not begun.
    judging: Judging | None = None
    problems: list[Finding] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    unchanged: int = 0
    lost: list[LostPool] = field(default_factory=list)
    # Most urgent first.
    findings: list[Violation] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    # What Azure answers about it: asked offline, and for stacks of this program.
    preflight: Preflight | None = None
    # None if the preview failed.
    gpus: list[GpuCount] | None = None
    # The GPU pools, those that stay as they are too.
    pools: list[PoolChange] = field(default_factory=list)
    # None if there are no nodes, or the preview failed.
    costs: Costs | Unanswered | None = None
    # Where resources are spoken of in the stack file, by their URNs; keys, by themselves.
    lines: dict[str, int] = field(default_factory=dict)

    def line_of(self, resource: Resource | None) -> int | None:
        return self.lines.get(resource.urn) if resource else None

    @property
    def causes(self) -> Iterator[Cause]:
        yield from (problem.cause for problem in self.problems)
        if any(finding.mandatory for finding in self.findings):
            yield Cause.RULE_BROKEN
        if any(not pool.allowed for pool in self.lost):
            yield Cause.GPU_POOL_LOST
        if self.preflight and self.preflight.verdict.is_problem:
            yield Cause.PREFLIGHT
        if self.not_run:
            yield Cause.RULE_NOT_RUN

    @property
    def verdict(self) -> Cause:
        return verdict(self.causes)


@dataclass(kw_only=True)
class Review:
    """Everything that one run has found out."""

    # Against the rehearsal cloud.
    offline: bool
    # What the rehearsal began from; empty: from nothing.
    base: str = ""
    stacks: list[StackReview] = field(default_factory=list)

    @property
    def verdict(self) -> Cause:
        return verdict(stack.verdict for stack in self.stacks)

    @property
    def setting(self) -> str:
        """How the stacks were reviewed, in words."""
        if not self.offline:
            return "compared with what each stack has now"
        if self.base:
            return f"on the rehearsal cloud, compared with the stack files at {self.base}"
        return "on the rehearsal cloud, compared with nothing: all is created"
