"""Reviews stacks, one after the other; whatever goes wrong becomes a part of the review."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from aksgpu.allowances import Allowance
from aksgpu.outcome import Cause, Finding, StoppedError
from aksgpu.policy_configuration import mistake_in
from aksgpu.preflight.stack_file import configuration_of
from aksgpu.project import Project, stack_files
from aksgpu.rehearsal_stage import PROGRAM, pulumi_in
from aksgpu.report import findings_of, findings_of_mistakes
from aksgpu.review.automation import Place, preview
from aksgpu.review.costs import costs
from aksgpu.review.git import content_at, path_in_repository
from aksgpu.review.judging import Criteria, Judging, judging
from aksgpu.review.losses import forgotten_pools, lost_pools
from aksgpu.review.masking import clean
from aksgpu.review.model import Review, StackReview
from aksgpu.review.offline import rehearsed, sole_home
from aksgpu.review.pools import count_gpus, pool_changes
from aksgpu.review.retirements import refuse_new
from aksgpu.review.seen import Seen, Step, inputs_of
from aksgpu.review.wording import by_severity
from aksgpu.running import ProgramError
from aksgpu.stack_names import policies_file, short_name, stack_file
from engine import Engine, EngineUnavailableError, ensure_engine
from engine.cache import Say
from engine.progress import Progress
from policies.configuration import mistakes_in
from settings.project_file import project_in, read_project
from settings.stack_file import (
    ElsewhereError,
    NoStackFileError,
    StackFile,
    StackFileError,
    parse,
)
from settings.stack_file import read as read_stack_file
from settings.yaml_text import NoYamlError, decoded

_PACK = PROGRAM / "policies"
# What happens where a change takes a stack file away.
_LEFT_BEHIND = (
    "What the stack has made stays in Azure and is paid for, and no stack has a hold on it: "
    "destroy the stack first."
)
# The inputs by which a stack file may speak of a resource.
_NAMES = ("agentPoolName", "resourceName", "resourceGroupName")


@dataclass(frozen=True)
class _Files:
    """A stack's file as it is, and its text as it was at the base."""

    now: StackFile
    base: str | None
    # The change takes the file away: it is taken as it was.
    goes: bool


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    stacks: Sequence[str]
    # The folder of the Pulumi project.
    project: Path
    offline: bool
    # A commit; empty: from nothing.
    base: str
    allowed: Sequence[Allowance]

    @property
    def stack_files(self) -> Path:
        return stack_files(self.project)

    @cached_property
    def stack_files_at_base(self) -> str:
        """Where the project had its stack files then, from its own folder."""
        project = content_at(self.project, self.base, "Pulumi.yaml") or b""
        return project_in(project).folder_of_stacks


def review_stacks(options: ReviewOptions, say: Say) -> Review:
    review = Review(offline=options.offline, base=options.base)
    # In a rehearsal there are no organisations: `organisation/project/stack` is the stack alone.
    named = [short_name(name) if options.offline else name for name in options.stacks]
    review.stacks = [
        StackReview(stack=stack, file=path_in_repository(stack_file(options.stack_files, stack)))
        for stack in dict.fromkeys(named)
    ]
    try:
        with ExitStack() as until_the_end:
            engine = ensure_engine(say)
            home = until_the_end.enter_context(sole_home(say)) if options.offline else None
            for stack in review.stacks:
                try:
                    _review(stack, options, engine, home, say)
                except EngineUnavailableError:
                    raise
                # The stacks after this one are reviewed all the same.
                except Exception as error:
                    _is_at_fault([stack], error)
    except EngineUnavailableError as error:
        advice = "do as it says, and run it again"
        _all_have(review.stacks, Cause.ENGINE_UNAVAILABLE, clean(str(error)), advice)
    except KeyboardInterrupt:
        advice = "run it again: what there is to know was not found out"
        _all_have(_unfinished(review), Cause.INTERRUPTED, "the review was interrupted", advice)
    except Exception as error:
        _is_at_fault(_unfinished(review), error)
    return review


def _is_at_fault(stacks: Sequence[StackReview], error: Exception) -> None:
    """A report is written in every case, also where this program is at fault."""
    what = clean(f"the review itself failed: {type(error).__name__}: {error}")
    _all_have(stacks, Cause.PREVIEW_FAILED, what, "report this as a mistake in it")


def _unfinished(review: Review) -> list[StackReview]:
    return [stack for stack in review.stacks if stack.gpus is None and not stack.problems]


def _all_have(stacks: Sequence[StackReview], cause: Cause, what: str, advice: str) -> None:
    for stack in stacks:
        stack.problems.append(Finding(cause, what, advice))


