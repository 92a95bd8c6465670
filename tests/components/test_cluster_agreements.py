"""What of a cluster has to agree: outbound traffic, network policies, zones, plans and windows."""

from typing import Any

import pulumi
import pytest

from components import (
    AksCluster,
    AksClusterArgs,
    AutoscalerArgs,
    MaintenanceArgs,
    NetworkArgs,
    SystemPoolArgs,
)
from components.arguments import ArgumentsError
from tests.conftest import Deploy, Graph

PLACE: dict[str, Any] = {"resource_group_name": "g", "cluster_name": "c", "location": "eastus"}
SUBNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n"
ZONE = "/subscriptions/s/resourceGroups/hub/providers/Microsoft.Network/privateDnsZones/z"
IDENTITY = "/subscriptions/s/x/userAssignedIdentities/i"


def deployed(deploy: Deploy, **args: Any) -> Graph:
    pool = SystemPoolArgs(vm_size="Standard_D4ds_v5")
    opts = pulumi.ResourceOptions(protect=True)
    return deploy(lambda: AksCluster("c", AksClusterArgs(**PLACE, system_pool=pool, **args), opts))


def sent(deploy: Deploy, **args: Any) -> dict[str, Any]:
    inputs: dict[str, Any] = deployed(deploy, **args).only("ManagedCluster").inputs
    return inputs


def test_a_spoke_reaches_the_internet_by_the_hub(deploy: Deploy) -> None:
    network = NetworkArgs(
        subnet_id=SUBNET, outbound="userDefinedRouting", dataplane="cilium", policy="cilium"
    )
    cluster = sent(
        deploy,
        network=network,
        private=True,
        private_dns_zone=ZONE,
        user_assigned_identity_id=IDENTITY,
    )
    assert cluster["networkProfile"].items() >= {
        "outboundType": "userDefinedRouting",
        "networkDataplane": "cilium",
        "networkPolicy": "cilium",
    }.items()  # fmt: skip
    access = {"enablePrivateCluster": True, "privateDNSZone": ZONE}
    assert cluster["apiServerAccessProfile"] == access


def test_what_nobody_sets_is_not_sent(deploy: Deploy) -> None:
    graph = deployed(deploy)
    cluster = graph.only("ManagedCluster").inputs
    assert not {"outboundType", "networkPolicy", "networkDataplane"} & {*cluster["networkProfile"]}
    assert not {"autoScalerProfile", "supportPlan"} & {*cluster}
    assert graph.all("MaintenanceConfiguration") == []


def test_the_autoscalers_profile_is_in_words_of_azure(deploy: Deploy) -> None:
    """Azure has texts for numbers and booleans, and refuses the values themselves."""
    own = AutoscalerArgs(expander="priority", balance_similar_pools=True, idle_minutes=20)
    more = {"autoScalerProfile": {"scan-interval": "20s"}}
    profile = {
        "expander": "priority",
        "balance-similar-node-groups": "true",
        "scale-down-unneeded-time": "20m",
        "scale-down-delay-after-add": "10m",
        "scan-interval": "20s",
    }
    pool = SystemPoolArgs(vm_size="Standard_D4ds_v5", custom_headers={})
    args = AksClusterArgs(**PLACE, system_pool=pool, autoscaler=own, extra=more)
    graph = deploy(lambda: AksCluster("c", args))
    assert graph.only("ManagedCluster").inputs["autoScalerProfile"] == profile
    # azure-native has no dashes in its names.
    assert sent(deploy, autoscaler=own, extra=more)["autoScalerProfile"] == {
        "expander": "priority",
        "balanceSimilarNodeGroups": "true",
        "scaleDownUnneededTime": "20m",
        "scaleDownDelayAfterAdd": "10m",
        "scanInterval": "20s",
    }


def test_a_window_is_for_both_kinds_of_upgrades(deploy: Deploy) -> None:
    window = MaintenanceArgs(day="Saturday", start="02:00", hours=6)
    made = deployed(deploy, maintenance=window).all("MaintenanceConfiguration")
    assert {each.inputs["configName"] for each in made} == {
        "aksManagedAutoUpgradeSchedule",
        "aksManagedNodeOSUpgradeSchedule",
    }
    for each in made:
        # A protected cluster may lose its window.
        assert not each.options.protect
        assert each.inputs["maintenanceWindow"] == {
            "startTime": "02:00",
            "durationHours": 6,
            "utcOffset": "+00:00",
            "schedule": {"weekly": {"dayOfWeek": "Saturday", "intervalWeeks": 1}},
        }


def test_long_term_support_has_its_tier_and_its_plan(deploy: Deploy) -> None:
    cluster = sent(deploy, sku_tier="Premium", support_plan="AKSLongTermSupport")
    assert (cluster["sku"]["tier"], cluster["supportPlan"]) == ("Premium", "AKSLongTermSupport")


@pytest.mark.parametrize(
    ("args", "mistake"),
    [
        ({"network": NetworkArgs(outbound="userDefinedRouting")}, "network.outbound: "),
        (
            {"network": NetworkArgs(outbound="managedNATGateway", subnet_id=SUBNET)},
            "network.outbound: ",
        ),
        ({"network": NetworkArgs(policy="cilium")}, "network.policy: "),
        ({"network": NetworkArgs(dataplane="cilium", policy="azure")}, "network.policy: "),
        ({"private": True, "private_dns_zone": "hub"}, "privateDnsZone: 'hub' is no private DNS"),
        ({"autoscaler": AutoscalerArgs(idle_minutes=-3)}, "autoscaler.idleMinutes: "),
        ({"private_dns_zone": "none"}, "privateDnsZone: is for a private cluster"),
        ({"private": True, "private_dns_zone": ZONE}, "privateDnsZone: a zone of yours needs"),
        ({"support_plan": "AKSLongTermSupport"}, "supportPlan: long-term support needs the tier"),
        ({"maintenance": MaintenanceArgs(day="Someday", start="2")}, "maintenance.day: "),
        ({"maintenance": MaintenanceArgs(day="Sunday", start="25:00")}, "maintenance.start: "),
        ({"autoscaler": AutoscalerArgs(expander="cheapest")}, "autoscaler.expander: "),
    ],
)
def test_what_does_not_agree_is_refused(deploy: Deploy, args: dict[str, Any], mistake: str) -> None:
    with pytest.raises(ArgumentsError) as refused:
        deployed(deploy, **args)
    assert mistake in str(refused.value)
