"""Which versions of Kubernetes are on offer, and that a PUT is judged by the same list."""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from tests.rehearsal.conftest import new_cluster, wait_until_made

V = "?api-version=2026-08-01"
GROUP = "/resourceGroups/versions"
CLUSTERS = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters"
OFFICIAL, LONG_TERM = "KubernetesOfficial", "AKSLongTermSupport"


def versions(azure: Any, location: str = "eastus") -> dict[str, Any]:
    listed = azure.aks.managed_clusters.list_kubernetes_versions(location).values_property
    return {version.version: version for version in listed}


def put(azure: Any, name: str, **properties: Any) -> Any:
    azure.call("PUT", f"{GROUP}{V}", {"location": "eastus"})
    tier = "Premium" if properties.get("supportPlan") == LONG_TERM else "Free"
    body = new_cluster(**properties) | {"sku": {"name": "Base", "tier": tier}}
    return azure.call("PUT", f"{CLUSTERS}/{name}{V}", body)


def test_the_kubernetes_versions_of_today_are_offered(shop: Any) -> None:
    offered = versions(shop)
    plans = {version: one.capabilities.support_plan for version, one in offered.items()}
    assert plans == {
        **{version: [LONG_TERM] for version in ("1.31", "1.32", "1.33")},
        **{version: [OFFICIAL, LONG_TERM] for version in ("1.34", "1.35", "1.36", "1.37")},
    }
    assert [version for version, one in offered.items() if one.is_default] == ["1.36"]
    assert not any(one.is_preview for one in offered.values())
    upgrades = {patch: one.upgrades for patch, one in offered["1.35"].patch_versions.items()}
    assert upgrades == {
        "1.35.9": ["1.36.5", "1.36.3"],
        "1.35.7": ["1.35.9", "1.36.5", "1.36.3"],
    }


def test_the_articles_era_offers_its_own_versions_with_one_plan(azure: Any) -> None:
    offered = versions(azure)
    assert {"1.18", "1.19", "1.20", "1.35"} < set(offered)
    assert {tuple(one.capabilities.support_plan) for one in offered.values()} == {(OFFICIAL,)}


def test_every_offered_version_is_accepted(shop: Any) -> None:
    for minor, one in versions(shop).items():
        plan = one.capabilities.support_plan[0]
        for version in (minor, *one.patch_versions):
            name = f"v{version.replace('.', '-')}"
            made = put(shop, name, kubernetesVersion=version, supportPlan=plan)
            assert made.status == 201, made


@pytest.mark.parametrize(
    ("requested", "words"),
    [
        ({"kubernetesVersion": "1.30"}, "is on version 1.30, which is not supported"),
        ({"kubernetesVersion": "1.35.99"}, "is on version 1.35.99, which is not supported"),
        ({"kubernetesVersion": "latest"}, "is on version latest, which is not supported"),
        ({"kubernetesVersion": "1.32"}, "1.32.13, which is only available for Long-Term Support"),
    ],
)
def test_versions_that_are_not_offered_are_refused(
    shop: Any, requested: dict[str, str], words: str
) -> None:
    refused = put(shop, "refused", **requested)
    assert (refused.status, refused.body["code"]) == (400, "K8sVersionNotSupported")
    assert "Managed cluster refused " in refused.body["message"]
    assert words in refused.body["message"]
    assert shop.call("GET", f"{CLUSTERS}/refused{V}").status == 404


def test_scripted_versions_apply_to_the_list_and_to_puts(shop: Any) -> None:
    put(shop, "older", kubernetesVersion="1.34")
    wait_until_made(shop, f"{CLUSTERS}/older")
    shop.cloud.offer({"versions": [{"location": "eastus", "offered": ["1.35", "1.36"]}]})

    assert set(versions(shop)) == {"1.35", "1.36"}
    assert "1.34" in versions(shop, "westeurope")
    assert put(shop, "newer", kubernetesVersion="1.34").body["code"] == "K8sVersionNotSupported"
    # A cluster goes on with what it has, and so do its pools.
    assert put(shop, "older", kubernetesVersion="1.34").status == 200
    wait_until_made(shop, f"{CLUSTERS}/older")
    pool = f"{CLUSTERS}/older/agentPools/more{V}"
    body: dict[str, Any] = {"properties": {"vmSize": "Standard_D2s_v3"}}
    assert shop.call("PUT", pool, body).status == 201


def test_the_version_of_a_pool_must_be_offered(shop: Any) -> None:
    cluster = shop.cluster_in("francecentral")
    for version, status in (("1.33", 400), ("1.29", 400), ("1.34", 201)):
        body = {"properties": {"vmSize": "Standard_D2s_v3", "orchestratorVersion": version}}
        assert shop.call("PUT", f"{cluster}/agentPools/pool{V}", body).status == status


def at(shop: Any, name: str, version: str) -> str:
    """A cluster of a version, with a pool beside its system pool."""
    assert put(shop, name, kubernetesVersion=version).status == 201
    cluster = f"{CLUSTERS}/{name}"
    wait_until_made(shop, cluster)
    assert put_pool(shop, cluster).status == 201
    wait_until_made(shop, f"{cluster}/agentPools/more")
    return cluster


def put_pool(shop: Any, cluster: str, **properties: Any) -> Any:
    body = {"properties": {"vmSize": "Standard_D2s_v3", "count": 1, **properties}}
    return shop.call("PUT", f"{cluster}/agentPools/more{V}", body)


def shown(shop: Any, path: str) -> Any:
    return shop.call("GET", f"{path}{V}").body["properties"]


