"""A place for a review without Azure: a rehearsal cloud of its own, for one stack, for a while."""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from aksgpu.outcome import Cause, StoppedError, stopped
from aksgpu.preflight import owned, stack_file
from aksgpu.preflight.access import of_rehearsal
from aksgpu.preflight.preflight import Preflight, run
from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROGRAM, Era, pulumi_in, rehearsal_root
from aksgpu.review.automation import Place, bring_up, create
from aksgpu.review.model import StackReview
from catalogue.retirement import BEFORE_ANY
from catalogue.today import TODAY_VARIABLE
from engine import Engine, ensure_kubernetes
from engine.cache import Say, sole_use
from engine.progress import Progress
from rehearsal.cloud import Cloud, CloudError, refuse_other_systems, removed_afterwards
from rehearsal.cloud import start as start_cloud
from settings.stack_file import ElsewhereError, StackFileError

# The rehearsal's Azure is quick here: nobody watches it.
_TIME_SCALE = 0.01

_INVALID_BASE = (
    "The base's stack file is not valid, so nothing can have been made from it: everything is "
    "shown as created."
)
_STAND_INS = "Encrypted values are not known here, and stand-ins take their places"
_ENCRYPTED_ANEW = "What the change makes of these encrypted values does not show here"


@contextmanager
def sole_home(say: Say) -> Iterator[Path]:
    """Where offline reviews of this checkout live, one at a time; nothing of it is left."""
    refuse_other_systems()
    folder = rehearsal_root() / "build" / "review"
    with sole_use(folder, say):
        yield folder / ".rehearsal"


@contextmanager
def rehearsed(
    review: StackReview,
    project: Project,
    base: str | None,
    now: str | None,
    engine: Engine,
    say: Say,
) -> Iterator[Place]:
    """A place in which the stack is as the text `base` has it, and its file as it is now.

    `now` is a text in place of a file that is not there any more. Without a base there is nothing
    yet. The review gets what the reader of its report should know
    of that, and the preflight.
    """
    home, stack = project.home, review.stack
    try:
        # An earlier review that was killed may have left it.
        with removed_afterwards(home):
            era = _era(project, stack, base, now)
            # Without anything in it, a cloud needs no control planes.
            kubernetes = ensure_kubernetes(say).folder if base is not None else None
            cloud = start_cloud(home, _TIME_SCALE, era=era, kubernetes=kubernetes)
            environment = {**project.environment(), **cloud.environment()}
            # The reader of a review lives today, whatever era the stack is rehearsed in.
            environment.pop(TODAY_VARIABLE, None)
            place = Place(engine, pulumi_in(engine, project.folder, environment))
            project.write()
            notes = [] if base is None else _begin_from(place, cloud, project, stack, base, say)
            project.write_stack(stack, now)
            create(place, stack)
            review.notes += _of_secrets(project, stack, base, now)
            review.preflight = _preflight(project, stack, cloud, place, say)
            review.notes += notes
            yield place
    except CloudError as error:
        advice = "run it again: the rehearsal cloud is a process of this machine"
        raise stopped(Cause.CLOUD_UNREACHABLE, str(error), advice) from None


def _of_secrets(project: Project, stack: str, base: str | None, now: str | None) -> Iterator[str]:
    """What the reader should know of encrypted values: a review does not see what they do."""
    there, before = project.encrypted(stack, now), {}
    if there:
        yield f"{_STAND_INS}: {', '.join(there)}."
    # Of a base that cannot be read there is a note already.
    with suppress(StackFileError):
        before = project.encrypted(stack, base) if base is not None else there
    if other := [path for path in {**before, **there} if before.get(path) != there.get(path)]:
        yield f"{_ENCRYPTED_ANEW}: {', '.join(other)}."


def _begin_from(
    place: Place, cloud: Cloud, project: Project, stack: str, base: str, say: Say
) -> list[str]:
    """Brings the base up. A file that the program itself refuses has never been up anywhere."""
    try:
        project.write_stack(stack, base)
        with Progress(f"Bringing up the base of {stack} on the rehearsal cloud", say):
            # It was made when what it has was to be had.
            cloud.offer({"today": str(BEFORE_ANY), "anyGpuSize": True})
            bring_up(place, stack)
            cloud.offer({})
    except StoppedError as error:
        if {finding.cause for finding in error.findings} == {Cause.STACK_FILE_INVALID}:
            return [_INVALID_BASE]
        advice = "correct the base, or review without --base, where everything is created"
        raise stopped(Cause.BASE_FAILED, str(error), advice) from None
    except ElsewhereError as error:
        advice = "review without --base, where everything is created"
        raise stopped(Cause.BASE_FAILED, str(error), advice) from None
    except StackFileError:
        return [_INVALID_BASE]
    return []


def _preflight(
    project: Project, stack: str, cloud: Cloud, place: Place, say: Say
) -> Preflight | None:
    """The preflight of a stack of this program; None for others, and where its file is not valid.

    The preview tells the mistakes of such a file, each by its key.
    """
    if project.main != PROGRAM:
        return None
    try:
        settings = stack_file.read(project.program, stack).settings
    except (StackFileError, StoppedError):
        return None
    known = partial(owned.by_state, place.pulumi, stack)
    with Progress(f"Asking the rehearsal cloud about {stack}", say) as progress:
        # Its prices are made up.
        access = replace(of_rehearsal(cloud), prices=None)
        return run(stack, settings, access, known, progress.update)


def _era(project: Project, stack: str, base: str | None, now: str | None) -> Era:
    """The article's where either of the two asks for what is retired."""
    # What is wrong with the base is told when it is brought up.
    with contextlib.suppress(StackFileError):
        if base is not None and project.asks_for_retired(stack, base):
            return "article"
    return "article" if project.asks_for_retired(stack, now) else "today"