def _review(
    review: StackReview, options: ReviewOptions, engine: Engine, home: Path | None, say: Say
) -> None:
    file = StackFile({})
    try:
        files = _files(options, review.stack)
        file = files.now
        if not files.goes:
            _refuse_mistakes(file, options.project)
        review.judging = judged = _judging(review, options, files)
        with (
            _place(review, options, files, engine, home, say) as place,
            _written(judged.by.configuration) as configuration,
            Progress(f"Previewing {review.stack}", say),
        ):
            seen, problems = preview(place, review.stack, _PACK, configuration)
        review.changes, review.unchanged = seen.changes, seen.unchanged
        findings = seen.findings
        if not judged.by.allows_retired:
            findings = refuse_new(findings, seen.steps)
        review.findings = by_severity(findings)
        review.not_run = sorted(seen.not_run, key=lambda rule: (rule.rule, rule.resource or ("",)))
        losses = forgotten_pools if files.goes else lost_pools
        review.lost = losses(short_name(review.stack), seen.steps.values(), options.allowed)
        review.notes += _unused(review, options.allowed)
        review.problems += problems
        # A preview that failed shows only a part.
        if not problems:
            review.gpus = count_gpus(seen.steps.values())
            review.pools = pool_changes(seen.steps.values(), review.lost)
            say("Reading Azure's price list")
            review.costs = costs(seen.steps.values())
        _find_lines(review, file, seen)
    except (ProgramError, StackFileError, StoppedError) as error:
        review.problems += [
            replace(finding, what=clean(finding.what)) for finding in findings_of(error)
        ]
    keys = [problem.key for problem in review.problems]
    keys += [row.key for row in review.preflight.rows] if review.preflight else []
    for key in filter(None, keys):
        if written := file.place_of_key(key):
            review.lines[key] = written.line
    # Of a key that stands twice, the second is meant.
    review.lines |= {each.key: each.line for each in review.problems if each.key and each.line}


def _refuse_mistakes(file: StackFile, project: Path) -> None:
    """Raises with all mistakes of a stack file at once: the engine tells the first, and no key."""
    # In Azure, Pulumi knows the values that are elsewhere.
    with suppress(ElsewhereError):
        if Project(project, project).main == PROGRAM and file.content:
            configuration_of(file, project)
    if wrong := file.mistakes(read_project(project)):
        raise StoppedError(*findings_of_mistakes(wrong))


def _judging(review: StackReview, options: ReviewOptions, files: _Files) -> Judging:
    """By what the stack is judged: what a change brings for that counts where it is allowed."""
    stack = review.stack
    own = policies_file(options.stack_files, stack)
    there = None
    if options.base:
        retired = False
        # What is wrong with it is told when it is brought up.
        with suppress(StackFileError):
            retired = parse(files.base or "", own.name).allows_retired
        there = Criteria(_at_base(options, own.name), retired)
    text = None
    if own.exists() and not files.goes:
        try:
            text = own.read_text(encoding="utf-8")
            mistakes = mistakes_in(text)
        except (OSError, UnicodeDecodeError) as error:
            mistakes = [f"It cannot be read: {error}"]
        review.problems += [mistake_in(own.name, mistake) for mistake in mistakes]
    now = there if files.goes and there else Criteria(text, files.now.allows_retired)
    return judging(short_name(stack), now, there, options.allowed)


@contextmanager
def _written(configuration: str | None) -> Iterator[Path | None]:
    """A file with that text, for the engine."""
    if configuration is None:
        yield None
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "policies.json"
        file.write_text(configuration, encoding="utf-8")
        yield file


def _unused(review: StackReview, allowed: Sequence[Allowance]) -> Iterator[str]:
    """What was allowed here and does not happen: it may be misspelt."""
    used = {lost.allowance for lost in review.lost}
    if review.judging and review.judging.brought:
        used.add(review.judging.allowance)
    for allowance in allowed:
        if allowance.stack == short_name(review.stack) and allowance not in used:
            yield f"--allow {allowance} allows nothing that this change does."


@contextmanager
def _place(
    review: StackReview,
    options: ReviewOptions,
    files: _Files,
    engine: Engine,
    home: Path | None,
    say: Say,
) -> Iterator[Place]:
    """Where the preview is made: in the project as it is, or on a rehearsal cloud."""
    if home is None:
        # With whatever backend and credentials its user has.
        yield Place(engine, pulumi_in(engine, options.project))
        return
    name = stack_file(options.stack_files, review.stack).name
    if options.base and files.base is None:
        review.notes.append(f"{options.base} has no {name}: everything is new.")
    if files.goes:
        review.notes.append(f"{name} goes. {_LEFT_BEHIND}")
    now, project = files.base if files.goes else None, Project(options.project, home)
    with rehearsed(review, project, files.base, now, engine, say) as place:
        yield place


def _at_base(options: ReviewOptions, name: str) -> str | None:
    """A stack's file as it was; None where there was none."""
    if not options.base:
        return None
    content = content_at(options.project, options.base, f"{options.stack_files_at_base}/{name}")
    if content is None:
        return None
    try:
        return decoded(content)
    except NoYamlError:
        # Who reads it tells what is wrong.
        return content.decode(errors="replace")


def _files(options: ReviewOptions, stack: str) -> _Files:
    file = stack_file(options.stack_files, stack)
    base = _at_base(options, file.name)
    try:
        return _Files(read_stack_file(file), base, goes=False)
    except NoStackFileError:
        # The engine may know the stack; a rehearsal has its file only.
        if not options.offline:
            return _Files(StackFile({}), base, goes=False)
        if base is None:
            raise
        return _Files(parse(base, file.name), base, goes=True)


def _find_lines(review: StackReview, file: StackFile, seen: Seen) -> None:
    told = [finding.resource for finding in review.findings]
    told += [rule.resource for rule in review.not_run]
    for resource in {*filter(None, told), *(lost.resource for lost in review.lost)}:
        names = [resource.name, *_names(seen.steps.get(resource.urn))]
        if line := file.line_of_name(*names):
            review.lines[resource.urn] = line


def _names(step: Step | None) -> Iterator[str]:
    for state in (step.new, step.old) if step else ():
        inputs = inputs_of(state)
        yield from (str(inputs[name]) for name in _NAMES if name in inputs)
