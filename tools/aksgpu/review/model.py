"""The result of a review: the facts that every format of the report shows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Literal, NamedTuple

from aksgpu import report
from aksgpu.outcome import AZURE, REHEARSAL, Cause, Finding, verdict
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.preflight import Preflight
from aksgpu.review.judging import PolicyChanges

# The version of the JSON. Raise it when a key changes its meaning or is removed.
_VERSION = 2

ChangeKind = Literal["create", "import", "update", "replace", "delete"]
# Most important first.
CHANGE_WORDS: dict[ChangeKind, str] = {
    "delete": "deleted",
    "replace": "replaced",
    "update": "updated",
    "import": "imported",
    "create": "created",
}
CHANGE_KINDS: tuple[ChangeKind, ...] = tuple(CHANGE_WORDS)

LossKind = Literal["rotate", "replace", "delete", "resize", "forget"]
_CAPACITY = "may not have as many GPUs for new nodes"
# What happens to a GPU pool in one word, and what Azure does.
LOSSES: dict[LossKind, tuple[str, str]] = {
    "rotate": (
        "rotated",
        "Azure creates the new pool first, and then drains and deletes this one. Until it is gone, "
        "quota and budget have to hold both",
    ),
    "replace": (
        "replaced",
        f"Azure deletes it, with its nodes and everything that runs on them, and {_CAPACITY}",
    ),
    "delete": ("deleted", "Azure deletes it, with its nodes and everything that runs on them"),
    # Older API versions refuse another vmSize for an existing pool. Newer versions, pools of
    # virtual machines and the classic provider delete the nodes.
    "resize": (
        "resized",
        "Azure refuses that, or deletes these nodes with everything that runs on them, and "
        f"{_CAPACITY}",
    ),
    # An update of a cluster does not change pools that it does not name, and the provider does
    # not delete them: pulumi/pulumi-azure-native, issues 579 and 1686.
    "forget": (
        "forgotten",
        "Azure keeps it: its nodes stay and cost money, but no stack manages them any more",
    ),
}

# Most severe first; a rule of another pack may have no severity.
SEVERITIES = ("critical", "high", "medium", "low", "")


@dataclass(frozen=True, order=True)
class Resource:
    """A resource of a stack, as its URN names it."""

    urn: str
    name: str = field(init=False, compare=False)
    type: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        # Only the name can contain the separator.
        parts = self.urn.split("::", 3)
        object.__setattr__(self, "name", parts[-1])
        kind = parts[2].rpartition("$")[2] if len(parts) == 4 else ""
        object.__setattr__(self, "type", kind)


@dataclass(frozen=True, kw_only=True)
class Change:
    kind: ChangeKind
    resource: Resource
    # The properties that cause the update or replacement.
    properties: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class LostPool:
    """A GPU pool that is deleted, replaced, resized or forgotten; or that rotates."""

    kind: LossKind
    pool: str
    resource: Resource
    vm_size: str
    why: str
    # The allowance for it, and whether it was given.
    allowance: str
    allowed: bool

    @property
    def message(self) -> str:
        word, consequence = LOSSES[self.kind]
        return f"The GPU pool {self.pool} ({self.vm_size}) is {word}{self.why}. {consequence}."

    @property
    def remedy(self) -> str:
        if self.kind == "rotate":
            return "No allowance is needed: this pool stays if Azure cannot create the other."
        if self.allowed:
            return "It is allowed."
        return f"Revert the change, or allow it with --allow {self.allowance}."


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A rule that a resource breaks."""

    rule: str
    pack: str
    severity: str
    mandatory: bool
    # None if the rule is about the whole stack.
    resource: Resource | None
    message: str
    remedy: str = ""
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class NotRun:
    """A rule that could not run for a resource."""

    rule: str
    pack: str
    resource: Resource | None
    why: str


class Span(NamedTuple):
    """From the fewest to the most: nodes, GPUs or money."""

    least: Fraction
    most: Fraction

    def __str__(self) -> str:
        if self.least == self.most:
            return str(self.least)
        return f"{self.least} to {self.most}"

    @property
    def money(self) -> str:
        least, most = (f"{float(end):,.2f}" for end in self)
        return least if least == most else f"{least} to {most}"


