"""kubectl on one cluster, and what it says of nodes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acceptance.commands import Runner
from catalogue.device_plugin import GPU

Json = Any


@dataclass(frozen=True)
class Kubectl:
    runner: Runner
    kubeconfig: Path

    def tell(self, *arguments: str) -> str:
        """A command of the article, run before the user's eyes."""
        return self._on_cluster().tell("kubectl", *arguments)

    def ask(self, *arguments: str) -> str:
        return self._on_cluster().ask("kubectl", *arguments)

    def json(self, *arguments: str) -> Json:
        return json.loads(self.ask(*arguments, "-o", "json"))

    def items(self, *arguments: str) -> list[Json]:
        found: list[Json] = self.json("get", *arguments)["items"]
        return found

    def nodes(self, pool: str) -> list[Json]:
        return self.items("nodes", "--selector", f"agentpool={pool}")

    def _on_cluster(self) -> Runner:
        return self.runner.with_(**kubectl_environment(self.kubeconfig))


def kubectl_environment(kubeconfig: Path) -> dict[str, str]:
    """What kubectl reads, and where it notes what it has read: never in the user's home."""
    cache = kubeconfig.with_name("kubectl-cache")
    return {"KUBECONFIG": str(kubeconfig), "KUBECACHEDIR": str(cache)}


def gpus(node: Json) -> tuple[str | None, str | None]:
    """How many GPUs a node has, and how many of them can be had."""
    status = node["status"]
    return status["capacity"].get(GPU), status["allocatable"].get(GPU)
