"""A consumer of the packages: a project with no checkout, which finds plug-ins by their address."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from aks_preview.configuration import PACKAGE, VERSION
from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.bench import ROOT, Bench
from tests.github import HOST, REPOSITORY, github
from tests.names import unique
from tests.rehearsal.conftest import Azure, new_cluster, wait_until_made
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

# With the SDK that Pulumi makes of the package, beside a folder of the team's own of the same name.
PROGRAM = """
from aks_gpu_aks_gpu.components import GpuNodePool
from components import OURS

GpuNodePool(OURS, **{inputs!r})
"""
PACKAGES = {"aks-gpu": "components", PACKAGE: "plugins/aks_preview"}


@dataclass(frozen=True)
class Consumer(Bench):
    """A project that names no plug-in: those of others are on the PATH, ours are downloaded."""

    github: Mapping[str, str]

    def write(self, program: str) -> None:
        folder = self.folder / "project"
        (folder / "components").mkdir(parents=True, exist_ok=True)
        (self.folder / "state").mkdir(exist_ok=True)
        (folder / "components" / "__init__.py").write_text('OURS = "train"\n')
        (folder / "__main__.py").write_text(program)
        if not (folder / "Pulumi.yaml").exists():
            runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": "venv"}}
            project = {"name": "consumer", "runtime": runtime}
            (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
            (folder / "requirements.txt").write_text(f"pulumi=={version('pulumi')}\n")

    def amend(self, parts: Mapping[str, Any]) -> None:
        file = self.folder / "project" / "Pulumi.yaml"
        file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), **parts}))

    def package(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Runs `pulumi package` in the project to its end."""
        ended = subprocess.run(
            [self.engine.pulumi, "package", *arguments],
            cwd=self.folder / "project",
            env=self.environment,
            capture_output=True,
            text=True,
            # It makes the environments of a plug-in and of the project, with pip.
            timeout=2 * PATIENCE,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended

    @property
    def environment(self) -> dict[str, str]:
        download = {"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "false"}
        # pip's word for `--no-compile`: half of the work.
        quick = {"PIP_NO_COMPILE": "0"}
        return {**super().environment, **self.github, **download, **quick}

    def schema(self, folder: str) -> dict[str, Any]:
        """The schema of a package by its address, which the engine downloads if need be."""
        address = f"{HOST}/{REPOSITORY}/{folder}@{VERSION}"
        ended = self.package("get-schema", address)
        assert "warning" not in ended.stderr.lower()
        content: dict[str, Any] = json.loads(ended.stdout)
        return content

    def environment_of(self, folder: str) -> Path:
        """The environment that the engine makes for a plug-in that it has downloaded."""
        name = f"{HOST}_{REPOSITORY.replace('/', '_')}.git_{folder.replace('/', '_')}"
        return self.folder / "pulumi-home" / "plugins" / f"resource-{name}-v{VERSION}" / ".venv"


@pytest.fixture
def consumer(engine: Engine, engine_cloud: Cloud, tmp_path: Path) -> Iterator[Consumer]:
    with github(tmp_path / "github", f"v{VERSION}", engine_cloud.ca_bundle) as environment:
        made = Consumer(engine, engine_cloud, tmp_path / "consumer", environment)
        made.folder.mkdir()
        yield made.begin()


@pytest.mark.parametrize("place", ["address", "folder"])
def test_a_python_program_gets_the_components_by_package_add(
    consumer: Consumer, place: str
) -> None:
    """Its pool has custom headers, so it needs aks-preview too, and only a checkout had that."""
    name = unique("consumer")
    azure = Azure(consumer.cloud)
    azure.call("PUT", f"/resourceGroups/{name}?api-version=2025-04-01", {"location": "eastus"})
    cluster = f"/resourceGroups/{name}/providers/Microsoft.ContainerService/managedClusters/{name}"
    azure.call("PUT", f"{cluster}?api-version=2026-08-01", new_cluster())
    wait_until_made(azure, cluster)
    inputs = {
        "resource_group_name": name,
        "cluster_name": name,
        "pool_name": "train",
        "vm_size": "Standard_NC8as_T4_v3",
        "custom_headers": {"X-Team": "a"},
    }
    if place == "folder":
        known = {"name": PACKAGE, "path": str(ROOT / "plugins" / "aks_preview")}
        consumer.amend({"plugins": {"providers": [known]}})
    source = (
        f"{HOST}/{REPOSITORY}/components@{VERSION}" if place == "address" else ROOT / "components"
    )
    assert "import aks_gpu_aks_gpu" in consumer.package("add", str(source)).stdout
    assert not consumer.environment_of("plugins/aks_preview").exists()

    consumer.up(PROGRAM.format(inputs=inputs))

    (put,) = consumer.requests("PUT", f"{cluster}/agentPools/train")
    assert "X-Team" in put["headers"]
    assert consumer.changes() == {}
    if place == "folder":
        assert not consumer.environment_of("plugins/aks_preview").exists()
        return
    for package, folder in PACKAGES.items():
        schema = consumer.schema(folder)
        assert (schema["name"], schema["version"]) == (package, VERSION)
        assert schema["pluginDownloadURL"] == f"git://{HOST}/{REPOSITORY}/{folder}"
    [packages] = consumer.environment_of("plugins/aks_preview").glob("lib/*/site-packages")
    assert all((packages / name).exists() for name in ("azure", "pulumi"))
    assert not (packages / "pulumi_azure_native").exists()