def sum_of(spans: Iterable[Span | None]) -> Span | None:
    """The sum; None if one is not known."""
    least, most = Fraction(0), Fraction(0)
    for span in spans:
        if span is None:
            return None
        least, most = least + span.least, most + span.most
    return Span(least, most)


@dataclass(frozen=True)
class PoolState:
    """A pool's nodes of one VM size, before or after; None if not known."""

    vm_size: str
    nodes: Span | None
    gpus: Span | None


@dataclass(frozen=True, kw_only=True)
class PoolChange:
    """A GPU pool before and after, and what happens to it in one word; empty if it is unchanged."""

    pool: str
    resource: Resource
    becomes: str
    before: Sequence[PoolState]
    after: Sequence[PoolState]


def states_of(pools: Iterable[PoolChange], *, was: bool) -> list[PoolState]:
    """The nodes of all pools before, or after."""
    return [state for pool in pools for state in (pool.before if was else pool.after)]


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What the nodes cost an hour, with the price list and its date."""

    before: Span
    after: Span
    currency: str
    source: str
    asked_on: date
    # What old pools cost in addition until they have rotated.
    rotating: Span
    # The pools whose price, region or number of nodes is not known.
    unpriced: Sequence[str]


@dataclass(kw_only=True)
class StackReview:
    """The review of one stack."""

    stack: str
    # How it was reviewed, as far as a reader needs to know.
    notes: list[str] = field(default_factory=list)
    # None if the review stopped before.
    policy_changes: PolicyChanges | None = None
    problems: list[Finding] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    unchanged: int = 0
    lost: list[LostPool] = field(default_factory=list)
    # Most severe first.
    findings: list[Violation] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    # Only offline, and only for stacks of this program.
    preflight: Preflight | None = None
    # All GPU pools, including the unchanged ones; None if the preview failed.
    pools: list[PoolChange] | None = None
    # None if there are no nodes, or the preview failed.
    costs: Costs | Unanswered | None = None

    @property
    def causes(self) -> Iterator[Cause]:
        yield from (problem.cause for problem in self.problems)
        if any(finding.mandatory for finding in self.findings):
            yield Cause.RULE_BROKEN
        if any(not pool.allowed for pool in self.lost):
            yield Cause.GPU_POOL_LOST

    @property
    def verdict(self) -> Cause:
        """What the change does, then what Azure would say, then what nobody could judge."""
        others = [self.preflight.verdict] if self.preflight else []
        others += [Cause.RULE_NOT_RUN] * bool(self.not_run)
        own = verdict(self.causes)
        return own if own.is_problem else verdict(others)


@dataclass(kw_only=True)
class Review:
    """The reviews of one run."""

    # Whether it used a rehearsal cloud of its own.
    offline: bool
    # Whether the stacks are rehearsed ones, as in a shell of `aksgpu env`.
    rehearsed: bool = False
    # The commit that it compares with; empty if it compares with nothing.
    base: str = ""
    stacks: list[StackReview] = field(default_factory=list)

    @property
    def verdict(self) -> Cause:
        return verdict(stack.verdict for stack in self.stacks)

    @property
    def cloud(self) -> str:
        return REHEARSAL if self.offline or self.rehearsed else AZURE

    @property
    def setting(self) -> str:
        """How the stacks were reviewed, for reports."""
        if not self.offline:
            return f"on {self.cloud}, compared with what each stack has now"
        if self.base:
            return f"on {self.cloud}, compared with the stack files at {self.base}"
        return f"on {self.cloud}, without a base: everything is created"


def as_json(review: Review) -> str:
    """The report for programs: all facts."""
    head = {"version": _VERSION, **review.verdict.document(), "cloud": review.cloud}
    document = report.as_data(review)
    for stack, written in zip(review.stacks, document["stacks"], strict=True):
        written.update(stack.verdict.document())
        written["preflight"] = stack.preflight.to_json() if stack.preflight else None
    return report.as_json(head | document)
