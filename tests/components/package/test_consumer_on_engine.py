"""A consumer of the packages: a project with no checkout, which finds plug-ins by their address."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from aks_preview.configuration import PACKAGE, VERSION
from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.bench import Bench
from tests.github import HOST, REPOSITORY, github
from tests.names import unique
from tests.rehearsal.conftest import Azure, new_cluster, wait_until_made
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.engine, pytest.mark.long]

# With what the SDKs that Pulumi makes say of each resource: the version and where the plug-in is.
PROGRAM = """
import pulumi

class GpuNodePool(pulumi.ComponentResource):
    def __init__(self, name, inputs):
        source = pulumi.ResourceOptions(version={version!r}, plugin_download_url={source!r})
        super().__init__("aks-gpu:components:GpuNodePool", name, inputs, source, remote=True)

GpuNodePool("train", {inputs!r})
"""
PACKAGES = {"aks-gpu": "components", PACKAGE: "plugins/aks_preview"}


@dataclass(frozen=True)
class Consumer(Bench):
    """A project that names no plug-in: those of others are on the PATH, ours are downloaded."""

    github: Mapping[str, str]

    def write(self, program: str) -> None:
        folder = self.folder / "project"
        folder.mkdir(exist_ok=True)
        (self.folder / "state").mkdir(exist_ok=True)
        runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
        project = {"name": "consumer", "runtime": runtime}
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
        (folder / "__main__.py").write_text(program)

    @property
    def environment(self) -> dict[str, str]:
        download = {"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "false"}
        # pip's word for `--no-compile`: half of the work.
        quick = {"PIP_NO_COMPILE": "0"}
        return {**super().environment, **self.github, **download, **quick}

    def schema(self, folder: str) -> dict[str, Any]:
        """The schema of a package by its address, which the engine downloads if need be."""
        address = f"{HOST}/{REPOSITORY}/{folder}@{VERSION}"
        ended = subprocess.run(
            [self.engine.pulumi, "package", "get-schema", address],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            # It makes the plug-in's environment, with pip.
            timeout=2 * PATIENCE,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
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


def test_the_engine_downloads_the_plug_ins(consumer: Consumer) -> None:
    """The package's pool with custom headers needs aks-preview, and only a checkout had it."""
    name = unique("consumer")
    azure = Azure(consumer.cloud)
    azure.call("PUT", f"/resourceGroups/{name}?api-version=2025-04-01", {"location": "eastus"})
    cluster = f"/resourceGroups/{name}/providers/Microsoft.ContainerService/managedClusters/{name}"
    azure.call("PUT", f"{cluster}?api-version=2026-08-01", new_cluster())
    wait_until_made(azure, cluster)
    inputs = {
        "resourceGroupName": name,
        "clusterName": name,
        "poolName": "train",
        "vmSize": "Standard_NC8as_T4_v3",
        "customHeaders": {"X-Team": "a"},
    }
    schemas = {"aks-gpu": consumer.schema("components")}
    source = schemas["aks-gpu"]["pluginDownloadURL"]
    assert not consumer.environment_of("plugins/aks_preview").exists()

    consumer.up(PROGRAM.format(version=VERSION, source=source, inputs=inputs))

    (put,) = consumer.requests("PUT", f"{cluster}/agentPools/train")
    assert "X-Team" in put["headers"]
    assert consumer.changes() == {}
    schemas[PACKAGE] = consumer.schema("plugins/aks_preview")
    for package, folder in PACKAGES.items():
        assert (consumer.environment_of(folder) / "bin" / "python").exists()
        schema = schemas[package]
        assert (schema["name"], schema["version"]) == (package, VERSION)
        assert schema["pluginDownloadURL"] == f"git://{HOST}/{REPOSITORY}/{folder}"
    [packages] = consumer.environment_of("plugins/aks_preview").glob("lib/*/site-packages")
    assert all((packages / name).exists() for name in ("azure", "pulumi"))
    assert not (packages / "pulumi_azure_native").exists()
