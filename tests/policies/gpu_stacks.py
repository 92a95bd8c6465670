"""Pools and what is on their cluster, for the rules that look at both."""

from typing import Any

from tests.policies.policy_harness import Resource
from tests.policies.pool_variants import AGENT_POOL, changed

PLUGIN = "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin:v0.18.2"
POOL_LABEL = "kubernetes.azure.com/agentpool"
TOLERATION: dict[str, Any] = {
    "key": "sku",
    "operator": "Equal",
    "value": "gpu",
    "effect": "NoSchedule",
}
SPECIALISED: dict[str, Any] = {"customHeaders": {"UseGPUDedicatedVHD": "true"}}
MANAGED: dict[str, Any] = {"gpuProfile": {"nvidia": {"managementMode": "Managed"}}}
NO_DRIVER: dict[str, Any] = {"gpuProfile": {"driver": "None"}}


def pool(name: str = "gpu", **changes: Any) -> Resource:
    return AGENT_POOL.resource(changed({"agentPoolName": name, **changes}), name=name)


def daemon_set(
    *tolerations: dict[str, Any], image: str = PLUGIN, name: str = "plugin", **pods: Any
) -> Resource:
    container = {"name": "ctr", "image": image, **pods.pop("container", {})}
    spec = {"containers": [container], "tolerations": [*tolerations], **pods}
    return Resource(
        type="kubernetes:apps/v1:DaemonSet",
        name=name,
        properties={"spec": {"template": {"spec": spec}}},
    )


def required(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    """A required node affinity of which each term is met by what all of its requirements ask."""
    selector = {"nodeSelectorTerms": [{"matchExpressions": expressions} for expressions in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


def asks(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": [*values]}


def release(chart: Any, name: str = "release", **values: Any) -> Resource:
    return Resource(
        type="kubernetes:helm.sh/v3:Release",
        name=name,
        properties={"chart": chart, "values": values},
    )
