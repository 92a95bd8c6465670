"""Another team's program: a cluster, and the pools of the stack file."""

import pulumi
from pulumi_azure_native import containerservice as aks
from pulumi_azure_native import resources

config = pulumi.Config()
group = resources.ResourceGroup("group", resource_group_name="batch", location="eastus")
cluster = aks.ManagedCluster(
    "cluster",
    resource_group_name=group.name,
    resource_name_="batch",
    location="eastus",
    dns_prefix="batch",
    identity=aks.ManagedClusterIdentityArgs(type=aks.ResourceIdentityType.SYSTEM_ASSIGNED),
    agent_pool_profiles=[
        aks.ManagedClusterAgentPoolProfileArgs(
            name="system", mode=aks.AgentPoolMode.SYSTEM, vm_size="Standard_D4ds_v5", count=1
        )
    ],
)
for pool in config.require_object("pools"):
    aks.AgentPool(
        pool["name"],
        resource_group_name=group.name,
        resource_name_=cluster.name,
        agent_pool_name=pool["name"],
        vm_size=pool["vmSize"],
        os_type=pool.get("osType", "Linux"),
        count=pool.get("count"),
        enable_auto_scaling="maxCount" in pool,
        min_count=pool.get("minCount"),
        max_count=pool.get("maxCount"),
        node_taints=["sku=gpu:NoSchedule"],
    )
