"""Adds GPU pools to a cluster that another team runs, and tells workloads how to land on them."""

import pulumi

# `pulumi install` makes it, in the folder sdks.
from aks_gpu_aks_gpu import components

config = pulumi.Config()
cluster = components.ExistingAksCluster(
    "platform",
    resource_group_name=config.require("platformGroup"),
    cluster_name=config.require("platformCluster"),
)
batch = components.GpuNodePool(
    "batch",
    resource_group_name=cluster.resource_group_name,
    cluster_name=cluster.cluster_name,
    pool_name="batch",
    vm_size="Standard_NC24ads_A100_v4",
    count=0,
    min_count=0,
    max_count=4,
    spot=True,
    labels={"team": "batch"},
)
debug = components.GpuNodePool(
    "debug",
    resource_group_name=cluster.resource_group_name,
    cluster_name=cluster.cluster_name,
    pool_name="debug",
    vm_size="Standard_NC8as_T4_v3",
)

pulumi.export(
    "landing",
    {
        pool: {"tolerations": made.tolerations, "nodeSelector": made.node_selector}
        for pool, made in {"batch": batch, "debug": debug}.items()
    },
)
