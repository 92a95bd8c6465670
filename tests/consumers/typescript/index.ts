import { components } from "@aks-gpu/aks-gpu";
import * as preview from "@aks-gpu/aks-preview";

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
const feature = new preview.features.FeatureRegistration("feature", {
    providerNamespace: "Microsoft.ContainerService",
    featureName: "ManagedGPUExperiencePreview",
});

export const taints = pool.nodeTaints;
export const state = feature.state;
