"""What the policy pack costs: previews of the same pools, with and without it."""

import statistics
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from rich.console import Console

from aksgpu.rehearsal_stage import PROGRAM
from benchmarks.project import MeasuredProject
from engine import Engine
from rehearsal.cloud import Cloud

RESOURCES = 300
RUNS = 5
_PACK = ("--policy-pack", str(PROGRAM / "policies"))

# Pools and nothing else, so that a resource is a pool; and no rule has anything to say about them,
# so that the engine has nothing to print.
_POOLS = """
import pulumi

for index in range({resources}):
    pulumi.CustomResource(
        "azure-native:containerservice:AgentPool",
        f"pool{{index}}",
        {{
            "resourceGroupName": "g", "resourceName": "c", "agentPoolName": f"pool{{index}}",
            "mode": "User", "osType": "Linux", "type": "VirtualMachineScaleSets",
            "vmSize": "Standard_NC8as_T4_v3", "count": 0,
            "enableAutoScaling": True, "minCount": 0, "maxCount": 1,
            "enableEncryptionAtHost": True,
            "nodeTaints": ["sku=gpu:NoSchedule"], "gpuProfile": {{"driver": "Install"}},
        }},
        pulumi.ResourceOptions(version={version!r}),
    )
"""


@dataclass(frozen=True)
class PolicyCost:
    """Medians of several previews; the pack's start is part of what it costs."""

    resources: int
    seconds_without: float
    seconds_with: float

    @property
    def ms_per_resource(self) -> float:
        return round((self.seconds_with - self.seconds_without) / self.resources * 1000, 2)


def measure(engine: Engine, cloud: Cloud, console: Console) -> PolicyCost:
    """Previews with and without the pack in turn, so that both share the machine's moods."""
    without: list[float] = []
    with_pack: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        project = MeasuredProject(engine, cloud, Path(folder))
        project.write(_POOLS.format(resources=RESOURCES, version=version("pulumi-azure-native")))
        for run in range(RUNS):
            console.print(f"previewing {RESOURCES} pools with the pack, run {run + 1} of {RUNS}")
            without.append(project.pulumi("preview"))
            with_pack.append(project.pulumi("preview", *_PACK))
    return PolicyCost(
        RESOURCES, round(statistics.median(without), 3), round(statistics.median(with_pack), 3)
    )


def told(cost: PolicyCost) -> str:
    return (
        f"A preview of {cost.resources} pools took {cost.seconds_without:.2f} s without the policy "
        f"pack and {cost.seconds_with:.2f} s with it: {cost.ms_per_resource:.2f} ms a resource."
    )
