"""Reviews stacks one by one; every failure becomes a part of the review."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from aksgpu.allowances import Allowance
from aksgpu.outcome import Cause, Finding
from aksgpu.pack_configuration import findings_in, mistake_in
from aksgpu.preflight.stack_file import configuration_of
from aksgpu.project import Project, stack_files
from aksgpu.rehearsal_stage import PROGRAM, pulumi_in, require_name
from aksgpu.report import FAILURES, findings_of
from aksgpu.review.automation import Place, preview
from aksgpu.review.costs import costs
from aksgpu.review.git import content_at
from aksgpu.review.judging import Criteria, criteria_of
from aksgpu.review.losses import lost_pools, other_losses
from aksgpu.review.masking import clean
from aksgpu.review.model import SEVERITIES, Review, StackReview, Violation
from aksgpu.review.offline import rehearsed, sole_home
from aksgpu.review.pools import pool_changes
from aksgpu.review.reimages import reimages
from aksgpu.review.retirements import refuse_new
from aksgpu.stack_names import policies_file, short_name, stack_file
from machine_setup import Engine, EngineUnavailableError, ensure_engine
from machine_setup.cache import Say
from machine_setup.progress import Progress
from rehearsal.cloud import is_rehearsal
from stack_settings.own_file import read_own
from stack_settings.stack_file import (
    EscEnvironmentError,
    NoStackFileError,
    StackFile,
    StackFileError,
    folder_of_stacks,
    parse,
    project_in,
)
from stack_settings.stack_file import read as read_stack_file

_PACK = PROGRAM / "policies"


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    stacks: Sequence[str]
    # The folder of the Pulumi project.
    project: Path
    offline: bool
    # A commit to compare with; empty for none.
    base: str
    allowed: Sequence[Allowance]

    @property
    def stack_files(self) -> Path:
        return stack_files(self.project)

    def at_base(self, name: str) -> str | None:
        """The text of a stack's file at the base; None if there is none."""
        if not self.base:
            return None
        project = project_in(content_at(self.project, self.base, "Pulumi.yaml") or b"")
        file = f"{folder_of_stacks(project)}/{name}"
        content = content_at(self.project, self.base, file)
        return None if content is None else content.decode("utf-8-sig", errors="replace")


def review_stacks(options: ReviewOptions, say: Say) -> Review:
    rehearsed = is_rehearsal(os.environ.get("ARM_METADATA_HOSTNAME", ""))
    review = Review(offline=options.offline, rehearsed=rehearsed, base=options.base)
    # A rehearsal has no organizations: `organization/project/stack` becomes `stack`.
    names = [short_name(name) if options.offline else name for name in options.stacks]
    review.stacks = [StackReview(stack=stack) for stack in dict.fromkeys(names)]
    try:
        engine = ensure_engine(say)
        for stack in review.stacks:
            try:
                require_name(stack.stack)
                _review(stack, options, engine, say)
            except FAILURES as error:
                stack.problems += [
                    replace(finding, what=clean(finding.what)) for finding in findings_of(error)
                ]
            # There is always a report; and the other stacks are reviewed.
            except Exception as error:
                what = clean(f"the review itself failed: {type(error).__name__}: {error}")
                stack.problems.append(Finding(Cause.PREVIEW_FAILED, what, "report this as a bug"))
    except EngineUnavailableError as error:
        for stack in review.stacks:
            stack.problems += findings_of(error)
    except KeyboardInterrupt:
        interrupted = Finding(Cause.INTERRUPTED, "the review was interrupted", "run it again")
        for stack in review.stacks:
            if stack.pools is None and not stack.problems:
                stack.problems.append(interrupted)
    return review


