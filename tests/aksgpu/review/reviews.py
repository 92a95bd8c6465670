"""Parts of reviews for the tests: the engine's events, and stacks as they come out of them."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from pulumi.automation.events import (
    DiagnosticEvent,
    EngineEvent,
    OpType,
    PolicyEvent,
    ResourcePreEvent,
    ResOutputsEvent,
    StepEventMetadata,
    StepEventStateMetadata,
    SummaryEvent,
)

from aksgpu.outcome import Cause, Finding
from aksgpu.preflight.preflight import Preflight
from aksgpu.preflight.rows import About
from aksgpu.review.model import (
    Change,
    LostPool,
    NotRun,
    PoolChange,
    PoolState,
    Resource,
    Review,
    Span,
    StackReview,
    Violation,
    states_of,
    sum_of,
)
from aksgpu.review.pools import pool_changes
from aksgpu.review.preview_result import PreviewResult

AGENT_POOL = "azure-native:containerservice:AgentPool"
CLUSTER = "azure-native:containerservice:ManagedCluster"
CLASSIC_CLUSTER = "azure:containerservice/kubernetesCluster:KubernetesCluster"
GROUP = "azure-native:resources:ResourceGroup"
T4 = "Standard_NC8as_T4_v3"
A100 = "Standard_NC24ads_A100_v4"
CPU = "Standard_D4ds_v5"


def urn(name: str, kind: str = AGENT_POOL) -> str:
    return f"urn:pulumi:dev::aks-gpu::{kind}::{name}"


def state(inputs: dict[str, Any], kind: str = AGENT_POOL, **more: Any) -> StepEventStateMetadata:
    return StepEventStateMetadata(kind, "", "id", "", "", inputs=inputs, **more)


def step(
    op: str,
    name: str,
    old: dict[str, Any] | None = None,
    new: dict[str, Any] | None = None,
    *,
    kind: str = AGENT_POOL,
    **more: Any,
) -> EngineEvent:
    """What the engine tells of a resource, with its inputs as they were and will be."""
    old_more = {key: more.pop(key) for key in ("retain_on_delete", "delete") if key in more}
    metadata = StepEventMetadata(
        OpType(op),
        urn(name, kind),
        kind,
        "",
        old=None if old is None else state(old, more.pop("old_kind", kind), **old_more),
        new=None if new is None else state(new, kind),
        **more,
    )
    return EngineEvent(0, 0, resource_pre_event=ResourcePreEvent(metadata))


def outcome(op: str, name: str, *more: Any, **keys: Any) -> EngineEvent:
    """What the engine tells of a resource once it is done with it."""
    event = step(op, name, *more, **keys)
    assert event.resource_pre_event
    return EngineEvent(0, 0, res_outputs_event=ResOutputsEvent(event.resource_pre_event.metadata))


def summary(counts: dict[str, int]) -> EngineEvent:
    """What the engine tells at the end."""
    numbers = {OpType(op): number for op, number in counts.items()}
    summary_event = SummaryEvent(
        maybe_corrupt=False, duration_seconds=1, resource_changes=numbers, policy_packs={}
    )
    return EngineEvent(0, 0, summary_event=summary_event)


def policy(message: str, name: str = "pool", level: str = "mandatory", **more: Any) -> EngineEvent:
    rule = more.pop("rule", "a-rule")
    pack = more.pop("pack", "another-pack")
    policy_event = PolicyEvent(
        message, "never", rule, pack, "1", "1", level, urn(name) if name else None
    )
    return EngineEvent(0, 0, policy_event=policy_event)


def diagnostic(message: str, severity: str = "error", name: str = "") -> EngineEvent:
    diagnostic_event = DiagnosticEvent(message, "never", severity, urn=urn(name) if name else None)
    return EngineEvent(0, 0, diagnostic_event=diagnostic_event)


def seen(*events: EngineEvent) -> PreviewResult:
    sorted_out = PreviewResult()
    for event in events:
        sorted_out.on_event(event)
    return sorted_out


def span(least: int, most: int) -> Span:
    return Span(Fraction(least), Fraction(most))


Counted = tuple[Span | None, Span | None]


def counted(pools: Sequence[PoolChange], what: str = "gpus") -> dict[str, Counted]:
    """The nodes or GPUs before and after, by size."""
    sides = [states_of(pools, was=was) for was in (True, False)]
    before, after = (
        {size: sum_of(getattr(one, what) for one in side if one.vm_size == size) for size in sizes}
        for side in sides
        for sizes in [sorted({one.vm_size for each in sides for one in each})]
    )
    return {size: (before[size], after[size]) for size in before}


def pools_of(preview: PreviewResult) -> list[PoolChange]:
    return pool_changes(preview.steps.values(), ())


def whole_stack(name: str = "dev", pools: int = 1, text: str = "", names: str = "") -> StackReview:
    """A stack with something in every part of its review, for each of its pools."""
    kind = f"{AGENT_POOL}{names}"
    resources = [Resource(urn(f"pool{number}{names}", kind)) for number in range(pools)]
    return StackReview(
        stack=name,
        notes=[f"A note.{text}"],
        problems=[
            Finding(
                cause=Cause.STACK_FILE_INVALID,
                key=f"gpuPools[{number}].vmSize",
                what=f"is wrong{text}",
                advice="do it right",
            )
            for number in range(pools)
        ],
        changes=[
            Change(kind="replace", resource=resource, properties=(f"vmSize{names}",))
            for resource in resources
        ],
        lost=[
            LostPool(
                kind="replace",
                pool=resource.name,
                resource=resource,
                vm_size=T4,
                why=f", because of vmSize{text}",
                allowance=f"replace:{name}/{resource.name}",
                allowed=False,
            )
            for resource in resources
        ],
        findings=[
            Violation(
                rule="a-rule",
                pack="a-pack",
                severity="high",
                mandatory=True,
                resource=resource,
                message=f"It is broken.{text}",
                remedy=f"Mend it.{text}",
                url="https://example.com/a-rule",
            )
            for resource in resources
        ],
        not_run=[
            NotRun(rule="b-rule", pack="a-pack", resource=resource, why=f"Not known.{text}")
            for resource in resources
        ],
        pools=[
            PoolChange(
                pool=resource.name,
                resource=resource,
                becomes="changed",
                before=[PoolState(f"Standard_NC{number}{names}", span(0, 1), span(0, 4))],
                after=[PoolState(f"Standard_NC{number}{names}", span(1, 2), None)],
            )
            for number, resource in enumerate(resources)
        ],
        preflight=Preflight(
            name,
            rows=[
                About("quota", resource.name, f"gpuPools[{number}].vmSize").problem(
                    Cause.QUOTA_TOO_SMALL,
                    f"The quota is 0.{text}",
                    f"Ask for more.{text}",
                )
                for number, resource in enumerate(resources)
            ],
        ),
    )


def review(*stacks: StackReview) -> Review:
    return Review(offline=True, base="main", stacks=list(stacks))
