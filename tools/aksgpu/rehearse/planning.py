"""What an update of a rehearsed stack would do, with the findings of the policy pack."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from aks_catalogue.nodes import INLINE_POOLS
from aks_pools.pools import is_pool
from aksgpu.outcome import Cause, Finding, StoppedError
from aksgpu.pack_configuration import findings_in, mistake_in
from aksgpu.preflight.rows import About, Row
from aksgpu.rehearsal_stage import PROGRAM, Stage, command_line, is_of_others
from aksgpu.rehearse import state
from aksgpu.review.automation import Place, preview
from aksgpu.review.losses import lost_pools
from aksgpu.review.model import LostPool, Violation
from aksgpu.review.preview_result import PreviewResult
from aksgpu.review.rules import facts_of
from aksgpu.stack_names import policies_file
from machine_setup.progress import Progress, to_stderr

_QUESTION = "rules"
_OF_AZURE_NATIVE = (
    f"If nobody changed {INLINE_POOLS}: a refresh of azure-native puts pools that are resources of "
    "their own into that list, which is its fault, not yours."
)


@dataclass(frozen=True)
class Plan:
    stack: str
    result: PreviewResult
    # Why the preview failed.
    problems: list[Finding] = field(default_factory=list)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to change."""
        return self.result.is_idle and not self.problems and not self.refusals

    @property
    def refusals(self) -> list[Violation]:
        return [finding for finding in self.result.findings if finding.mandatory]

    @property
    def losses(self) -> list[LostPool]:
        """The GPU pools that are lost."""
        return lost_pools(self.stack, self.result.steps.values(), ())

    @property
    def drift(self) -> str:
        """What was changed outside of Pulumi and is reverted now; empty if nothing was."""
        changes = [
            f"{resource.name} ({resource.type.rpartition(':')[2]}) "
            + ("was deleted" if properties is None else f"had another {', '.join(properties)}")
            for resource, properties in self.result.reverted_drift
        ]
        if not changes:
            return ""
        words = f"Drift, which this update reverts: {'; '.join(changes)}."
        return f"{words} {_OF_AZURE_NATIVE}" if self._has_listed_pools else words

    @property
    def _has_listed_pools(self) -> bool:
        """Whether azure-native has put pools of their own into the list of their cluster."""
        return any(
            resource.type.startswith("azure-native:") and name.startswith(f"{INLINE_POOLS}[")
            for resource, properties in self.result.reverted_drift
            for name in properties or ()
        )

    @property
    def in_words(self) -> str:
        """How many resources change, and what the policy pack advises."""
        kinds = Counter(change.kind for change in self.result.changes)
        counts = [f"{number} to {kind}" for kind, number in kinds.items()]
        counts += [f"{self.result.unchanged} unchanged"] if self.result.unchanged else []
        line = f"Resources: {', '.join(counts) or 'none'}"
        return "\n".join(filter(None, (line, self.advice)))

    @property
    def advice(self) -> str:
        """Which rules of the policy pack advise something; empty if none does."""
        rules = sorted({finding.rule for finding in self.result.findings if not finding.mandatory})
        review = command_line("review", "--offline", stack=self.stack)
        return f"Advisory findings: {', '.join(rules)}; to read them: {review}" if rules else ""

    def rows(self) -> Iterator[Row]:
        """The findings of the preview, as answers of a preflight."""
        for refusal in self.refusals:
            resource = refusal.resource
            pool = resource.name if resource and is_pool(resource.type) else ""
            name = f" ({resource.name})" if resource and not pool else ""
            what = f"{refusal.rule}{name}: {refusal.message}"
            yield About(_QUESTION, pool).problem(
                Cause.RULE_BROKEN, what, remedy(refusal, self.stack)
            )
        for problem in self.problems:
            yield About("preview", key=problem.key).problem(
                problem.cause, problem.what, problem.advice
            )
        if not self.refusals and not self.problems:
            yield About(_QUESTION).ok("no mandatory rule of the policy pack is broken")


def plan(stage: Stage, stack: str, *, refresh: bool = False) -> Plan:
    """Previews a stack with the policy pack. Raises StoppedError if its configuration is invalid.

    `refresh` reads the actual state from the cloud first.
    """
    configuration = configuration_of_the_pack(stage, stack)
    # Another pack's configuration has rules that ours does not know.
    is_ours = not is_of_others() or stage.project.pack == PROGRAM / "policies"
    if configuration is not None and is_ours:
        refuse_mistakes(configuration)
    place = Place(stage.engine, stage.pulumi())
    pack = stage.project.pack
    with Progress(f"Previewing {stack}{' with the policy pack' if pack else ''}", to_stderr):
        return Plan(stack, *preview(place, stack, pack, configuration, refresh=refresh))


def configuration_of_the_pack(stage: Stage, stack: str) -> Path | None:
    """The stack's configuration of the pack; Pulumi refuses one where there is no pack."""
    project = stage.project
    return project.configuration_of_the_pack(stack) if project.pack else None


def rows_of_rules(stage: Stage, stack: str) -> list[Row]:
    """The findings of the pack for a stack, whether or not it has been rehearsed."""
    stage.project.write_stack(stack)
    state.read_or_init(stage.pulumi(), stack)
    return [*plan(stage, stack).rows()]


def remedy(refusal: Violation, stack: str) -> str:
    """What to do about a broken rule: in the stack file, or in the pack's configuration."""
    settings = ", ".join(facts_of(refusal.rule, refusal.pack).settings)
    file = policies_file(Path(), stack).name
    page = f"docs/reference/rules.md#{refusal.rule}"
    return f"{refusal.remedy} The rule's settings ({settings}) go into {file}: {page}".strip()


def refuse_mistakes(configuration: Path) -> None:
    """Raises StoppedError with the mistakes in a configuration of the pack."""
    try:
        mistakes = findings_in(configuration.name, configuration.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        mistakes = [mistake_in(configuration.name, f"it cannot be read: {error}")]
    if mistakes:
        raise StoppedError(*mistakes)