def _review(review: StackReview, options: ReviewOptions, engine: Engine, say: Say) -> None:
    file = _stack_file(options, review.stack)
    _refuse_mistakes(file, options.project)
    base = options.at_base(stack_file(Path(), review.stack).name)
    criteria = _criteria(review, options, file, base)
    with (
        _place(review, options, base, engine, say) as place,
        _temporary_file(criteria.configuration) as configuration,
        Progress(f"Previewing {review.stack}", say),
    ):
        seen, problems = preview(place, review.stack, _PACK, configuration)
    steps = seen.steps.values()
    review.changes, review.unchanged = seen.changes, seen.unchanged
    findings = seen.findings
    if not criteria.allows_retired:
        findings = refuse_new(findings, seen.steps)
    review.findings = sorted(findings, key=_severity)
    review.not_run = sorted(
        seen.not_run, key=lambda rule: (rule.rule, rule.resource.urn if rule.resource else "")
    )
    review.lost = lost_pools(short_name(review.stack), steps, options.allowed)
    review.notes += [*other_losses(steps), *reimages(steps), *_unused(review, options.allowed)]
    review.problems += problems
    # A failed preview is incomplete.
    if not problems:
        review.pools = pool_changes(steps, review.lost)
        say("Reading Azure's price list")
        review.costs = costs(steps)


def _stack_file(options: ReviewOptions, stack: str) -> StackFile:
    try:
        return read_stack_file(stack_file(options.stack_files, stack))
    except NoStackFileError:
        # The backend may have the stack; a rehearsal knows only files.
        if options.offline:
            raise
        return StackFile({})


def _refuse_mistakes(file: StackFile, project: Path) -> None:
    """Raises with all mistakes of a stack file: the engine reports only the first."""
    # Pulumi resolves values from an ESC environment; they are not known here.
    with suppress(EscEnvironmentError):
        if Project(project, project).main == PROGRAM and file.content:
            configuration_of(file, project)


def _criteria(
    review: StackReview, options: ReviewOptions, stack_file: StackFile, text_at_base: str | None
) -> Criteria:
    """The criteria for the stack: a change to them applies only if it is allowed.

    Adds such changes, and the mistakes in them, to the review.
    """
    file = policies_file(options.stack_files, review.stack)
    base = None
    if options.base:
        retired = False
        # Mistakes in the base are reported when it is brought up.
        with suppress(StackFileError):
            retired = parse(text_at_base or "", file.name).allows_retired
        base = Criteria(options.at_base(file.name), retired)
    text = None
    if file.exists():
        try:
            text = read_own(file).decode()
            review.problems += findings_in(file.name, text)
        except (OSError, UnicodeDecodeError) as error:
            review.problems.append(mistake_in(file.name, f"It cannot be read: {error}"))
    now = Criteria(text, stack_file.allows_retired)
    criteria, review.policy_changes = criteria_of(
        short_name(review.stack), now, base, options.allowed
    )
    return criteria


@contextmanager
def _temporary_file(configuration: str | None) -> Iterator[Path | None]:
    """A file with this text, for the engine."""
    if configuration is None:
        yield None
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "policies.json"
        file.write_text(configuration, encoding="utf-8")
        yield file


def _severity(finding: Violation) -> tuple[int, bool, str, str]:
    """Most severe first; of the same severity, mandatory findings first."""
    severity = SEVERITIES.index(finding.severity) if finding.severity in SEVERITIES else -1
    resource = finding.resource.urn if finding.resource else ""
    return severity, not finding.mandatory, finding.rule, resource


def _unused(review: StackReview, allowed: Sequence[Allowance]) -> Iterator[str]:
    """A note for each allowance that this change does not need: it may be misspelled."""
    used = {lost.allowance for lost in review.lost}
    if review.policy_changes and review.policy_changes.changes:
        used.add(review.policy_changes.allowance)
    for allowance in allowed:
        if allowance.stack == short_name(review.stack) and str(allowance) not in used:
            yield f"--allow {allowance} allows nothing that this change does."


@contextmanager
def _place(
    review: StackReview, options: ReviewOptions, base: str | None, engine: Engine, say: Say
) -> Iterator[Place]:
    """Where to run the preview: in the project, or on a rehearsal cloud."""
    if not options.offline:
        # With the user's backend and credentials.
        yield Place(engine, pulumi_in(engine, options.project))
        return
    if options.base and base is None:
        name = stack_file(Path(), review.stack).name
        review.notes.append(f"{options.base} has no {name}: everything is new.")
    with (
        sole_home(say) as home,
        rehearsed(review, Project(options.project, home), base, engine, say) as place,
    ):
        yield place
