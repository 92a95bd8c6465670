"""Reviews stacks one by one; every failure becomes a part of the review."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aksgpu.allowances import Allowance
from aksgpu.outcome import Cause, Finding, StoppedError
from aksgpu.pack_configuration import mistakes_in
from aksgpu.policy_configuration import mistake_in
from aksgpu.preflight.stack_file import configuration_of
from aksgpu.project import Project, stack_files
from aksgpu.rehearsal_stage import PROGRAM, pulumi_in
from aksgpu.report import findings_of
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
from aksgpu.running import ProgramError
from aksgpu.stack_names import mistake_in_name, policies_file, short_name, stack_file
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
    read_project,
)
from stack_settings.stack_file import read as read_stack_file

# Waits until no other review uses the home.
Home = Callable[[], Path]

_PACK = PROGRAM / "policies"


@dataclass(frozen=True)
class _Files:
    """A stack's file now, and its text at the base."""

    now: StackFile
    base: str | None


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

    @cached_property
    def project_at_base(self) -> Mapping[str, Any]:
        return project_in(content_at(self.project, self.base, "Pulumi.yaml") or b"")


def review_stacks(options: ReviewOptions, say: Say) -> Review:
    rehearsed = is_rehearsal(os.environ.get("ARM_METADATA_HOSTNAME", ""))
    review = Review(offline=options.offline, rehearsed=rehearsed, base=options.base)
    # A rehearsal has no organizations: `organization/project/stack` becomes `stack`.
    names = [short_name(name) if options.offline else name for name in options.stacks]
    review.stacks = [StackReview(stack=stack) for stack in dict.fromkeys(names)]
    try:
        with ExitStack() as contexts:
            engine = ensure_engine(say)
            # Asked for once there is something to preview: other reviews may use it.
            home = cache(lambda: contexts.enter_context(sole_home(say)))
            for stack in review.stacks:
                if mistake := mistake_in_name(short_name(stack.stack)):
                    _add_problem([stack], Cause.STACK_MISSING, *mistake)
                    continue
                try:
                    _review(stack, options, engine, home, say)
                except EngineUnavailableError:
                    raise
                # Continue with the other stacks.
                except Exception as error:
                    _add_crash([stack], error)
    except EngineUnavailableError as error:
        advice = "do as it says, and run it again"
        _add_problem(review.stacks, Cause.ENGINE_UNAVAILABLE, clean(str(error)), advice)
    except KeyboardInterrupt:
        advice = "run it again"
        _add_problem(_unfinished(review), Cause.INTERRUPTED, "the review was interrupted", advice)
    except Exception as error:
        _add_crash(_unfinished(review), error)
    return review


def _add_crash(stacks: Sequence[StackReview], error: Exception) -> None:
    """A bug in the review is reported too: there is always a report."""
    what = clean(f"the review itself failed: {type(error).__name__}: {error}")
    _add_problem(stacks, Cause.PREVIEW_FAILED, what, "report this as a bug")


def _unfinished(review: Review) -> list[StackReview]:
    return [stack for stack in review.stacks if stack.pools is None and not stack.problems]


def _add_problem(stacks: Sequence[StackReview], cause: Cause, what: str, advice: str) -> None:
    for stack in stacks:
        stack.problems.append(Finding(cause, what, advice))


def _review(
    review: StackReview, options: ReviewOptions, engine: Engine, home: Home, say: Say
) -> None:
    try:
        files = _files(options, review.stack)
        _refuse_mistakes(files.now, options.project)
        criteria = _criteria(review, options, files)
        with (
            _place(review, options, files, engine, home, say) as place,
            _temporary_file(criteria.configuration) as configuration,
            Progress(f"Previewing {review.stack}", say),
        ):
            seen, problems = preview(place, review.stack, _PACK, configuration)
        review.changes, review.unchanged = seen.changes, seen.unchanged
        findings = seen.findings
        if not criteria.allows_retired:
            findings = refuse_new(findings, seen.steps)
        review.findings = sorted(findings, key=_severity)
        review.not_run = sorted(seen.not_run, key=lambda rule: (rule.rule, rule.resource or ("",)))
        review.lost = lost_pools(short_name(review.stack), seen.steps.values(), options.allowed)
        review.notes += other_losses(seen.steps.values())
        review.notes += reimages(seen.steps.values())
        review.notes += _unused(review, options.allowed)
        review.problems += problems
        # A failed preview is incomplete.
        if not problems:
            review.pools = pool_changes(seen.steps.values(), review.lost)
            say("Reading Azure's price list")
            review.costs = costs(seen.steps.values())
    except (ProgramError, StackFileError, StoppedError) as error:
        review.problems += [
            replace(finding, what=clean(finding.what)) for finding in findings_of(error)
        ]


def _refuse_mistakes(file: StackFile, project: Path) -> None:
    """Raises with all mistakes of a stack file: the engine reports only the first."""
    # Pulumi resolves values from an ESC environment; they are not known here.
    with suppress(EscEnvironmentError):
        if Project(project, project).main == PROGRAM and file.content:
            configuration_of(file)


def _criteria(review: StackReview, options: ReviewOptions, files: _Files) -> Criteria:
    """The criteria for the stack: a change to them applies only if it is allowed.

    Adds such changes, and the mistakes in them, to the review.
    """
    stack = review.stack
    file = policies_file(options.stack_files, stack)
    base = None
    if options.base:
        retired = False
        # Mistakes in the base are reported when it is brought up.
        with suppress(StackFileError):
            retired = parse(files.base or "", file.name).allows_retired
        base = Criteria(_at_base(options, file.name), retired)
    text = None
    if file.exists():
        try:
            text = read_own(file).decode()
            mistakes = mistakes_in(text)
        except (OSError, UnicodeDecodeError) as error:
            mistakes = [f"It cannot be read: {error}"]
        review.problems += [mistake_in(file.name, mistake) for mistake in mistakes]
    now = Criteria(text, files.now.allows_retired)
    criteria, review.policy_changes = criteria_of(short_name(stack), now, base, options.allowed)
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
    review: StackReview,
    options: ReviewOptions,
    files: _Files,
    engine: Engine,
    home: Home,
    say: Say,
) -> Iterator[Place]:
    """Where to run the preview: in the project, or on a rehearsal cloud."""
    if not options.offline:
        # With the user's backend and credentials.
        yield Place(engine, pulumi_in(engine, options.project))
        return
    name = stack_file(options.stack_files, review.stack).name
    if options.base and files.base is None:
        review.notes.append(f"{options.base} has no {name}: everything is new.")
    project = Project(options.project, home())
    with rehearsed(review, project, files.base, engine, say) as place:
        yield place


def _runtime(project: Mapping[str, Any]) -> Any:
    """What runs a program: a language, with options."""
    runtime = project.get("runtime")
    return {"name": runtime} if isinstance(runtime, str) else runtime


def _at_base(options: ReviewOptions, name: str) -> str | None:
    """The text of a stack's file at the base; None if there is none."""
    if not options.base:
        return None
    content = content_at(
        options.project, options.base, f"{folder_of_stacks(options.project_at_base)}/{name}"
    )
    return None if content is None else content.decode("utf-8-sig", errors="replace")


def _files(options: ReviewOptions, stack: str) -> _Files:
    file = stack_file(options.stack_files, stack)
    base = _at_base(options, file.name)
    try:
        return _Files(read_stack_file(file), base)
    except NoStackFileError:
        # The backend may have the stack; a rehearsal knows only files.
        if options.offline:
            raise
        return _Files(StackFile({}), base)
