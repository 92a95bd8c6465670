"""What the rehearsal's Azure answers about a stack, before it is previewed there."""

import os
from functools import partial

from aksgpu.preflight import owned, stack_file
from aksgpu.preflight.access import of_rehearsal
from aksgpu.preflight.preflight import Preflight, run
from aksgpu.preflight.stack_file import StackFileMistakesError
from aksgpu.project import Project
from aksgpu.pulumi_cli import PulumiCli
from aksgpu.rehearsal_stage import PROGRAM
from aksgpu.review.automation import Place
from engine.cache import Say
from engine.progress import Progress
from rehearsal.cloud import Cloud


def preflight(
    project: Project, stack: str, cloud: Cloud, place: Place, say: Say
) -> Preflight | None:
    """The preflight of a stack of this program; None for others, and where its file is not valid.

    The preview tells the mistakes of such a file, each by its key.
    """
    if project.main != PROGRAM:
        return None
    try:
        said = stack_file.read(project.program, stack)
    except StackFileMistakesError:
        return None
    environment = {**os.environ, **place.environment}
    pulumi = PulumiCli(place.engine.pulumi, place.folder, environment)
    known = partial(owned.by_state, pulumi, stack)
    with Progress(f"Asking the rehearsal cloud about {stack}", say):
        return run(stack, said.settings, of_rehearsal(cloud), known, lambda _: None)
