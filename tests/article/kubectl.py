"""kubectl on one cluster, and the GPUs of nodes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aks_catalogue.device_plugin import GPU
from tests.article.commands import Runner

Json = Any


@dataclass(frozen=True)
class Kubectl:
    runner: Runner
    kubeconfig: Path

    def run(self, *arguments: str) -> str:
        """Runs a command of the article and shows its progress; its output."""
        return self._on_cluster().run("kubectl", *arguments)

    def read(self, *arguments: str) -> str:
        return self._on_cluster().read("kubectl", *arguments)

    def json(self, *arguments: str) -> Json:
        return json.loads(self.read(*arguments, "-o", "json"))

    def items(self, *arguments: str) -> list[Json]:
        listed: list[Json] = self.json("get", *arguments)["items"]
        return listed

    def nodes(self, pool: str) -> list[Json]:
        return self.items("nodes", "--selector", f"agentpool={pool}")

    def _on_cluster(self) -> Runner:
        return self.runner.with_(**kubectl_environment(self.kubeconfig))


def kubectl_environment(kubeconfig: Path) -> dict[str, str]:
    """The variables for kubectl's kubeconfig and cache, which must not be in the user's home."""
    cache = kubeconfig.with_name("kubectl-cache")
    return {"KUBECONFIG": str(kubeconfig), "KUBECACHEDIR": str(cache)}


def gpus(node: Json) -> tuple[str | None, str | None]:
    """The GPUs in a node's capacity, and the allocatable ones."""
    status = node["status"]
    return status["capacity"].get(GPU), status["allocatable"].get(GPU)
