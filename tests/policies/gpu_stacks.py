"""Pools and what is on their cluster, for the rules that look at both."""

from dataclasses import replace
from typing import Any

from pulumi_policy import Policy
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.rules.device_plugin_mig_strategy import device_plugin_mig_strategy
from policies.rules.device_plugin_on_gpu_nodes import device_plugin_on_gpu_nodes
from policies.rules.device_plugin_tolerates_pools import device_plugin_tolerates_pools
from policies.rules.gpu_stack_unclear import gpu_stack_unclear
from tests.policies.policy_harness import CANNOT_RUN, Resource, findings
from tests.policies.pool_variants import AGENT_POOL, CLUSTER, changed

PLUGIN = "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin:v0.18.2"
POOL_LABEL = "kubernetes.azure.com/agentpool"
TOLERATION: dict[str, Any] = {
    "key": "sku",
    "operator": "Equal",
    "value": "gpu",
    "effect": "NoSchedule",
}
SPECIALIZED: dict[str, Any] = {"customHeaders": {"UseGPUDedicatedVHD": "true"}}
MANAGED: dict[str, Any] = {"gpuProfile": {"nvidia": {"managementMode": "Managed"}}}
NO_DRIVER: dict[str, Any] = {"gpuProfile": {"driver": "None"}}


# A cluster of the stack, and the provider for what is on it.
OWN_CLUSTER = Resource(type=CLUSTER.type, name="own", properties={"resourceName": "own"})
PROVIDER = Resource(
    type="pulumi:providers:kubernetes",
    name="on-own",
    properties={"kubeconfig": UNKNOWN_STRING_VALUE},
    made_of={"kubeconfig": ["own"]},
)


def together(*resources: Resource) -> tuple[Resource, ...]:
    """The resources in one cluster of the stack, unless they are said to be in another."""

    def placed(one: Resource) -> Resource:
        if one.made_of or one.provider or one.type == PROVIDER.type:
            return one
        if one.type.startswith("kubernetes:"):
            return replace(one, provider="on-own")
        is_pool = one.type.endswith(("AgentPool", "KubernetesClusterNodePool"))
        return replace(one, made_of={"resourceName": ["own"]}) if is_pool else one

    in_azure = [one for one in resources if not one.type.startswith("kubernetes:")]
    clusters = [one for one in in_azure if one.type.endswith("Cluster")]
    if clusters and not any(one.type == PROVIDER.type for one in resources):
        provider = replace(PROVIDER, made_of={"kubeconfig": [clusters[0].name]})
        return (provider, *map(placed, resources))
    own = () if clusters else (OWN_CLUSTER, PROVIDER)
    return (*own, *map(placed, resources))


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


# The words in the findings of rules on GPU stacks; in all others is who owns driver and plugin.
_WORDS = {
    device_plugin_on_gpu_nodes.name: "crashes there",
    device_plugin_tolerates_pools.name: "does not tolerate",
    device_plugin_mig_strategy.name: "advertises whole GPUs",
}


def unclear(of: Policy, *stack: Resource, **config: Any) -> list[str]:
    """What the advisory rule tells as possible of what a rule refuses."""
    said = findings(gpu_stack_unclear, *stack, config=config)
    if word := _WORDS.get(of.name):
        return [text for text in said if word in text or text.startswith(CANNOT_RUN)]
    return [text for text in said if not any(each in text for each in _WORDS.values())]


def not_known(value: str, name: str, kind: str = AGENT_POOL.type) -> str:
    """What a rule on the stack says that cannot run on account of a resource's value."""
    return f"{CANNOT_RUN}: {value} of {name} ({kind}) can't be known during preview"
