"""A Pulumi project that is measured: on the real engine, with the rehearsal's stand-ins."""

import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROGRAM
from engine import Engine
from rehearsal.cloud import Cloud


@dataclass(frozen=True)
class MeasuredProject:
    engine: Engine
    cloud: Cloud
    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    def write(self, program: str) -> None:
        """Puts a program into the project, which is made at first."""
        project = Project(PROGRAM, self.home)
        project.write()
        file = project.folder / "Pulumi.yaml"
        own = yaml.safe_load(file.read_text())
        file.write_text(yaml.safe_dump(own | {"main": ".", "config": {}}))
        (project.folder / "__main__.py").write_text(program)
        if not (project.folder / "Pulumi.bench.yaml").exists():
            self.pulumi("stack", "init")

    def pulumi(self, *arguments: str) -> float:
        """Runs it to its end; the wall seconds that it took."""
        project = Project(PROGRAM, self.home)
        began = time.monotonic()
        subprocess.run(
            [self.engine.pulumi, *arguments, "--stack", "bench"],
            cwd=project.folder,
            env={
                **os.environ,
                "PATH": self.engine.on_path(os.environ["PATH"]),
                **project.environment(),
                **self.cloud.environment(),
                **self.variables,
            },
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return time.monotonic() - began
