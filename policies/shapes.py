"""The shapes of all properties that rules read, by the names of all providers."""

from aks_catalogue import gpu_operator
from policies.reading import ANYTHING, FLAG, NUMBER, TEXT, Shape, an_object, listed

TEXTS = an_object({}, TEXT)

_MACHINES = listed(
    an_object(
        {
            "size": TEXT,
            "sizes": listed(TEXT, or_one=True),
            "count": NUMBER,
            "minCount": NUMBER,
            "maxCount": NUMBER,
        }
    ),
    or_one=True,
)
_SCALE = an_object({"manual": _MACHINES, "autoscale": _MACHINES})
_NVIDIA = an_object({"managementMode": TEXT, "migStrategy": TEXT})

# The properties of agent pools, by azure-native's names and the classic provider's.
_OF_POOLS = {
    **dict.fromkeys(
        (
            "agentPoolName", "evictionPolicy", "gpuDriver", "gpuInstance", "gpuInstanceProfile",
            "kubernetesClusterId", "mode", "name", "orchestratorVersion", "osType", "priority",
            "resourceGroupName", "resourceName", "scaleSetEvictionPolicy", "scaleSetPriority",
            "vmSize",
        ),
        TEXT,
    ),
    **dict.fromkeys(("count", "nodeCount", "minCount", "maxCount"), NUMBER),
    **dict.fromkeys(
        (
            "autoScalingEnabled", "enableAutoScaling", "enableEncryptionAtHost",
            "enableHostEncryption", "hostEncryptionEnabled", "onlyCriticalAddonsEnabled",
        ),
        FLAG,
    ),
    **dict.fromkeys(("nodeTaints", "nodeInitializationTaints"), listed(TEXT)),
    **dict.fromkeys(("customHeaders", "nodeLabels", "tags"), TEXTS),
    "gpuProfile": an_object({"driver": TEXT, "nvidia": _NVIDIA}),
    "upgradeSettings": an_object({"maxSurge": TEXT, "maxUnavailable": TEXT}),
    "virtualMachinesProfile": an_object({"scale": _SCALE}),
}  # fmt: skip
_POOL = an_object(_OF_POOLS)
_OF_CLUSTERS = {
    "agentPoolProfiles": listed(_POOL),
    "aiToolchainOperatorProfile": an_object({"enabled": FLAG}),
    "apiServerAccessProfile": an_object(
        {
            "enablePrivateCluster": FLAG,
            "authorizedIPRanges": listed(TEXT),
            "authorizedIpRanges": listed(TEXT),
        }
    ),
    "apiServerAuthorizedIpRanges": listed(TEXT),
    "defaultNodePool": _POOL,
    "kubernetesVersion": TEXT,
    "nodeProvisioningProfile": an_object({"mode": TEXT}),
    "privateClusterEnabled": FLAG,
    "sku": an_object({"name": TEXT}, ANYTHING),
    "supportPlan": TEXT,
}
_OF_FEATURES = {
    "featureName": TEXT,
    "features": listed(an_object({"name": TEXT, "registered": FLAG})),
}

_REQUIREMENTS = listed(an_object({"key": TEXT, "operator": TEXT, "values": listed(TEXT)}))
_TERMS = listed(an_object({"matchExpressions": _REQUIREMENTS, "matchFields": _REQUIREMENTS}))
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_NODE_AFFINITY = an_object({_REQUIRED: an_object({"nodeSelectorTerms": _TERMS})})
# Also for taints, which have the same properties.
_TOLERATIONS = listed(an_object({"key": TEXT, "operator": TEXT, "value": TEXT, "effect": TEXT}))
_CONTAINERS = listed(
    an_object(
        {
            "name": TEXT,
            "image": TEXT,
            "command": listed(TEXT),
            "args": listed(TEXT),
            "env": listed(an_object({"name": TEXT, "value": TEXT, "valueFrom": ANYTHING})),
            "envFrom": listed(ANYTHING),
            "resources": an_object(
                {"limits": TEXTS, "requests": TEXTS, "claims": listed(ANYTHING)}
            ),
        }
    )
)
_OF_PODS = {
    "affinity": an_object({"nodeAffinity": _NODE_AFFINITY}),
    "containers": _CONTAINERS,
    "initContainers": _CONTAINERS,
    "nodeSelector": TEXTS,
    "tolerations": _TOLERATIONS,
}
_PODS = an_object(_OF_PODS)

# The values of NVIDIA's charts, and the spec of the GPU Operator's ClusterPolicy.
_SWITCH = an_object({"enabled": FLAG}, ANYTHING)
_OF_CHARTS = {
    **{name: _OF_PODS[name] for name in ("affinity", "nodeSelector", "tolerations")},
    "daemonsets": an_object({"tolerations": _TOLERATIONS}),
    "devicePlugin": _SWITCH,
    "enabled": FLAG,
    "driver": _SWITCH,
    "failOnInitError": FLAG,
    "mig": an_object({"strategy": TEXT}),
    "migStrategy": TEXT,
}
_CHARTS = an_object(_OF_CHARTS, ANYTHING)
_VALUES = an_object(
    {**_OF_CHARTS, gpu_operator.CHART: _CHARTS, "nvidia-device-plugin": _CHARTS}, ANYTHING
)
# The properties in `spec`, of Kubernetes resources of all kinds.
_NODES = {
    "nodeClassRef": an_object({"group": TEXT, "apiVersion": TEXT}),
    "requirements": _REQUIREMENTS,
    "taints": _TOLERATIONS,
    "startupTaints": _TOLERATIONS,
}
_TEMPLATE = an_object({"spec": an_object({**_OF_PODS, **_NODES})})
_SOURCE = an_object(
    {
        "chart": TEXT,
        "helm": an_object({"valuesObject": _VALUES}),
    }
)
_EXPRESSION = an_object({"expression": TEXT})
_SPEC = an_object(
    {
        **_OF_PODS,
        **_OF_CHARTS,
        "draDriver": an_object({"gpus": _SWITCH}),
        "chart": an_object({"spec": an_object({"chart": TEXT})}),
        "jobTemplate": an_object({"spec": an_object({"template": an_object({"spec": _PODS})})}),
        "limits": an_object({}, ANYTHING),
        "mutations": listed(
            an_object(dict.fromkeys(("applyConfiguration", "jsonPatch"), _EXPRESSION))
        ),
        "source": _SOURCE,
        "sources": listed(_SOURCE),
        "template": _TEMPLATE,
        "values": _VALUES,
    }
)
_OF_KUBERNETES = {
    "binaryData": TEXTS,
    "chart": TEXT,
    "data": TEXTS,
    "kubeconfig": ANYTHING,
    "metadata": an_object({"namespace": TEXT, "labels": an_object({}, ANYTHING)}, ANYTHING),
    "resource": an_object({"instanceType": TEXT}),
    "items": listed(an_object({"spec": _SPEC})),
    "spec": _SPEC,
    "template": _TEMPLATE,
    "valueYamlFiles": ANYTHING,
    "values": _VALUES,
}

# One table for all resource types: each name has the same shape in all of them.
RESOURCE: Shape = an_object({**_OF_POOLS, **_OF_CLUSTERS, **_OF_FEATURES, **_OF_KUBERNETES})
