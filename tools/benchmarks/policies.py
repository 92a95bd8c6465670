"""The cost of the policy pack: previews of the same pools without a pack, with an empty pack, and
with this pack; and the time of its rules alone, which is measured without the engine."""

import statistics
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel
from rich.console import Console

from aksgpu.rehearsal_stage import PROGRAM
from benchmarks.project import MeasuredProject
from machine_setup import Engine
from policies.rules import RULES
from policies.sdk import Servicer, extend
from rehearsal.cloud import Cloud

RESOURCES = 300
RUNS = 5
_PACK = ("--policy-pack", str(PROGRAM / "policies"))

_TYPE = "azure-native:containerservice:AgentPool"
# All resources are pools, and no rule has findings for them, so that the engine prints nothing.
_POOL: dict[str, Any] = {
    "resourceGroupName": "g",
    "resourceName": "c",
    "mode": "User",
    "osType": "Linux",
    "type": "VirtualMachineScaleSets",
    "vmSize": "Standard_NC8as_T4_v3",
    "count": 0,
    "enableAutoScaling": True,
    "minCount": 0,
    "maxCount": 1,
    "enableEncryptionAtHost": True,
    "nodeTaints": ["sku=gpu:NoSchedule"],
    "gpuProfile": {"driver": "Install"},
}
_POOLS = """
import pulumi

for index in range({resources}):
    pulumi.CustomResource(
        {type!r},
        f"pool{{index}}",
        {{**{pool!r}, "agentPoolName": f"pool{{index}}"}},
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
    # Of the processor, for the rules with the SDK around them.
    processor_ms_per_resource: float

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
        pools = {"resources": RESOURCES, "type": _TYPE, "pool": _POOL}
        project.write(_POOLS.format(**pools, version=version("pulumi-azure-native")))
        empty = _empty_pack(Path(folder) / "empty")
        for run in range(RUNS):
            console.print(f"previewing {RESOURCES} pools with the pack, run {run + 1} of {RUNS}")
            seconds["without"].append(project.pulumi("preview"))
            seconds["empty"].append(project.pulumi("preview", "--policy-pack", str(empty)))
            seconds["with"].append(project.pulumi("preview", *_PACK))
    without, empty_, with_ = (round(statistics.median(all_), 3) for all_ in seconds.values())
    own = round(statistics.median(processor_ms()), 2)
    return PolicyCost(RESOURCES, without, empty_, with_, own)


def processor_ms() -> list[float]:
    """Hands the pack the engine's requests; the milliseconds of each run for a resource."""
    extend()
    service = Servicer("aks-gpu-policies", "1", list(RULES), EnforcementLevel.MANDATORY, None)
    analyses = [_request(analyzer_pb2.AnalyzeRequest, index) for index in range(RESOURCES)]
    members = [_request(analyzer_pb2.AnalyzerResource, index) for index in range(RESOURCES)]
    stack = analyzer_pb2.AnalyzeStackRequest(resources=members)
    runs = []
    for _ in range(RUNS):
        began = time.process_time()
        for analysis in analyses:
            service.Analyze(analysis, None)  # type: ignore[no-untyped-call]
        service.AnalyzeStack(stack, None)
        runs.append((time.process_time() - began) / RESOURCES * 1000)
    return runs


def _request(kind: Any, index: int) -> Any:
    urn = f"urn:pulumi:bench::bench::{_TYPE}::pool{index}"
    request = kind(type=_TYPE, urn=urn, name=f"pool{index}")
    request.properties.update({**_POOL, "agentPoolName": f"pool{index}"})
    request.provider.type = "pulumi:providers:azure-native"
    return request


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
        f"resource, of which the rules take {cost.ms_of_rules:.2f} ms and an empty pack the rest. "
        f"Without the engine, they take {cost.processor_ms_per_resource:.2f} ms of a processor."
    )
