"""Sets the stage for a rehearsal: an engine, the rehearsal cloud, and the project on it."""

import os
from dataclasses import dataclass
from pathlib import Path

from aksgpu.pulumi_cli import PulumiCli
from engine import Engine, ensure_engine
from engine.cache import Say
from rehearsal.cloud import Cloud
from rehearsal.cloud import start as start_cloud
from rehearsal.project import Project

PROGRAM = Path(__file__).resolve().parent.parent


def rehearsal_home() -> Path:
    """Where the rehearsal of this checkout keeps all that it has."""
    return Path(os.environ.get("AKS_GPU_REHEARSAL_HOME", PROGRAM / ".rehearsal"))


@dataclass(frozen=True)
class Stage:
    engine: Engine
    cloud: Cloud
    project: Project

    def exports(self) -> dict[str, str]:
        """What a shell needs, so that plain `pulumi` works on the rehearsal."""
        return {
            "PATH": self.engine.on_path(os.environ.get("PATH", os.defpath)),
            **self.project.environment(),
            **self.cloud.environment(),
        }

    def pulumi(self) -> PulumiCli:
        return PulumiCli(self.engine.pulumi, self.project.folder, {**os.environ, **self.exports()})


def set_stage(say: Say) -> Stage:
    """Everything a rehearsal needs, made where it is missing and started where it is down."""
    home = rehearsal_home()
    engine = ensure_engine(say)
    cloud = start_cloud(home)
    project = Project(PROGRAM, home)
    project.write()
    return Stage(engine, cloud, project)
