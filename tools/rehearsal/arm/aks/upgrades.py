"""The upgrade profiles: the versions to which a cluster and its pools can be upgraded."""

from collections.abc import Iterable

from aks_catalogue.kubernetes import DEFAULT, full_version
from rehearsal.arm.aks import versions
from rehearsal.arm.aks.places import CLUSTER_TYPE, CLUSTERS, POOLS
from rehearsal.arm.compute.usages import POOL_TYPE
from rehearsal.arm.request import Answer, Json, Request, Route
from rehearsal.arm.state import Resource


def of_cluster(request: Request) -> Answer:
    cluster = CLUSTERS.existing(request)
    release = cluster.properties["currentKubernetesVersion"]
    body = {
        # AKS writes lower case here, and a capital for pools.
        "id": f"{cluster.id}/upgradeprofiles/default",
        "name": "default",
        "type": f"{CLUSTER_TYPE}/upgradeprofiles",
        "properties": {
            "controlPlaneProfile": {
                "kubernetesVersion": release,
                "osType": "Linux",
                "upgrades": _named(versions.upgrades(_offered(request, cluster), release)),
            },
            "agentPoolProfiles": None,
        },
    }
    return Answer(200, body)


def of_pool(request: Request) -> Answer:
    cluster, pool = CLUSTERS.existing(request), POOLS.existing(request)
    release = pool.properties["currentOrchestratorVersion"]
    most = _numbers(cluster.properties["currentKubernetesVersion"])
    # A pool cannot be newer than its control plane.
    reachable = [
        other
        for other in _releases(request, cluster)
        if _numbers(release) < _numbers(other) <= most
    ]
    image = pool.properties.get("nodeImageVersion")
    body = {
        "id": f"{pool.id}/upgradeProfiles/default",
        "name": "default",
        "type": f"{POOL_TYPE}/upgradeProfiles",
        "properties": {
            "kubernetesVersion": release,
            "osType": pool.properties["osType"],
            **({"latestNodeImageVersion": image} if image else {}),
            **({"upgrades": _named(reachable)} if reachable else {}),
        },
    }
    return Answer(200, body)


def of_new_pools(request: Request) -> Answer:
    cluster = CLUSTERS.existing(request)
    most = _numbers(cluster.properties["currentKubernetesVersion"])
    default = full_version(DEFAULT)
    usable = [
        {"default": True} | named if named["kubernetesVersion"] == default else named
        for named in _named(r for r in _releases(request, cluster) if _numbers(r) <= most)
    ]
    body = {
        "id": f"{cluster.id}/availableAgentPoolVersions/default",
        "name": "default",
        "type": f"{CLUSTER_TYPE}/availableAgentPoolVersions",
        "properties": {"agentPoolVersions": usable},
    }
    return Answer(200, body)


def _offered(request: Request, cluster: Resource) -> versions.Offered:
    return versions.offered(request.offers, cluster.location)


def _releases(request: Request, cluster: Resource) -> list[str]:
    """Returns every release on offer, the newest first."""
    releases = [
        release for minor in _offered(request, cluster).values() for release in minor.patches
    ]
    return sorted(releases, key=_numbers, reverse=True)


def _named(releases: Iterable[str]) -> list[Json]:
    return [{"kubernetesVersion": release} for release in releases]


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


ROUTES = (
    Route("GET", f"{CLUSTERS.path}/upgradeProfiles/default", of_cluster),
    Route("GET", f"{POOLS.path}/upgradeProfiles/default", of_pool),
    Route("GET", f"{CLUSTERS.path}/availableAgentPoolVersions", of_new_pools),
)
