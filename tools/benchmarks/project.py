"""A Pulumi project to measure, on the real engine with the offline plug-ins."""

import resource
import time
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROGRAM, pulumi_in
from machine_setup import Engine
from rehearsal.cloud import Cloud


@dataclass(frozen=True)
class Seconds:
    """The time of a run: by the clock, and of processors for the whole tree of processes."""

    elapsed: float
    worked: float


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
        return self.measured(*arguments).elapsed

    def measured(self, *arguments: str) -> Seconds:
        """Runs pulumi to its end; returns the time that it took."""
        project = Project(PROGRAM, self.home)
        variables = {**project.environment(), **self.cloud.environment(), **self.variables}
        pulumi = pulumi_in(self.engine, project.folder, variables)
        began, worked = time.monotonic(), _processor_seconds()
        pulumi.read(*arguments, "--stack", "bench")
        return Seconds(time.monotonic() - began, _processor_seconds() - worked)


def _processor_seconds() -> float:
    """Returns what all ended descendants of this process have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