def test_an_upgrade_skips_no_minor_version_and_starts_with_the_control_plane(
    shop: Any,
) -> None:
    """The rehearsal took every version that is on offer, back and forth."""
    cluster = at(shop, "steps", "1.34.10")

    back = put(shop, "steps", kubernetesVersion="1.34")
    assert (back.status, shown(shop, cluster)["currentKubernetesVersion"]) == (200, "1.34.10")
    wait_until_made(shop, cluster)
    too_far = put(shop, "steps", kubernetesVersion="1.36")
    assert (too_far.status, too_far.body["code"]) == (400, "OperationNotAllowed")
    assert "Available upgrades: 1.34.12,1.35.9,1.35.7" in too_far.body["message"]
    too_new = put_pool(shop, cluster, orchestratorVersion="1.35")
    assert (too_new.status, too_new.body["code"]) == (400, "NodePoolMcVersionIncompatible")

    assert put(shop, "steps", kubernetesVersion="1.35").status == 200
    wait_until_made(shop, cluster)
    pool = f"{cluster}/agentPools/more"
    assert shown(shop, cluster)["currentKubernetesVersion"] == "1.35.9"
    assert shown(shop, pool)["currentOrchestratorVersion"] == "1.34.10"
    assert put_pool(shop, cluster, orchestratorVersion="1.35").status == 200
    wait_until_made(shop, pool)
    assert shown(shop, pool)["currentOrchestratorVersion"] == "1.35.9"
    for refused in (
        put(shop, "steps", kubernetesVersion="1.34"),
        put_pool(shop, cluster, orchestratorVersion="1.34.12"),
    ):
        assert refused.body["code"] == "OperationNotAllowed"
        assert refused.body["message"].startswith(
            "Downgrading Kubernetes version 1.35.9 to 1.34.12"
        )


def test_a_cluster_accepts_every_upgrade_that_the_list_offers(shop: Any) -> None:
    """A long-term version goes three minor versions further in the list, and one in a PUT."""
    listed = versions(shop)["1.31"].patch_versions["1.31.14"].upgrades
    assert "1.34.12" in listed
    long_term = {"kubernetesVersion": "1.31.14", "supportPlan": LONG_TERM}
    assert put(shop, "long", **long_term).status == 201
    wait_until_made(shop, f"{CLUSTERS}/long")
    too_far = put(shop, "long", **long_term | {"kubernetesVersion": "1.35.9"})
    assert too_far.body["code"] == "OperationNotAllowed"
    assert f"Available upgrades: {','.join(listed)}" in too_far.body["message"]
    assert put(shop, "long", **long_term | {"kubernetesVersion": "1.34.12"}).status == 200


def test_a_pool_version_above_its_control_plane_is_refused(shop: Any) -> None:
    """Minor versions alone were compared; one alone stood for the newest of its releases."""
    cluster = at(shop, "releases", "1.35.7")
    pool = f"{cluster}/agentPools/more"
    assert shown(shop, pool)["currentOrchestratorVersion"] == "1.35.7"

    too_new = put_pool(shop, cluster, orchestratorVersion="1.35.9")
    assert (too_new.status, too_new.body["code"]) == (400, "NodePoolMcVersionIncompatible")
    assert put_pool(shop, cluster, orchestratorVersion="1.35").status == 200
    wait_until_made(shop, pool)
    assert shown(shop, pool)["currentOrchestratorVersion"] == "1.35.7"

    another = {"properties": {"vmSize": "Standard_D2s_v3", "orchestratorVersion": "1.35"}}
    assert shop.call("PUT", f"{cluster}/agentPools/another{V}", another).status == 201
    wait_until_made(shop, f"{cluster}/agentPools/another")
    assert shown(shop, f"{cluster}/agentPools/another")["currentOrchestratorVersion"] == "1.35.7"


def test_pools_may_be_three_minor_versions_behind(shop: Any) -> None:
    put(shop, "behind", kubernetesVersion="1.31", supportPlan=LONG_TERM)
    cluster = f"{CLUSTERS}/behind"
    wait_until_made(shop, cluster)
    for version in ("1.32", "1.33", "1.34"):
        plan = {"kubernetesVersion": version, "supportPlan": LONG_TERM}
        assert put(shop, "behind", **plan).status == 200
        wait_until_made(shop, cluster)
    refused = put(shop, "behind", kubernetesVersion="1.35", supportPlan=LONG_TERM)
    assert (refused.status, refused.body["code"]) == (400, "NodePoolMcVersionIncompatible")
    assert "cannot be more than 3 versions less" in refused.body["message"]


def test_a_put_of_a_cluster_has_versions_for_all_pools_or_none(shop: Any) -> None:
    """A system pool's version inline, beside pools of their own: what Bicep's users run into."""
    at(shop, "some", "1.34")
    (profile,) = new_cluster()["properties"]["agentPoolProfiles"]
    some = [{**profile, "orchestratorVersion": "1.35"}]
    refused = put(shop, "some", kubernetesVersion="1.35", agentPoolProfiles=some)

    code = "NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged"
    assert (refused.status, refused.body["code"]) == (400, code)
    everywhere = [*some, {**profile, "name": "more", "orchestratorVersion": "1.35"}]
    taken = put(shop, "some", kubernetesVersion="1.35", agentPoolProfiles=everywhere)
    assert taken.status == 200, taken


def test_an_unknown_location_is_refused(shop: Any) -> None:
    with pytest.raises(HttpResponseError, match="NoRegisteredProviderFound"):
        shop.aks.managed_clusters.list_kubernetes_versions("atlantis")
