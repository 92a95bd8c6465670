"""What a preview has shown: the engine's events, sorted into what a review is about."""

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

from aksgpu.review.masking import clean
from aksgpu.review.model import CHANGE_KINDS, Change, ChangeKind, NotRun, Resource, Violation
from aksgpu.review.rules import facts_of
from policies.pools import PoolNames, inline_pool, own_pool

# The engine's operations, where they say what becomes of a resource. A replacement is told in three
# steps, of which one is told on.
_KINDS: Mapping[str, ChangeKind] = {
    **{kind: kind for kind in CHANGE_KINDS},
    "import-replacement": "replace",
}
_TOLD = frozenset({*_KINDS, "same"})
_STACK = "pulumi:pulumi:Stack"
_INLINE = "agentPoolProfiles"

# How the policy SDK begins the message of a finding that is none: the rule touched a value that is
# not known before the update. Whatever the rule's level, the finding is called advisory then.
_NOT_RUN = "can't run policy "
_NOT_RUN_REASON = " during preview: "

# The key by which the engine tells what is no plain map: in its events, a secret.
_SIGNATURE = "4dabf18193072939515e22adb298388d"


@dataclass(frozen=True)
class Step:
    """What becomes of one resource, with how it was and how it will be."""

    resource: Resource
    # None: it stays as it is.
    kind: ChangeKind | None
    old: StepEventStateMetadata | None
    new: StepEventStateMetadata | None
    properties: tuple[str, ...]


def inputs_of(state: StepEventStateMetadata | None) -> Mapping[str, Any]:
    return (state and state.inputs) or {}


def _without_secrets(value: Any) -> Any:
    """A value in which a secret is not known, as what comes with the update."""
    if isinstance(value, Mapping):
        if _SIGNATURE in value:
            return UNKNOWN
        return {name: _without_secrets(member) for name, member in value.items()}
    return [_without_secrets(item) for item in value] if isinstance(value, list) else value


def _own_pools(state: StepEventStateMetadata | None) -> Iterator[PoolNames]:
    if state and (own := own_pool(state.type, inputs_of(state))):
        yield own


def _without_own_pools(
    state: StepEventStateMetadata | None, own: Collection[PoolNames]
) -> StepEventStateMetadata | None:
    profiles = inputs_of(state).get(_INLINE)
    if not state or not isinstance(profiles, list):
        return state
    left = [
        profile
        for profile in profiles
        if not isinstance(profile, Mapping) or inline_pool(inputs_of(state), profile) not in own
    ]
    without = copy(state)
    without.inputs = {**inputs_of(state), _INLINE: left}
    return without


@dataclass
class Seen:
    """The events of one preview; `on_event` takes them as they come."""

    _steps: dict[str, Step] = field(default_factory=dict)
    # What a refresh found otherwise than the state has it: which properties, or None: it is gone.
    drift: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    findings: list[Violation] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    # Whether a whole preview has shown that an update would do nothing, outputs included.
    is_idle: bool = False
    _outputs_change: bool = False

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
        """What becomes of each resource. No cluster has pools of their own in its list."""
        olds = {own for step in self._steps.values() for own in _own_pools(step.old)}
        news = olds | {own for step in self._steps.values() for own in _own_pools(step.new)}
        return {
            urn: replace(
                step,
                old=_without_own_pools(step.old, olds),
                new=_without_own_pools(step.new, news),
            )
            for urn, step in self._steps.items()
        }

    @property
    def changes(self) -> list[Change]:
        """By type and name: the engine tells them as they come."""
        changes = [
            Change(kind=step.kind, resource=step.resource, properties=step.properties)
            for step in self._steps.values()
            if step.kind
        ]
        return sorted(changes, key=lambda change: (change.resource.type, change.resource.name))

    @property
    def unchanged(self) -> int:
        return sum(step.kind is None for step in self._steps.values())

    def _step(self, told: StepEventMetadata) -> None:
        if told.op in _TOLD and not _is_the_engines_own(told):
            for state in filter(None, (told.old, told.new)):
                state.inputs = _without_secrets(state.inputs)
            self._steps[told.urn] = Step(
                resource=Resource(told.urn),
                kind=_KINDS.get(told.op),
                old=told.old,
                new=told.new,
                properties=tuple(sorted(told.keys or told.diffs or ())),
            )

    def _outcome(self, told: StepEventMetadata) -> None:
        if told.op == OpType.REFRESH:
            if told.new is None:
                self.drift[told.urn] = None
            elif changed := told.keys or told.diffs:
                self.drift[told.urn] = tuple(sorted(changed))
        elif Resource(told.urn).type == _STACK and told.old and told.new:
            self._outputs_change = told.old.outputs != told.new.outputs

    @property
    def put_back(self) -> list[tuple[Resource, tuple[str, ...] | None]]:
        """What has drifted and does not stay so: with its properties, or None where it was gone."""
        return [
            (Resource(urn), properties)
            for urn, properties in self.drift.items()
            if (step := self._steps.get(urn)) and step.kind
        ]

    def _policy(self, told: PolicyEvent) -> None:
        rule, pack = told.policy_name, told.policy_pack_name
        resource = Resource(told.resource_urn) if told.resource_urn else None
        facts = facts_of(rule, pack)
        message = clean(told.message)
        if message.startswith(_NOT_RUN):
            why = message.partition(_NOT_RUN_REASON)[2] or message
            self.not_run.append(NotRun(rule=rule, pack=pack, resource=resource, why=why))
            return
        self.findings.append(
            Violation(
                rule=rule,
                pack=pack,
                severity=facts.severity,
                mandatory=told.enforcement_level == "mandatory",
                resource=resource,
                # The engine puts the rule's description before what the rule has to say.
                message=message.removeprefix(facts.description).strip() or message,
                remedy=facts.remedy,
                url=facts.url,
            )
        )

    def _diagnostic(self, told: DiagnosticEvent) -> None:
        message = clean(told.message)
        if told.severity == "error" and message:
            about = Resource(told.urn) if told.urn else None
            known = about and about.type != _STACK
            self.errors.append(f"{about.name}: {message}" if about and known else message)


def _is_the_engines_own(told: StepEventMetadata) -> bool:
    """What nobody has written down: the stack itself, and the providers that are there anyway."""
    name = Resource(told.urn).name
    kind: Any = told.type
    return kind == _STACK or (kind.startswith("pulumi:providers:") and name.startswith("default"))
