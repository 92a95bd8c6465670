"""Programs of the kinds that other teams have, with nothing of this project: one life for all."""

import json
from pathlib import Path

import pytest

from rehearsal.pace import TIME_SCALE_VARIABLE
from tests.aksgpu.rehearse.test_own_program_on_engine import run

# No cheaper test has the engine, the SDK's classes and a second run together.
pytestmark = [pytest.mark.engine, pytest.mark.long]

# As Pulumi's template for AKS: an administrator's kubeconfig, and pools that are all inline.
TEMPLATE = """
import base64
import pulumi
from pulumi_azure_native import (
    authorization, containerregistry, containerservice, keyvault, managedidentity, network,
    resources,
)

location = pulumi.Config("azure-native").require("location")
group = resources.ResourceGroup("group")
inside = dict(resource_group_name=group.name)
net = network.VirtualNetwork("net", **inside, address_space={"address_prefixes": ["10.0.0.0/8"]})
subnet = network.Subnet(
    "nodes", **inside, virtual_network_name=net.name, address_prefix="10.240.0.0/16",
)
identity = managedidentity.UserAssignedIdentity("identity", **inside)
cluster = containerservice.ManagedCluster(
    "cluster", **inside, dns_prefix="theirs",
    identity={"type": "UserAssigned", "user_assigned_identities": [identity.id]},
    agent_pool_profiles=[
        {"name": "system", "count": 1, "vm_size": "Standard_A2_v2", "mode": "System",
         "vnet_subnet_id": subnet.id},
        {"name": "users", "count": 1, "vm_size": "Standard_B4als_v2", "mode": "User",
         "vnet_subnet_id": subnet.id, "enable_auto_scaling": True, "min_count": 1, "max_count": 2},
    ],
    network_profile={
        "network_plugin": "azure", "service_cidr": "10.10.0.0/16", "dns_service_ip": "10.10.0.10",
        "dockerBridgeCidr": "172.17.0.1/16",
    },
)
access = containerservice.list_managed_cluster_admin_credentials_output(
    resource_group_name=group.name, resource_name=cluster.name
)
kubeconfig = access.kubeconfigs[0].value.apply(lambda text: base64.b64decode(text).decode())
pulumi.export("kubeconfig", pulumi.Output.secret(kubeconfig))
"""

# A registry from which the cluster pulls, and a key vault.
AROUND = """
registry = containerregistry.Registry("registry", **inside, sku={"name": "Basic"})
authorization.RoleAssignment(
    "pulls", scope=registry.id, principal_type="ServicePrincipal",
    principal_id=cluster.identity_profile["kubeletidentity"].object_id,
    role_definition_id=pulumi.Output.concat(
        "/subscriptions/", authorization.get_client_config().subscription_id,
        "/providers/Microsoft.Authorization/roleDefinitions/7f951dda-4ed3-4680-a7ca-43fe172d538d",
    ),
)
tenant = pulumi.Config("azure-native").require("tenantId")
vault = keyvault.Vault(
    "vault", **inside,
    properties={"tenant_id": tenant, "sku": {"family": "A", "name": "standard"}},
)
rights = {"keys": ["get"]}
for name, principal in (("nodes", identity.principal_id), ("others", registry.name)):
    keyvault.AccessPolicy(
        name, **inside, vault_name=vault.name,
        policy={"tenant_id": tenant, "object_id": principal, "permissions": rights},
    )
key = keyvault.Key("key", **inside, vault_name=vault.name, properties={"kty": "RSA"})
pulumi.export("key", key.id)
"""

# Pools that are resources of their own.
POOLS = """
for name in ("one", "two"):
    containerservice.AgentPool(
        name, **inside, resource_name_=cluster.name, agent_pool_name=name, count=1, mode="User",
        vm_size="Standard_D2s_v7", vnet_subnet_id=subnet.id,
    )
"""


def test_programs_of_strangers_come_up_and_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of nineteen did; the others had red ends, missing types, sizes, settings, or drift."""
    monkeypatch.setenv(TIME_SCALE_VARIABLE, "0.05")
    (tmp_path / "Pulumi.yaml").write_text("name: theirs\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text(
        "config:\n  azure-native:location: westeurope\n  azure-native:tenantId: their-own\n"
    )
    (tmp_path / "__main__.py").write_text(TEMPLATE + AROUND + POOLS)
    try:
        code, printed = run(tmp_path, "rehearse")
        assert code == 0, printed
        assert "GPUs:   the cluster has none" in printed
        assert "dockerBridgeCidr: is not a property" in printed
        assert "The paths in MadeUp are the rehearsal's own." in printed
        assert "autoScalerProfile" not in printed
        # Of a pool that only its cluster's list has.
        assert "inline pool" in printed
        assert "Standard_B4als_v2" in printed
        log = (tmp_path / ".rehearsal" / "requests.jsonl").read_text().splitlines()
        puts = [line for line in map(json.loads, log) if line["method"] == "PUT"]
        (key,) = [
            put
            for put in puts
            if "/MadeUp.keyvault/vault/" in put["path"] and "/Key/" in put["path"]
        ]

        code, printed = run(tmp_path, "rehearse")
        assert code == 0, printed
        assert "No changes" in printed
    finally:
        code, printed = run(tmp_path, "rehearse-down")
    assert code == 0, printed
    assert "The stack dev is destroyed." in printed
    assert key["status"] == 201
