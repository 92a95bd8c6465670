// A cluster on AKS with one GPU node.
package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"

	// `pulumi install` makes it, in the folder sdks.
	"github.com/aks-gpu/aks-gpu/sdk/go/aksgpu/components"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		location := pulumi.String(config.Require(ctx, "azure-native:location"))
		name := pulumi.String(fmt.Sprintf("%s-%s", ctx.Project(), ctx.Stack()))

		group, err := components.NewResourceGroup(ctx, "group", &components.ResourceGroupArgs{
			ResourceGroupName: name,
			Location:          location,
		})
		if err != nil {
			return err
		}
		cluster, err := components.NewAksCluster(ctx, "cluster", &components.AksClusterArgs{
			ResourceGroupName: group.ResourceGroupName,
			Location:          location,
			ClusterName:       name,
			SystemPool:        components.SystemPoolArgs{VmSize: pulumi.String("Standard_D4ds_v5")},
		})
		if err != nil {
			return err
		}
		_, err = components.NewGpuNodePool(ctx, "gpu", &components.GpuNodePoolArgs{
			ResourceGroupName: group.ResourceGroupName,
			ClusterName:       cluster.ClusterName,
			PoolName:          pulumi.String("gpu"),
			VmSize:            pulumi.String(config.Require(ctx, "vmSize")),
			Count:             pulumi.Int(1),
		})
		if err != nil {
			return err
		}
		ctx.Export("kubeconfig", cluster.Kubeconfig)
		return nil
	})
}
