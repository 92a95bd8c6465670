"""The time that the rules of the pack take, without the engine."""

import statistics
import time
from typing import Any

from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel

from policies.rules import RULES
from policies.sdk import Servicer, extend

RESOURCES = 300
RUNS = 5
_TYPE = "azure-native:containerservice:AgentPool"
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


def measure() -> float:
    """Hands the pack the engine's requests; the median of processor milliseconds a resource."""
    extend()
    service = Servicer("aks-gpu-policies", "1", list(RULES), EnforcementLevel.MANDATORY, None)
    analyses = [_request(analyzer_pb2.AnalyzeRequest, index) for index in range(RESOURCES)]
    members = [_request(analyzer_pb2.AnalyzerResource, index) for index in range(RESOURCES)]
    stack = analyzer_pb2.AnalyzeStackRequest(resources=members)
    runs = []
    for _ in range(RUNS):
        began = time.process_time()
        for analysis in analyses:
            service.Analyze(analysis, None)
        service.AnalyzeStack(stack, None)
        runs.append((time.process_time() - began) / RESOURCES * 1000)
    return round(statistics.median(runs), 2)


def _request(kind: Any, index: int) -> Any:
    urn = f"urn:pulumi:bench::bench::{_TYPE}::pool{index}"
    request = kind(type=_TYPE, urn=urn, name=f"pool{index}")
    request.properties.update({**_POOL, "agentPoolName": f"pool{index}"})
    request.provider.type = "pulumi:providers:azure-native"
    return request
