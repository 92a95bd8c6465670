// Command program previews and brings up a stack with the package's components.
//
// It is an inline program of Pulumi's Automation API, so Pulumi needs no language host of Go.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/aks-gpu/aks-gpu/sdk/go/aksgpu/components"
)

var (
	folder     = flag.String("folder", ".", "the folder of the project")
	stackName  = flag.String("stack", "", "the name of the stack")
	name       = flag.String("name", "", "the name of the resource group and of the cluster")
	kubernetes = flag.String("kubernetes", "", "the version of the Kubernetes provider")
)

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "program:", err)
		os.Exit(1)
	}
}

// run prints, as JSON, how many resources the preview and the update had for each operation.
func run(ctx context.Context) error {
	stack, err := auto.SelectStackInlineSource(ctx, *stackName, "", program, auto.WorkDir(*folder))
	if err != nil {
		return err
	}
	preview, err := stack.Preview(ctx, optpreview.ProgressStreams(os.Stderr))
	if err != nil {
		return err
	}
	update, err := stack.Up(ctx, optup.ProgressStreams(os.Stderr))
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"preview": preview.ChangeSummary,
		"update":  update.Summary.ResourceChanges,
	})
}

// provider is the Kubernetes provider, whose own SDK takes long to compile.
type provider struct {
	pulumi.ProviderResourceState
}

func program(ctx *pulumi.Context) error {
	group, err := components.NewResourceGroup(ctx, "group", &components.ResourceGroupArgs{
		ResourceGroupName: pulumi.String(*name),
		Location:          pulumi.String("eastus"),
	})
	if err != nil {
		return err
	}
	cluster, err := components.NewAksCluster(ctx, "cluster", &components.AksClusterArgs{
		ResourceGroupName: group.ResourceGroupName,
		Location:          pulumi.String("eastus"),
		ClusterName:       pulumi.String(*name),
		SkuTier:           pulumi.String("Standard"),
		SystemPool: components.SystemPoolArgs{
			VmSize: pulumi.String("Standard_D4ds_v5"),
		},
		Tags: pulumi.StringMap{"team": pulumi.ToSecret("secret-team-1").(pulumi.StringOutput)},
	})
	if err != nil {
		return err
	}
	pool, err := components.NewGpuNodePool(ctx, "train", &components.GpuNodePoolArgs{
		ResourceGroupName: group.ResourceGroupName,
		ClusterName:       cluster.ClusterName,
		PoolName:          pulumi.String("train"),
		VmSize:            pulumi.String("Standard_NC8as_T4_v3"),
		Zones:             pulumi.StringArray{pulumi.String("1"), pulumi.String("2")},
		// Unknown until there is a cluster.
		Labels: pulumi.StringMap{"nodes": cluster.NodeResourceGroup},
		Taints: pulumi.StringArray{pulumi.Sprintf("cluster=%s:NoSchedule", cluster.ClusterName)},
	})
	if err != nil {
		return err
	}

	inCluster := &provider{}
	err = ctx.RegisterResource("pulumi:providers:kubernetes", "kubernetes", pulumi.Map{
		"kubeconfig":        cluster.Kubeconfig,
		"clusterIdentifier": cluster.Identifier,
	}, inCluster, pulumi.Version(*kubernetes))
	if err != nil {
		return err
	}
	plugin, err := components.NewNvidiaDevicePlugin(ctx, "device-plugin",
		&components.NvidiaDevicePluginArgs{
			Pools: []components.PluginPoolArgs{
				{PoolName: pool.PoolLabel, NodeTaints: pool.NodeTaints},
			},
		},
		pulumi.Providers(inCluster), pulumi.DependsOn([]pulumi.Resource{pool}))
	if err != nil {
		return err
	}
	job, err := components.NewSampleJob(ctx, "sample-job", &components.SampleJobArgs{
		NodeTaints:   pulumi.StringArrayArray{pool.NodeTaints},
		ResourceName: pool.ResourceName,
	}, pulumi.Providers(inCluster), pulumi.DependsOn([]pulumi.Resource{pool, plugin}))
	if err != nil {
		return err
	}

	ctx.Export("kubeconfig", cluster.Kubeconfig)
	ctx.Export("taints", pool.NodeTaints)
	ctx.Export("daemonSets", plugin.DaemonSetNames)
	ctx.Export("job", job.JobName)
	return nil
}
