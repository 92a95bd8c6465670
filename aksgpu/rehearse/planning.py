"""What an update of a rehearsed stack would do, and what the policy pack says of it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from aksgpu.outcome import Cause, Finding, StoppedError
from aksgpu.policy_configuration import mistake_in
from aksgpu.preflight.rows import About, Row
from aksgpu.rehearsal_stage import Stage
from aksgpu.rehearse import state
from aksgpu.review.automation import Place, preview
from aksgpu.review.losses import lost_pools
from aksgpu.review.model import LostPool, Violation
from aksgpu.review.rules import facts_of
from aksgpu.review.seen import Seen
from aksgpu.stack_names import policies_file
from engine.progress import Progress, to_stderr
from policies.configuration import mistakes_in
from policies.pools import is_pool

_QUESTION = "rules"


@dataclass(frozen=True)
class Plan:
    stack: str
    seen: Seen
    # Why the preview failed.
    problems: list[Finding] = field(default_factory=list)

    @property
    def is_idle(self) -> bool:
        """Whether the cloud has it all, as the stack file says."""
        return self.seen.is_idle and not self.problems and not self.refusals

    @property
    def refusals(self) -> list[Violation]:
        return [finding for finding in self.seen.findings if finding.mandatory]

    @property
    def losses(self) -> list[LostPool]:
        """The GPU pools that go."""
        return lost_pools(self.stack, self.seen.steps.values(), ())

    @property
    def drift(self) -> str:
        """What was changed past Pulumi, and is put back; empty where nothing was."""
        said = [
            f"{where.name} ({where.type.rpartition(':')[2]}) "
            + ("was gone" if properties is None else f"had another {', '.join(properties)}")
            for where, properties in self.seen.put_back
        ]
        return f"Drift, which is put back: {'; '.join(said)}." if said else ""

    @property
    def in_words(self) -> str:
        """How many resources change, and what the policy pack advises."""
        kinds = Counter(change.kind for change in self.seen.changes)
        counts = [f"{number} to {kind}" for kind, number in kinds.items()]
        counts += [f"{self.seen.unchanged} unchanged"] if self.seen.unchanged else []
        line = f"Resources: {', '.join(counts) or 'none'}"
        rules = sorted({finding.rule for finding in self.seen.findings if not finding.mandatory})
        if not rules:
            return line
        review = f".venv/bin/aksgpu review --offline --stack {self.stack}"
        return f"{line}\nAdvisory findings: {', '.join(rules)}; to read them: {review}"

    def rows(self) -> Iterator[Row]:
        """What the preview says, as answers of a preflight."""
        for refusal in self.refusals:
            where = refusal.resource
            pool = where.name if where and is_pool(where.type) else ""
            about = f" ({where.name})" if where and not pool else ""
            what = f"{refusal.rule}{about}: {refusal.message}"
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
    """Previews a stack under the policy pack. Raises StoppedError where the pack cannot be asked.

    With `refresh` the cloud is asked first what it has of the stack.
    """
    configuration = stage.project.configuration_of_the_pack(stack)
    if configuration is not None:
        refuse_mistakes(configuration)
    place = Place(stage.engine, stage.pulumi())
    with Progress(f"Previewing {stack} under the policy pack", to_stderr):
        return Plan(
            stack, *preview(place, stack, stage.project.pack, configuration, refresh=refresh)
        )


def rows_of_rules(stage: Stage, stack: str) -> list[Row]:
    """What the pack says of a stack, whether it has been rehearsed or not."""
    stage.project.write_stack(stack)
    state.begun(stage.pulumi(), stack)
    return [*plan(stage, stack).rows()]


def remedy(refusal: Violation, stack: str) -> str:
    """What to do about a broken rule: in the stack file, or in the pack's configuration for it."""
    settings = ", ".join(facts_of(refusal.rule, refusal.pack).settings)
    file = policies_file(Path(), stack).name
    page = f"docs/reference/rules.md#{refusal.rule}"
    return f"{refusal.remedy} The rule's settings ({settings}) go into {file}: {page}".strip()


def refuse_mistakes(configuration: Path) -> None:
    """Raises StoppedError with the mistakes of a configuration of the pack."""
    try:
        mistakes = mistakes_in(configuration.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        mistakes = [f"it cannot be read: {error}"]
    if mistakes:
        raise StoppedError(*(mistake_in(configuration.name, mistake) for mistake in mistakes))
