"""A place for a review without Azure: a rehearsal cloud of its own, for one stack, for a while."""

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from aksgpu.preflight.preflight import Preflight
from aksgpu.project import Project, StackFileError
from aksgpu.rehearsal_stage import PROGRAM, Era
from aksgpu.review.asked import preflight
from aksgpu.review.automation import Place, bring_up, create
from aksgpu.review.causes import Cause, Problem, ReviewError
from aksgpu.review.masking import clean
from engine import Engine, ensure_kubernetes
from engine.cache import Say, sole_use
from engine.progress import Progress
from rehearsal.cloud import CloudError
from rehearsal.cloud import start as start_cloud
from rehearsal.cloud import stop as stop_cloud

# The rehearsal's Azure is quick here: nobody watches it.
_TIME_SCALE = 0.01

_INVALID_BASE = (
    "The base's stack file is not valid, so nothing can have been made from it: everything is "
    "shown as created."
)


@contextmanager
def sole_home(say: Say) -> Iterator[Path]:
    """Where offline reviews of this checkout live, one at a time; nothing of it is left."""
    folder = Path(os.environ.get("AKS_GPU_REHEARSAL_ROOT", PROGRAM)) / "build" / "review"
    with sole_use(folder, say):
        yield folder / ".rehearsal"


@dataclass(frozen=True)
class Rehearsed:
    """Where a stack is rehearsed."""

    place: Place
    # For the reader of the report.
    notes: Sequence[str]
    preflight: Preflight | None


@contextmanager
def rehearsed(
    home: Path, engine: Engine, program: Path, stack: str, base: str | None, say: Say
) -> Iterator[Rehearsed]:
    """A place in which the stack is as the text `base` has it, and its file as it is now.

    Without a base there is nothing yet.
    """
    project = Project(program, home)
    # An earlier review that was killed may have left it.
    _take_away(home)
    try:
        era = _era(project, stack, base)
        # Without anything in it, a cloud needs no control planes.
        kubernetes = ensure_kubernetes(say).folder if base is not None else None
        cloud = start_cloud(home, _TIME_SCALE, era=era, kubernetes=kubernetes)
        path = engine.on_path(os.environ.get("PATH", os.defpath))
        environment = {"PATH": path, **project.environment(), **cloud.environment()}
        place = Place(engine, home / "project", environment)
        project.write()
        notes = []
        if base is not None:
            notes = _begin_from(place, project, stack, base, say)
        project.write_stack(stack)
        create(place, stack)
        asked = preflight(project, stack, cloud, place, say)
        yield Rehearsed(place, notes, asked)
    except StackFileError as error:
        raise _cannot(Cause.STACK_FILE_INVALID, str(error), "do as it says") from None
    except CloudError as error:
        advice = "run it again: the rehearsal cloud is a process of this machine"
        raise _cannot(Cause.CLOUD_UNREACHABLE, str(error), advice) from None
    finally:
        _take_away(home)


def _begin_from(place: Place, project: Project, stack: str, base: str, say: Say) -> list[str]:
    """Brings the base up. A file that the program itself refuses has never been up anywhere."""
    try:
        project.write_stack(stack, base)
        with Progress(f"Bringing up the base of {stack} on the rehearsal cloud", say):
            bring_up(place, stack)
    except ReviewError as error:
        causes = {problem.cause for problem in error.problems}
        if causes == {Cause.STACK_FILE_INVALID}:
            return [_INVALID_BASE]
        said = "; ".join(problem.what for problem in error.problems)
        advice = "correct the base, or review without --base, where everything is created"
        raise _cannot(Cause.BASE_FAILED, said, advice) from None
    except yaml.YAMLError:
        return [_INVALID_BASE]
    except StackFileError as error:
        advice = "review without --base, where everything is created"
        raise _cannot(Cause.BASE_FAILED, str(error), advice) from None
    return []


def _era(project: Project, stack: str, base: str | None) -> Era:
    """The article's where either of the two asks for what is retired."""
    # What is wrong with the base is told when it is brought up.
    with contextlib.suppress(yaml.YAMLError, StackFileError):
        if base is not None and project.asks_for_retired(stack, base):
            return "article"
    return "article" if project.asks_for_retired(stack) else "today"


def _cannot(cause: Cause, what: str, advice: str) -> ReviewError:
    return ReviewError(Problem(cause=cause, what=clean(what), advice=advice))


def _take_away(home: Path) -> None:
    if home.exists():
        stop_cloud(home)
        shutil.rmtree(home)
