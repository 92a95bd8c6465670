// Uses a rehearsed AKS through Azure's own SDK for Go: pollers and pagers, as a program would.
//
// It prints what it found as JSON. Where the cloud is stands in the environment.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
)

const group, cluster, pool = "go", "c", "extra"

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func names(ctx context.Context, client *aks.AgentPoolsClient) (found []string, pages int) {
	pager := client.NewListPager(group, cluster, nil)
	for pager.More() {
		for _, one := range must(pager.NextPage(ctx)).Value {
			found = append(found, *one.Name)
		}
		pages++
	}
	return found, pages
}

func main() {
	ctx := context.Background()
	url := os.Getenv("AZURE_AUTHORITY_HOST")
	options := azcore.ClientOptions{Cloud: cloud.Configuration{
		ActiveDirectoryAuthorityHost: url,
		Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Audience: url, Endpoint: url},
		},
	}}
	credential := must(azidentity.NewClientSecretCredential(
		os.Getenv("AZURE_TENANT_ID"), os.Getenv("AZURE_CLIENT_ID"), os.Getenv("AZURE_CLIENT_SECRET"),
		&azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: true},
	))
	clients := must(aks.NewClientFactory(
		os.Getenv("ARM_SUBSCRIPTION_ID"), credential,
		&arm.ClientOptions{ClientOptions: options, DisableRPRegistration: true},
	))
	pools, clusters := clients.NewAgentPoolsClient(), clients.NewManagedClustersClient()
	often := &runtime.PollUntilDoneOptions{Frequency: time.Second}

	created := must(must(pools.BeginCreateOrUpdate(ctx, group, cluster, pool, aks.AgentPool{
		Properties: &aks.ManagedClusterAgentPoolProfileProperties{
			Count: to.Ptr[int32](2), VMSize: to.Ptr("Standard_D4ds_v5"),
		},
	}, nil)).PollUntilDone(ctx, often))
	listed, pages := names(ctx, pools)
	must(must(clusters.BeginStop(ctx, group, cluster, nil)).PollUntilDone(ctx, often))
	stopped := must(clusters.Get(ctx, group, cluster, nil))
	must(must(clusters.BeginStart(ctx, group, cluster, nil)).PollUntilDone(ctx, often))
	must(must(pools.BeginDelete(ctx, group, cluster, pool, nil)).PollUntilDone(ctx, often))
	left, _ := names(ctx, pools)
	_, err := pools.Get(ctx, group, cluster, pool, nil)

	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(map[string]any{
		"state":  *created.Properties.ProvisioningState,
		"listed": strings.Join(listed, " "),
		"pages":  pages,
		"power":  *stopped.Properties.PowerState.Code,
		"left":   strings.Join(left, " "),
		"gone":   err.(*azcore.ResponseError).ErrorCode,
	}); err != nil {
		log.Fatal(err)
	}
}
