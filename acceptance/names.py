"""What the article calls things, and what a second cluster beside its own is called here."""

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
# The new cluster is the article's in all but its group: two of one name need two groups.
NEW_GROUP = "myNewResourceGroup"
# To have the driver left out, so that the note on drivers can be seen to be true.
NO_DRIVER_POOL = "nodriver"
# What is to be refused.
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
