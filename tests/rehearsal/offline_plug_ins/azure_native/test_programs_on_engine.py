"""Programs of other teams, with what stands around their clusters, through the real engine."""

import json

import pytest

from tests.bench import Bench

pytestmark = [pytest.mark.engine, pytest.mark.long]

# One that lets azure-native make up the names, and takes outputs as inputs.
NAMED_BY_AZURE_NATIVE = """
import pulumi
from pulumi_azure_native import (
    authorization, containerregistry, containerservice, managedidentity, network,
    operationalinsights, resources,
)

group = resources.ResourceGroup("aks", location="westeurope")
workspace = operationalinsights.Workspace(
    "logs", resource_group_name=group.name, retention_in_days={days},
    sku=operationalinsights.WorkspaceSkuArgs(name="PerGB2018"),
)
registry = containerregistry.Registry(
    "registry", resource_group_name=group.name, registry_name="teamregistry",
    sku=containerregistry.SkuArgs(name="Standard"), tags={{"days": "{days}"}},
)
network_ = network.VirtualNetwork(
    "network", resource_group_name=group.name,
    address_space=network.AddressSpaceArgs(address_prefixes=["10.0.0.0/8"]),
)
subnet = network.Subnet(
    "nodes", resource_group_name=group.name, virtual_network_name=network_.name,
    address_prefix="10.1.0.0/16",
    delegations=[network.DelegationArgs(name="d", service_name="Microsoft.ContainerService")],
)
identity = managedidentity.UserAssignedIdentity("cluster", resource_group_name=group.name)
me = authorization.get_client_config()
role = (
    f"/subscriptions/{{me.subscription_id}}/providers/Microsoft.Authorization/roleDefinitions/"
    "4d97b98b-1d4f-4787-a291-c67834d212e7"
)
assignment = authorization.RoleAssignment(
    "joins", scope=subnet.id, principal_id=identity.principal_id,
    principal_type="ServicePrincipal", role_definition_id=role,
)
cluster = containerservice.ManagedCluster(
    "cluster", resource_group_name=group.name, dns_prefix="team",
    identity=containerservice.ManagedClusterIdentityArgs(
        type="UserAssigned", user_assigned_identities=[identity.id],
    ),
    oidc_issuer_profile=containerservice.ManagedClusterOIDCIssuerProfileArgs(enabled=True),
    agent_pool_profiles=[containerservice.ManagedClusterAgentPoolProfileArgs(
        name="system", mode="System", count=1, vm_size="Standard_D4ds_v5",
        vnet_subnet_id=subnet.id,
    )],
    network_profile=containerservice.ContainerServiceNetworkProfileArgs(
        network_plugin="azure", service_cidr="172.16.0.0/16", dns_service_ip="172.16.0.10",
    ),
    addon_profiles={{"omsagent": containerservice.ManagedClusterAddonProfileArgs(
        enabled=True, config={{"logAnalyticsWorkspaceResourceID": workspace.id}},
    )}},
    opts=pulumi.ResourceOptions(depends_on=[assignment]),
)
containerservice.MaintenanceConfiguration(
    "window", resource_group_name=group.name, resource_name_=cluster.name, config_name="default",
    time_in_week=[containerservice.TimeInWeekArgs(day="Saturday", hour_slots=[1, 2])],
)
managedidentity.FederatedIdentityCredential(
    "pods", resource_group_name=group.name, resource_name_=identity.name, subject="system:x:y",
    audiences=["api://AzureADTokenExchange"], issuer=cluster.oidc_issuer_profile.issuer_url,
)
pulumi.export("server", registry.login_server)
pulumi.export("name", cluster.name)
pulumi.export("scope", assignment.scope)
"""

