"""A Pulumi project of a test's own whose stack has a cluster, and kubectl on that cluster."""

import json
import subprocess
from pathlib import Path
from typing import Any

from machine_setup import ensure_kubernetes
from tests.bench import Bench
from tests.checked import checked_stack
from tests.waiting import PATIENCE, until

GPU = "nvidia.com/gpu"


class ClusterBench(Bench):
    """A project whose stack has a cluster, with its kubeconfig as the output `kubeconfig`."""

    def pulumi(self, *arguments: str, fails: bool = False) -> str:
        # An update can make another cluster.
        if arguments[0] == "up":
            (self.folder / "kubeconfig").unlink(missing_ok=True)
        return super().pulumi(*arguments, fails=fails)

    def kubectl(self, *arguments: str, content: Any = None) -> str:
        """Runs kubectl to its end; what it printed."""
        return self.run(ensure_kubernetes().kubectl, *arguments, content=content)

    def run(self, program: Path, *arguments: str, content: Any = None) -> str:
        """Runs kubectl or helm on the stack's cluster to its end; what it printed."""
        kubeconfig = self.folder / "kubeconfig"
        if not kubeconfig.exists():
            secret = self.pulumi("stack", "output", "kubeconfig", "--show-secrets")
            kubeconfig.write_text(secret.strip())
        ended = subprocess.run(
            [program, "--kubeconfig", kubeconfig, *arguments],
            input=json.dumps(content) if content else None,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env=self.environment,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def objects(self, *arguments: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = json.loads(self.kubectl("get", *arguments, "-o", "json"))[
            "items"
        ]
        return items

    def check(self, **options: Any) -> dict[str, Any]:
        """What `aksgpu check` says of the stack, as JSON."""
        return checked_stack(self, **options).document

    def gpus(self, pool: str) -> tuple[str | None, str | None]:
        """Capacity and allocatable GPUs of a pool's one node."""
        (node,) = self.objects("nodes", "-l", f"agentpool={pool}")
        status = node["status"]
        return status["capacity"].get(GPU), status["allocatable"].get(GPU)

    def runs_at_once(self, app: str, number: int, resource: str) -> None:
        """Waits until as many pods of an app run, and one more finds too little of a resource."""

        def pods() -> list[dict[str, Any]]:
            return self.objects("pods", "-l", f"app={app}")

        def reasons() -> list[str]:
            # The scheduler has not yet looked at a new pod, which has no conditions then.
            waiting = (pod["status"] for pod in pods() if pod["status"]["phase"] == "Pending")
            conditions = (each for status in waiting for each in status.get("conditions", ()))
            return [condition.get("message", "") for condition in conditions]

        until(
            lambda: (
                sorted(pod["status"]["phase"] for pod in pods())
                == ["Pending", *["Running"] * number]
            ),
            f"{number} pods of {app} run at once, and the next one waits",
        )
        until(
            lambda: any(f"Insufficient {resource}" in reason for reason in reasons()),
            "the scheduler says why it waits",
        )

    def pools_with_plugin(self) -> list[str]:
        """The pool of each node on which a pod of the stack's device plugin is."""
        pool_of = {
            node["metadata"]["name"]: node["metadata"]["labels"]["agentpool"]
            for node in self.objects("nodes")
        }
        pods = self.objects("pods", "-n", "gpu-resources")
        return sorted(pool_of[pod["spec"]["nodeName"]] for pod in pods)
