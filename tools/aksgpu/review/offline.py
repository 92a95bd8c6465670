"""A review without Azure: a temporary rehearsal cloud for one stack."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from aks_catalogue.retirement import BEFORE_ALL_RETIREMENTS
from aks_catalogue.valid_pools import OPERATOR
from aksgpu.outcome import Cause, StoppedError, stopped
from aksgpu.preflight import owned, stack_file
from aksgpu.preflight.access import of_rehearsal
from aksgpu.preflight.existing_group import provide_group
from aksgpu.preflight.preflight import Preflight
from aksgpu.preflight.preflight import run as run_preflight
from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROGRAM, pulumi_in, rehearsal_environment, rehearsal_root
from aksgpu.review.automation import Place, create, run
from aksgpu.review.model import StackReview
from machine_setup import Engine, ensure_helm, ensure_kubernetes
from machine_setup.cache import Say, sole_use
from machine_setup.progress import Progress
from rehearsal.cloud import Cloud, refuse_other_systems, removed_afterwards
from rehearsal.cloud import start as start_cloud
from stack_settings.model import Settings
from stack_settings.stack_file import EscEnvironmentError, StackFileError, parse

# The rehearsal cloud need not take realistic times here.
_TIME_SCALE = 0.01

_INVALID_BASE = (
    "The base's stack file is not valid, so it cannot have been deployed: everything is "
    "shown as created."
)
_WITHOUT_BASE = "omit --base: the review then shows everything as created"


@contextmanager
def sole_home(say: Say) -> Iterator[Path]:
    """The home of an offline review in this checkout, for one review at a time."""
    refuse_other_systems()
    folder = rehearsal_root() / "build" / "review"
    with sole_use(folder, say):
        yield folder / ".rehearsal"


@contextmanager
def rehearsed(
    review: StackReview, project: Project, base: str | None, engine: Engine, say: Say
) -> Iterator[Place]:
    """A place with the stack deployed from the text `base`, if any, and with its file as it is now.

    Adds notes and the preflight to the review.
    """
    home, stack = project.home, review.stack
    # Also removes what a killed review left.
    with removed_afterwards(home):
        try:
            settings = None if base is None else _settings(project, stack, base)
        except (StackFileError, StoppedError) as error:
            if isinstance(error, EscEnvironmentError):
                raise stopped(Cause.PREVIEW_FAILED, str(error), _WITHOUT_BASE) from None
            base, settings = None, None
            review.notes.append(_INVALID_BASE)
        # A cloud without a base stays empty, and needs no control planes.
        kubernetes = ensure_kubernetes(say).folder if base is not None else None
        if settings and settings.pools_of(OPERATOR):
            ensure_helm(say)
        cloud = start_cloud(home, _TIME_SCALE, kubernetes=kubernetes)
        environment = rehearsal_environment(project, cloud)
        place = Place(engine, pulumi_in(engine, project.folder, environment))
        project.write()
        if settings:
            provide_group(cloud, settings)
        if base is not None and not _is_deployed(place, cloud, project, stack, base, say):
            review.notes.append(_INVALID_BASE)
        project.write_stack(stack)
        create(place, stack)
        review.preflight = _preflight(project, stack, cloud, place, say)
        yield place


def _settings(project: Project, stack: str, base: str) -> Settings | None:
    """The settings of the base of a stack of this program; None for others.

    Raises StackFileError or StoppedError if the base is not valid.
    """
    file = parse(base, f"Pulumi.{stack}.yaml")
    if project.main != PROGRAM:
        return None
    return stack_file.configuration_of(file, project.program).settings


def _is_deployed(
    place: Place, cloud: Cloud, project: Project, stack: str, base: str, say: Say
) -> bool:
    """Deploys the base; whether its file is valid, as it otherwise was never deployed."""
    try:
        project.write_stack(stack, base)
        with Progress(f"Bringing up the base of {stack} on the rehearsal cloud", say):
            # Its sizes and images may have been retired since it was deployed.
            cloud.offer({"today": str(BEFORE_ALL_RETIREMENTS), "anyGpuSize": True})
            create(place, stack)
            run(place, stack, "up")
            cloud.offer({})
    except StoppedError as error:
        if {finding.cause for finding in error.findings} == {Cause.STACK_FILE_INVALID}:
            return False
        advice = f"correct the base, or {_WITHOUT_BASE}"
        raise stopped(Cause.PREVIEW_FAILED, str(error), advice) from None
    except EscEnvironmentError as error:
        raise stopped(Cause.PREVIEW_FAILED, str(error), _WITHOUT_BASE) from None
    except StackFileError:
        return False
    return True


def _preflight(
    project: Project, stack: str, cloud: Cloud, place: Place, say: Say
) -> Preflight | None:
    """The preflight of a stack of this program; None for others, and for an invalid file.

    The preview reports the mistakes of such a file, each with its key.
    """
    if project.main != PROGRAM:
        return None
    try:
        settings = stack_file.read(project.program, stack).settings
    except (StackFileError, StoppedError):
        return None
    provide_group(cloud, settings)
    read_owned = partial(owned.by_state, place.pulumi, stack)
    with Progress(f"Asking the rehearsal cloud about {stack}", say) as progress:
        # The rehearsal cloud's prices are not real.
        access = replace(of_rehearsal(cloud), prices=None)
        return run_preflight(stack, settings, access, read_owned, progress.update)
