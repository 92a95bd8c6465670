"""Prepares a rehearsal: the engine, the rehearsal cloud, and the project."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from aksgpu.outcome import Cause, stopped
from aksgpu.project import Project
from aksgpu.running import Program
from aksgpu.stack_names import mistake_in_name
from machine_setup import Engine, ensure_engine, ensure_kubernetes, helm_place
from machine_setup.cache import Say
from rehearsal.cloud import Cloud, refuse_other_systems
from rehearsal.cloud import start as start_cloud
from rehearsal.offline_plug_ins.launch import HELM_VARIABLE

PROGRAM = Path(__file__).resolve().parents[2]


def rehearsal_root() -> Path:
    return Path(os.environ.get("AKS_GPU_REHEARSAL_ROOT", PROGRAM))


def rehearsal_home() -> Path:
    """The folder of this checkout's rehearsal."""
    return rehearsal_root() / ".rehearsal"


def require_name(stack: str) -> None:
    """Raises StoppedError for a stack's name that the rehearsal's backend refuses."""
    if mistake := mistake_in_name(stack):
        raise stopped(Cause.STACK_MISSING, *mistake)


def pulumi_in(
    engine: Engine, folder: Path, environment: Mapping[str, str] = MappingProxyType({})
) -> Program:
    """This engine's `pulumi` in a project; it comes first on the PATH too."""
    path = engine.on_path(environment.get("PATH") or os.environ.get("PATH", os.defpath))
    return Program((engine.pulumi,), folder, {**environment, "PATH": path})


def rehearsal_environment(project: Project, cloud: Cloud) -> dict[str, str]:
    """The variables with which `pulumi` and the offline plug-ins work on a rehearsal cloud."""
    return {
        **project.environment(),
        **cloud.environment(),
        # Only stacks with Helm releases need it to be there.
        HELM_VARIABLE: str(helm_place()),
        "PATH": cloud.on_path(os.environ.get("PATH", os.defpath)),
    }


@dataclass(frozen=True)
class Stage:
    engine: Engine
    cloud: Cloud
    project: Project
    # Additional environment variables for `pulumi`.
    extra: Mapping[str, str] = field(default_factory=dict)

    def exports(self) -> dict[str, str]:
        """What a shell needs, so that plain `pulumi` works on the rehearsal."""
        return dict(self.pulumi().environment)

    def pulumi(self) -> Program:
        environment = {**rehearsal_environment(self.project, self.cloud), **self.extra}
        return pulumi_in(self.engine, self.project.folder, environment)


def set_stage(say: Say) -> Stage:
    """Everything that a rehearsal needs: creates and starts what is missing."""
    refuse_other_systems()
    home = rehearsal_home()
    engine = ensure_engine(say)
    kubernetes = ensure_kubernetes(say)
    cloud = start_cloud(home, kubernetes=kubernetes.folder, say=say)
    project = Project(PROGRAM, home)
    project.write()
    return Stage(engine, cloud, project)
