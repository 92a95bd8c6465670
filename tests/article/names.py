"""The names of the article, and of the additional resources of the comparison."""

from pathlib import Path

LOCATION = "eastus"
GROUP = "myResourceGroup"
CLUSTER = "myAKSCluster"
FIRST_POOL = "nodepool1"
SIZE = "Standard_NC6"
SPECIALIZED_POOL = "gpu"
NAMESPACE = "gpu-resources"
DAEMON_SET = "nvidia-device-plugin-daemonset"
JOB = "samples-tf-mnist-demo"

FEATURE = "GPUDedicatedVHDPreview"
PROVIDER = "Microsoft.ContainerService"
IMAGE_HEADER = "UseGPUDedicatedVHD"
GENERATION_HEADER = "usegen2vm"

# The article names no pool for generation 2.
GENERATION_2_POOL = "gpugen2"
GENERATION_2_SIZE = "Standard_NC6s_v2"
# The new cluster has the article's name, so it needs another group.
NEW_GROUP = "myNewResourceGroup"
# A pool without a driver, to prove the note on drivers.
NO_DRIVER_POOL = "nodriver"
# What must be refused.
REFUSED_GROUP = "myRefusedResourceGroup"
OLD_CLUSTER = "myOldCluster"
OLD_KUBERNETES = "1.9.11"
WINDOWS_POOL = "npwin"

MANIFESTS = Path(__file__).with_name("manifests")
DAEMON_SET_FILE = "nvidia-device-plugin-ds.yaml"
JOB_FILE = "samples-tf-mnist-demo.yaml"
NO_DRIVER_JOB_FILE = "samples-tf-mnist-demo-nodriver.yaml"


def group_path(group: str) -> str:
    return f"/resourceGroups/{group}"


def cluster_path(group: str, cluster: str = CLUSTER) -> str:
    return f"{group_path(group)}/providers/{PROVIDER}/managedClusters/{cluster}"


def pool_path(pool: str, group: str = GROUP) -> str:
    return f"{cluster_path(group)}/agentPools/{pool}"
