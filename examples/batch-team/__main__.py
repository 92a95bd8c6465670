"""Adds GPU pools to a cluster that another team runs, and tells workloads how to land on them."""

import pulumi

from components import ExistingAksCluster, ExistingAksClusterArgs, GpuNodePool, GpuNodePoolArgs

config = pulumi.Config()
cluster = ExistingAksCluster(
    "platform",
    ExistingAksClusterArgs(
        resource_group_name=config.require("platformGroup"),
        cluster_name=config.require("platformCluster"),
    ),
)
batch = GpuNodePool(
    "batch",
    GpuNodePoolArgs(
        resource_group_name=cluster.resource_group_name,
        cluster_name=cluster.cluster_name,
        pool_name="batch",
        vm_size="Standard_NC24ads_A100_v4",
        count=0,
        min_count=0,
        max_count=4,
        spot=True,
        labels={"team": "batch"},
    ),
)
debug = GpuNodePool(
    "debug",
    GpuNodePoolArgs(
        resource_group_name=cluster.resource_group_name,
        cluster_name=cluster.cluster_name,
        pool_name="debug",
        vm_size="Standard_NC8as_T4_v3",
    ),
)

pulumi.export("landing", {"batch": batch.placement(), "debug": debug.placement()})