# One with names of its own, that reads what is there.
NAMED_BY_ITSELF = """
import pulumi
from pulumi_azure_native import (
    compute, containerservice, keyvault, monitor, network, privatedns, resources, storage,
)

group = resources.ResourceGroup("group", resource_group_name="platform", location="eastus")
inside = dict(resource_group_name=group.name)
address = network.PublicIPAddress(
    "out", **inside, public_ip_address_name="out", public_ip_allocation_method="Static",
    sku=network.PublicIPAddressSkuArgs(name="Standard"), zones=["1"],
)
gateway = network.NatGateway(
    "nat", **inside, nat_gateway_name="nat", sku=network.NatGatewaySkuArgs(name="Standard"),
    public_ip_addresses=[network.SubResourceArgs(id=address.id)], idle_timeout_in_minutes={minutes},
)
rules = network.NetworkSecurityGroup(
    "rules", **inside, network_security_group_name="rules",
    security_rules=[network.SecurityRuleArgs(
        name="https", access="Allow", direction="Inbound", protocol="Tcp", priority=100,
        source_address_prefix="*", source_port_range="*", destination_address_prefix="*",
        destination_port_range="443",
    )],
)
routes = network.RouteTable(
    "routes", **inside, route_table_name="routes",
    routes=[network.RouteArgs(name="r", address_prefix="0.0.0.0/0", next_hop_type="Internet")],
)
net = network.VirtualNetwork(
    "net", **inside, virtual_network_name="net",
    address_space=network.AddressSpaceArgs(address_prefixes=["10.0.0.0/8"]),
    subnets=[network.SubnetArgs(
        name="nodes", address_prefix="10.1.0.0/16",
        nat_gateway=network.SubResourceArgs(id=gateway.id),
        network_security_group=network.NetworkSecurityGroupArgs(id=rules.id),
        route_table=network.RouteTableArgs(id=routes.id),
    )],
)
found = network.get_subnet_output(
    resource_group_name=group.name, virtual_network_name=net.name, subnet_name="nodes",
)
zone = privatedns.PrivateZone(
    "zone", **inside, location="global", private_zone_name="corp.internal"
)
privatedns.VirtualNetworkLink(
    "link", **inside, location="global", private_zone_name=zone.name, registration_enabled=False,
    virtual_network_link_name="link", virtual_network=privatedns.SubResourceArgs(id=net.id),
)
vault = keyvault.Vault(
    "vault", **inside, vault_name="platform-vault",
    properties=keyvault.VaultPropertiesArgs(
        tenant_id="00000000-0000-0000-0000-000000000001", enable_rbac_authorization=True,
        sku=keyvault.SkuArgs(family="A", name="standard"),
    ),
)
account = storage.StorageAccount(
    "blobs-of-logs", **inside, account_name="platformlogs", kind="StorageV2",
    sku=storage.SkuArgs(name="Standard_LRS"),
)
storage.BlobContainer("blobs", **inside, account_name=account.name, container_name="blobs")
near = compute.ProximityPlacementGroup("near", **inside, proximity_placement_group_name="near")
cluster = containerservice.ManagedCluster(
    "with-pool", **inside, resource_name_="c", dns_prefix="c",
    identity=containerservice.ManagedClusterIdentityArgs(type="SystemAssigned"),
    agent_pool_profiles=[containerservice.ManagedClusterAgentPoolProfileArgs(
        name="system", mode="System", count=1, vm_size="Standard_D4ds_v5", vnet_subnet_id=found.id,
    )],
)
containerservice.AgentPool(
    "gpu", **inside, resource_name_=cluster.name, agent_pool_name="gpu", count=0,
    vm_size="Standard_NC8as_T4_v3", proximity_placement_group_id=near.id, vnet_subnet_id=found.id,
)
monitor.DiagnosticSetting(
    "audit", resource_uri=cluster.id, name="audit", storage_account_id=account.id,
    logs=[monitor.DiagnosticsLogSettingsArgs(category="kube-audit", enabled=True)],
)
pulumi.export("vault", vault.properties.vault_uri)
pulumi.export("blob", account.primary_endpoints.blob)
"""


@pytest.mark.nightly
def test_programs_of_other_teams_come_up_change_and_go_down(bench: Bench) -> None:
    """A program with one registry beside its cluster could not be rehearsed at all."""
    programs = NAMED_BY_AZURE_NATIVE + NAMED_BY_ITSELF
    bench.up(programs.format(days=30, minutes=4))
    outputs = json.loads(bench.pulumi("stack", "output", "--json"))
    assert outputs["server"] == "teamregistry.azurecr.io"
    assert outputs["vault"] == "https://platform-vault.vault.azure.net/"
    assert outputs["blob"] == "https://platformlogs.blob.core.windows.net/"
    bench.write(programs.format(days=60, minutes=10))
    assert bench.update() == {"logs": "update", "registry": "update", "nat": "update"}
    # A fault of azure-native: a refresh puts a separate pool into the cluster's list.
    assert bench.changes("--refresh") == {"with-pool": "update"}
    bench.pulumi("destroy", "--yes", "--skip-preview")
    assert bench.resources() == {}
