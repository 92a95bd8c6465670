"""The templates, as `pulumi new` makes projects of them."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from aks_preview.configuration import VERSION
from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.bench import ROOT
from tests.cluster_bench import GPU, ClusterBench
from tests.github import github
from tests.names import unique
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

TEMPLATES = sorted(path.name for path in (ROOT / "templates").iterdir())


@dataclass(frozen=True)
class NewProject(ClusterBench):
    """A project of a template. Its plug-ins are those on the PATH; ours are downloaded."""

    github: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        download = {"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "false"}
        return {**super().environment, **self.github, **download}

    def new(self, template: str, name: str) -> Path:
        """Makes the project, with the values that `pulumi new` offers; its folder."""
        folder = self.folder / "project"
        for part in (folder, self.folder / "state"):
            part.mkdir()
        command = ["new", str(ROOT / "templates" / template), "--generate-only", "--yes"]
        ended = subprocess.run(
            [self.engine.pulumi, *command, "--name", name, "--description", "of a test"],
            cwd=folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        # Pulumi then asks the host of the language what comes next. For Go there may be none here.
        assert f"Created project '{name}'" in ended.stdout
        return folder


def read(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(file.read_text())
    return content


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_becomes_a_project(
    engine: Engine, engine_cloud: Cloud, tmp_path: Path, template: str
) -> None:
    folder = NewProject(engine, engine_cloud, tmp_path).new(template, "trial")

    project = read(folder / "Pulumi.yaml")
    assert (project["name"], project["description"]) == ("trial", "of a test")
    assert "template" not in project
    files = {path.name for path in folder.iterdir()}
    assert files == {path.name for path in (ROOT / "templates" / template).iterdir()}


def test_the_project_of_the_python_template_has_a_gpu(
    engine: Engine, todays_cloud: Cloud, tmp_path: Path
) -> None:
    with github(tmp_path / "github", f"v{VERSION}", todays_cloud.ca_bundle) as environment:
        bench = NewProject(engine, todays_cloud, tmp_path, environment)
        folder = bench.new("python", unique("trial"))
        install = [str(bench.engine.pulumi), "install"]
        subprocess.run(install, cwd=folder, env=bench.environment, check=True, timeout=2 * PATIENCE)
        come_up(bench)


def come_up(bench: NewProject) -> None:
    bench.pulumi("stack", "init")
    offered = read(ROOT / "templates" / "python" / "Pulumi.yaml")["template"]["config"]
    for key, value in offered.items():
        bench.pulumi("config", "set", key, value["default"])

    bench.pulumi("up", "--yes", "--skip-preview")

    def gpus() -> list[int]:
        allocatable = [node["status"]["allocatable"] for node in bench.objects("nodes")]
        return sorted(int(resources.get(GPU, 0)) for resources in allocatable)

    until(lambda: gpus() == [0, 1], "the pool's node offers its GPU")
    assert bench.changes() == {}
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
