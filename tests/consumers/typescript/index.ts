import { components } from "@aks-gpu/aks-gpu";

const group = new components.ResourceGroup("group", {
    resourceGroupName: "consumer",
    location: "eastus",
});
const cluster = new components.AksCluster("cluster", {
    resourceGroupName: group.resourceGroupName,
    location: "eastus",
    clusterName: "consumer",
    systemPool: { vmSize: "Standard_D4ds_v5" },
});
const pool = new components.GpuNodePool("train", {
    resourceGroupName: group.resourceGroupName,
    clusterName: cluster.clusterName,
    poolName: "train",
    vmSize: "Standard_NC8as_T4_v3",
    count: 2,
    zones: ["1", "2"],
});

export const taints = pool.nodeTaints;
