"""A Pulumi project of a test's own that has our plug-in, beside a cluster that is there already."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import pytest
import yaml

from tests.bench import ROOT, Bench
from tests.names import unique
from tests.rehearsal.conftest import Azure, new_cluster, wait_until_made
from tests.waiting import PATIENCE, until

POOL_API = "api-version=2026-08-01"


@dataclass(frozen=True)
class PreviewBench(Bench):
    """A project that finds aks-preview where a user's project would."""

    def begin(self) -> Self:
        """Makes the project, with our plug-in in it, and its stack."""
        super().write("")
        self.add_plugin()
        self.pulumi("stack", "init")
        return self

    def add_plugin(self) -> None:
        file = self.folder / "project" / "Pulumi.yaml"
        project = yaml.safe_load(file.read_text())
        plugins = project["plugins"]["providers"]
        others = [plugin for plugin in plugins if plugin["name"] != "aks-preview"]
        own = {"name": "aks-preview", "path": str(ROOT / "plugins" / "aks_preview")}
        project["plugins"]["providers"] = [*others, own]
        file.write_text(yaml.safe_dump(project))

    def write(self, program: str) -> None:
        (self.folder / "project" / "__main__.py").write_text(program)

    def run(self, *arguments: str) -> str:
        """Runs pulumi without a stack; what it printed."""
        ended = subprocess.run(
            [self.engine.pulumi, *arguments],
            cwd=self.folder / "project",
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    @contextmanager
    def running_up(self, program: str) -> Iterator["subprocess.Popen[str]"]:
        """An `up` that runs beside the test, and no longer than that."""
        self.write(program)
        with self.updating() as update:
            yield update

    def wait_for_request(self, method: str, path_part: str) -> None:
        until(lambda: self.requests(method, path_part), f"there is a {method} of {path_part}")


@dataclass(frozen=True)
class Aks:
    """A cluster in Azure that no stack has, made with raw HTTP."""

    azure: Azure
    group: str
    cluster: str

    @property
    def path(self) -> str:
        return (
            f"/resourceGroups/{self.group}/providers/Microsoft.ContainerService"
            f"/managedClusters/{self.cluster}"
        )

    def pool(self, name: str = "gpu") -> dict[str, Any] | None:
        """A pool as Azure has it; None if there is none."""
        answer = self.azure.call("GET", f"{self.path}/agentPools/{name}?{POOL_API}")
        assert answer.status in (200, 404), answer
        return answer.body if answer.status == 200 else None

    def put_pool(self, name: str, **properties: Any) -> None:
        path = f"{self.path}/agentPools/{name}?{POOL_API}"
        answer = self.azure.call("PUT", path, {"properties": properties})
        assert answer.status in (200, 201), answer
        self.azure.wait(
            path, lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded"
        )

    def delete_pool(self, name: str = "gpu") -> None:
        path = f"{self.path}/agentPools/{name}?{POOL_API}"
        assert self.azure.call("DELETE", path).status == 202
        self.azure.wait(path, lambda reply: reply.status == 404)

    def program(
        self,
        *,
        headers: dict[str, str] | None = None,
        name: str = "gpu",
        more: str = "",
        **args: Any,
    ) -> str:
        """A program with one pool in this cluster."""
        values = {"vm_size": "Standard_NC8as_T4_v3", "count": 1} | args
        arguments = ", ".join(f"{key}={value!r}" for key, value in values.items())
        return (
            "import pulumi\n"
            "from pulumi_azure_native import containerservice as aks\n"
            "from aks_preview.resources import AgentPool\n"
            "pool = AgentPool('pool', aks.AgentPoolArgs("
            f"resource_group_name={self.group!r}, resource_name={self.cluster!r}, "
            f"agent_pool_name={name!r}, {arguments}), custom_headers={headers!r}{more})\n"
            "pulumi.export('state', pool.provisioning_state)\n"
        )


@pytest.fixture
def preview_bench(bench: Bench) -> PreviewBench:
    own = PreviewBench(bench.engine, bench.cloud, bench.folder)
    own.add_plugin()
    return own


@pytest.fixture
def aks(preview_bench: PreviewBench) -> Aks:
    """A cluster of the test's own, finished."""
    made = Aks(Azure(preview_bench.cloud), unique("preview"), "c")
    group = f"/resourceGroups/{made.group}?api-version=2025-04-01"
    made.azure.call("PUT", group, {"location": "eastus"})
    made.azure.call("PUT", f"{made.path}?{POOL_API}", new_cluster())
    wait_until_made(made.azure, made.path)
    return made
