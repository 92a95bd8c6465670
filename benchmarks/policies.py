"""The cost of the policy pack: previews of the same pools without a pack, with an empty pack, and
with this pack."""

import statistics
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import yaml
from rich.console import Console

from aksgpu.rehearsal_stage import PROGRAM
from benchmarks.project import MeasuredProject
from engine import Engine
from rehearsal.cloud import Cloud

RESOURCES = 300
RUNS = 5
_PACK = ("--policy-pack", str(PROGRAM / "policies"))

# All resources are pools, and no rule has findings for them, so that the engine prints nothing.
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

# A pack with one empty rule measures the cost of the engine and the SDK.
_EMPTY = """
from pulumi_policy import PolicyPack, ResourceValidationPolicy

rule = ResourceValidationPolicy("no-rule", "Says nothing.", lambda args, report: None)
PolicyPack("empty", [rule])
"""


@dataclass(frozen=True)
class PolicyCost:
    """The medians of several previews; the cost includes the start of the pack."""

    resources: int
    seconds_without: float
    seconds_with_an_empty_pack: float
    seconds_with: float

    @property
    def ms_per_resource(self) -> float:
        return self._ms(self.seconds_with - self.seconds_without)

    @property
    def ms_of_rules(self) -> float:
        """The cost of the rules: the pack's cost minus that of an empty pack."""
        return self._ms(self.seconds_with - self.seconds_with_an_empty_pack)

    def _ms(self, seconds: float) -> float:
        return round(seconds / self.resources * 1000, 2)


def measure(engine: Engine, cloud: Cloud, console: Console) -> PolicyCost:
    """Previews with and without packs in turn, so that changes in machine load affect all alike."""
    seconds: dict[str, list[float]] = {"without": [], "empty": [], "with": []}
    with tempfile.TemporaryDirectory() as folder:
        project = MeasuredProject(engine, cloud, Path(folder))
        project.write(_POOLS.format(resources=RESOURCES, version=version("pulumi-azure-native")))
        empty = _empty_pack(Path(folder) / "empty")
        for run in range(RUNS):
            console.print(f"previewing {RESOURCES} pools with the pack, run {run + 1} of {RUNS}")
            seconds["without"].append(project.pulumi("preview"))
            seconds["empty"].append(project.pulumi("preview", "--policy-pack", str(empty)))
            seconds["with"].append(project.pulumi("preview", *_PACK))
    return PolicyCost(RESOURCES, *(round(statistics.median(all_), 3) for all_ in seconds.values()))


def _empty_pack(folder: Path) -> Path:
    folder.mkdir()
    (folder / "__main__.py").write_text(_EMPTY)
    environment = {"virtualenv": str(PROGRAM / ".venv")}
    about = {"name": "empty", "runtime": {"name": "python", "options": environment}}
    (folder / "PulumiPolicy.yaml").write_text(yaml.safe_dump(about))
    return folder


def summary(cost: PolicyCost) -> str:
    return (
        f"A preview of {cost.resources} pools took {cost.seconds_without:.2f} s without the policy "
        f"pack and {cost.seconds_with:.2f} s with it: {cost.ms_per_resource:.2f} ms for each "
        f"resource, of which the rules take {cost.ms_of_rules:.2f} ms and an empty pack the rest."
    )
