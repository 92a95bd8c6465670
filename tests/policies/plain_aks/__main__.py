"""An AKS cluster with GPU pools, written with Pulumi's packages alone."""

import base64

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import containerservice, resources

config = pulumi.Config()

resource_group = resources.ResourceGroup(
    "rg", resource_group_name="plain-aks", location=config.require("location")
)

cluster = containerservice.ManagedCluster(
    "cluster",
    resource_group_name=resource_group.name,
    resource_name_="plain-aks",
    location=resource_group.location,
    dns_prefix="plain",
    enable_rbac=True,
    identity={"type": containerservice.ResourceIdentityType.SYSTEM_ASSIGNED},
    agent_pool_profiles=[
        {
            "name": "agentpool",
            "mode": "System",
            "count": config.require_int("nodeCount"),
            "vm_size": "Standard_DS2_v2",
            "os_type": "Linux",
            "type": "VirtualMachineScaleSets",
        },
        {
            "name": "notebooks",
            "mode": "User",
            "count": 1,
            "vm_size": "Standard_NC8as_T4_v3",
            "os_type": "Linux",
            "type": "VirtualMachineScaleSets",
        },
    ],
)

training = containerservice.AgentPool(
    "training",
    resource_group_name=resource_group.name,
    resource_name_=cluster.name,
    agent_pool_name="training",
    mode="User",
    count=2,
    vm_size="Standard_NC6",
    os_type="Linux",
)

rendering = containerservice.AgentPool(
    "rendering",
    resource_group_name=resource_group.name,
    resource_name_=cluster.name,
    agent_pool_name="render",
    mode="User",
    count=1,
    vm_size="Standard_NV6ads_A10_v5",
    os_type="Windows",
)

inference = containerservice.AgentPool(
    "inference",
    resource_group_name=resource_group.name,
    resource_name_=cluster.name,
    agent_pool_name="inference",
    mode="User",
    enable_auto_scaling=True,
    count=1,
    min_count=1,
    max_count=4,
    vm_size="Standard_NC24ads_A100_v4",
    os_type="Linux",
    enable_encryption_at_host=True,
    node_taints=["sku=gpu:NoSchedule"],
)

credentials = containerservice.list_managed_cluster_user_credentials_output(
    resource_group_name=resource_group.name, resource_name=cluster.name
)
kubeconfig = credentials.kubeconfigs[0].value.apply(lambda text: base64.b64decode(text).decode())

provider = kubernetes.Provider("aks", kubeconfig=kubeconfig)
labels = {"app": "nvidia-device-plugin"}
device_plugin = kubernetes.apps.v1.DaemonSet(
    "device-plugin",
    metadata={"namespace": "kube-system"},
    spec={
        "selector": {"match_labels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "containers": [
                    {"name": "plugin", "image": "nvcr.io/nvidia/k8s-device-plugin:latest"}
                ],
            },
        },
    },
    opts=pulumi.ResourceOptions(provider=provider),
)

pulumi.export("clusterName", cluster.name)
pulumi.export("kubeconfig", pulumi.Output.secret(kubeconfig))
