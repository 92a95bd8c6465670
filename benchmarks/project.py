"""A Pulumi project to measure, on the real engine with the rehearsal's stand-ins."""

import time
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROGRAM, pulumi_in
from engine import Engine
from rehearsal.cloud import Cloud


@dataclass(frozen=True)
class MeasuredProject:
    engine: Engine
    cloud: Cloud
    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    def write(self, program: str) -> None:
        """Writes a program into the project; creates the project first if needed."""
        project = Project(PROGRAM, self.home)
        project.write()
        file = project.folder / "Pulumi.yaml"
        own = yaml.safe_load(file.read_text())
        file.write_text(yaml.safe_dump(own | {"main": ".", "config": {}}))
        (project.folder / "__main__.py").write_text(program)
        if not (project.folder / "Pulumi.bench.yaml").exists():
            self.pulumi("stack", "init")

    def pulumi(self, *arguments: str) -> float:
        """Runs pulumi to its end; returns the elapsed seconds."""
        project = Project(PROGRAM, self.home)
        variables = {**project.environment(), **self.cloud.environment(), **self.variables}
        pulumi = pulumi_in(self.engine, project.folder, variables)
        began = time.monotonic()
        pulumi.read(*arguments, "--stack", "bench")
        return time.monotonic() - began
