"""The result of a preview: the engine's events as steps, drift, findings and errors."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from pulumi.automation.events import (
    DiagnosticEvent,
    EngineEvent,
    OpType,
    PolicyEvent,
    StepEventMetadata,
    StepEventStateMetadata,
)
from pulumi.runtime.rpc import UNKNOWN

from aks_catalogue.nodes import INLINE_POOLS, is_left_by_refresh
from aks_catalogue.secrecy import SIGNATURE
from aks_catalogue.shapes import mappings, sequence
from aks_pools.pools import PoolNames, inline_pool_names, standalone_pool_names
from aksgpu.review.diagnosis import follows
from aksgpu.review.masking import clean
from aksgpu.review.model import CHANGE_KINDS, Change, ChangeKind, NotRun, Resource, Violation
from aksgpu.review.rules import facts_of

# What the engine's operations mean for a resource. A replacement has three steps; two are ignored.
_KINDS: Mapping[str, ChangeKind] = {
    **{kind: kind for kind in CHANGE_KINDS},
    "import-replacement": "replace",
}
_RELEVANT = frozenset({*_KINDS, "same"})
_STACK = "pulumi:pulumi:Stack"

# The policy SDK reports a rule that needs a value unknown before the update as a finding with this
# message, always with the level advisory.
_NOT_RUN = "can't run policy "
_NOT_RUN_REASON = " during preview: "


@dataclass(frozen=True)
class Step:
    """What happens to one resource, with its states before and after."""

    resource: Resource
    # None if it does not change.
    kind: ChangeKind | None
    old: StepEventStateMetadata | None
    new: StepEventStateMetadata | None
    properties: tuple[str, ...]


def inputs_of(state: StepEventStateMetadata | None) -> Mapping[str, Any]:
    return (state and state.inputs) or {}


def _without_secrets(value: Any) -> Any:
    """The value with UNKNOWN in place of secrets."""
    if isinstance(value, Mapping):
        if SIGNATURE in value:
            return UNKNOWN
        return {name: _without_secrets(member) for name, member in value.items()}
    return [_without_secrets(item) for item in value] if isinstance(value, list) else value


def _pool_names(state: StepEventStateMetadata | None) -> Iterator[PoolNames]:
    if state and (names := standalone_pool_names(state.type, inputs_of(state))):
        yield names


def _left_by_refreshes(step: Step) -> Iterator[PoolNames]:
    """The pools that a refresh has added to a cluster whose program ignores its list of pools.

    They stay in the list even after they are deleted.
    """
    before, after = (sequence(inputs_of(state).get(INLINE_POOLS)) for state in (step.old, step.new))
    for pool in mappings(after):
        if is_left_by_refresh(pool) and pool in before:
            yield from filter(None, [inline_pool_names(inputs_of(step.new), pool)])


def _without_pools(
    state: StepEventStateMetadata | None, pools: Collection[PoolNames]
) -> StepEventStateMetadata | None:
    profiles = inputs_of(state).get(INLINE_POOLS)
    if not state or not isinstance(profiles, list):
        return state
    remaining = [
        profile
        for profile in profiles
        if not isinstance(profile, Mapping)
        or inline_pool_names(inputs_of(state), profile) not in pools
    ]
    result = copy(state)
    result.inputs = {**inputs_of(state), INLINE_POOLS: remaining}
    return result


@dataclass
class PreviewResult:
    """The result of one preview; `on_event` adds an event."""

    _steps: dict[str, Step] = field(default_factory=dict)
    # What a refresh found to differ from the state: the properties, or None for a missing resource.
    drift: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    findings: list[Violation] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    # Whether the preview is complete, and an update would change nothing, not even outputs.
    is_idle: bool = False
    _outputs_change: bool = False
    # What the program has written to stderr.
    _printed: list[str] = field(default_factory=list)

    def on_events(self, events: Iterable[EngineEvent]) -> None:
        for event in events:
            self.on_event(event)

    def on_event(self, event: EngineEvent) -> None:
        if event.resource_pre_event:
            self._step(event.resource_pre_event.metadata)
        elif event.res_outputs_event:
            self._outcome(event.res_outputs_event.metadata)
        elif event.summary_event:
            counts = event.summary_event.resource_changes
            self.is_idle = not self._outputs_change and {*counts} <= {OpType.SAME, OpType.READ}
        elif event.policy_event:
            self._policy(event.policy_event)
        elif event.diagnostic_event:
            self._diagnostic(event.diagnostic_event)

    @property
    def steps(self) -> dict[str, Step]:
        """What happens to each resource. Clusters list the pools of the program alone."""
        before = {pool for step in self._steps.values() for pool in _pool_names(step.old)}
        after = before | {pool for step in self._steps.values() for pool in _pool_names(step.new)}
        shown = {}
        for urn, step in self._steps.items():
            left = set(_left_by_refreshes(step))
            shown[urn] = replace(
                step,
                old=_without_pools(step.old, before | left),
                new=_without_pools(step.new, after | left),
            )
        return shown

    @property
    def changes(self) -> list[Change]:
        """Sorted by type and name: the engine's order is not stable."""
        changes = [
            Change(kind=step.kind, resource=step.resource, properties=step.properties)
            for step in self._steps.values()
            if step.kind
        ]
        return sorted(changes, key=lambda change: (change.resource.type, change.resource.name))

    @property
    def unchanged(self) -> int:
        return sum(step.kind is None for step in self._steps.values())

    def _step(self, step: StepEventMetadata) -> None:
        if step.op in _RELEVANT and not _is_the_engines_own(step):
            for state in filter(None, (step.old, step.new)):
                state.inputs = _without_secrets(state.inputs)
            self._steps[step.urn] = Step(
                resource=Resource(step.urn),
                kind=_KINDS.get(step.op),
                old=step.old,
                new=step.new,
                properties=_changed(step),
            )

    def _outcome(self, step: StepEventMetadata) -> None:
        if step.op == OpType.REFRESH:
            if step.new is None:
                self.drift[step.urn] = None
            # What was not finished has no earlier values to compare with.
            elif (changed := _changed(step)) and not (step.old and step.old.init_errors):
                self.drift[step.urn] = changed
        elif Resource(step.urn).type == _STACK and step.old and step.new:
            self._outputs_change = step.old.outputs != step.new.outputs

    @property
    def reverted_drift(self) -> list[tuple[Resource, tuple[str, ...] | None]]:
        """The drift that an update reverts: the properties, or None for a missing resource."""
        return [
            (Resource(urn), properties)
            for urn, properties in self.drift.items()
            if (step := self._steps.get(urn)) and step.kind
        ]

    def _policy(self, event: PolicyEvent) -> None:
        rule, pack = event.policy_name, event.policy_pack_name
        resource = Resource(event.resource_urn) if event.resource_urn else None
        facts = facts_of(rule, pack)
        message = clean(event.message)
        if message.startswith(_NOT_RUN):
            why = message.partition(_NOT_RUN_REASON)[2] or message
            self.not_run.append(NotRun(rule=rule, pack=pack, resource=resource, why=why))
            return
        self.findings.append(
            Violation(
                rule=rule,
                pack=pack,
                severity=facts.severity,
                mandatory=event.enforcement_level == "mandatory",
                resource=resource,
                # The engine puts the rule's description before the message.
                message=message.removeprefix(facts.description).strip() or message,
                remedy=facts.remedy,
                url=facts.url,
            )
        )

    def _diagnostic(self, event: DiagnosticEvent) -> None:
        message = clean(event.message)
        if event.severity == "info#err" and message.strip():
            self._printed.append(message.rstrip())
        if event.severity == "error" and message:
            resource = Resource(event.urn) if event.urn else None
            is_specific = resource and resource.type != _STACK
            text = f"{resource.name}: {message}" if resource and is_specific else message
            # A program that ends by `SystemExit` has printed why.
            if follows(text) and self._printed and not self.errors:
                self.errors.append("\n".join(self._printed))
            self.errors.append(text)


def _changed(step: StepEventMetadata) -> tuple[str, ...]:
    """The properties that differ. pulumi-kubernetes names them in the detailed diff alone."""
    return tuple(sorted(step.keys or step.diffs or step.detailed_diff or ()))


def _is_the_engines_own(step: StepEventMetadata) -> bool:
    """Whether the resource is the stack itself, or a default provider."""
    name = Resource(step.urn).name
    kind: Any = step.type
    return kind == _STACK or (kind.startswith("pulumi:providers:") and name.startswith("default"))
