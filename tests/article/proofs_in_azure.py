"""Proofs of the article's rows from Azure: the log of requests, and GET responses."""

from collections.abc import Mapping

from rehearsal.arm.resources.registrations import FEATURE_SECONDS
from tests.article import names
from tests.article.arm_view import Request
from tests.article.kubectl import Kubectl, gpus
from tests.article.steps import NotShownError, Way, require

# Operations take this fraction of their time in Azure.
TIME_SCALE = 0.2

SPECIALIZED = {names.IMAGE_HEADER: "true"}
SPECIALIZED_GENERATION_2 = {names.IMAGE_HEADER: "true", names.GENERATION_HEADER: "true"}


def linux_only_by_hand(way: Way) -> str:
    path = names.pool_path(names.WINDOWS_POOL)
    put, pool = _last_put(way, path), f"a Windows pool of {names.SIZE}"
    require(not put.is_accepted, f"the cloud accepted {pool}: its PUT returned {put.status}")
    require(way.azure.get(path) is None, "the Windows pool exists, though its PUT was refused")
    return f"the PUT of {pool} returned {put.status}; a GET of it, 404"


def linux_only_by_program(way: Way) -> str:
    _nothing_was_sent(way)
    return (
        "a Windows pool in the stack file: no PUT reached ARM, and a GET of the group returned 404"
    )


def old_kubernetes_by_hand(way: Way) -> str:
    put = _last_put(way, names.cluster_path(names.GROUP, names.OLD_CLUSTER))
    require(not put.is_accepted, f"the cloud accepted Kubernetes {names.OLD_KUBERNETES}")
    return f"the PUT with Kubernetes {names.OLD_KUBERNETES} returned {put.status}"


def old_kubernetes_by_program(way: Way) -> str:
    _nothing_was_sent(way)
    return f"Kubernetes {names.OLD_KUBERNETES} never reached ARM"


def group(way: Way) -> str:
    resource_group = way.azure.get(names.group_path(names.GROUP))
    require(resource_group, f"there is no resource group {names.GROUP}")
    name, location = resource_group["name"], resource_group["location"]
    require(name == names.GROUP, f"it is named {name}")
    require(location == names.LOCATION, f"it is in {location}")
    return f"GET: {names.GROUP} is in {names.LOCATION}"


def cluster(way: Way) -> str:
    resource = way.azure.get(names.cluster_path(names.GROUP))
    require(resource, f"there is no cluster {names.CLUSTER}")
    properties = resource["properties"]
    require(properties["provisioningState"] == "Succeeded", properties["provisioningState"])
    profiles = {profile["name"]: profile for profile in properties["agentPoolProfiles"]}
    pool = profiles[names.FIRST_POOL]
    require(pool["vmSize"] == names.SIZE, f"its pool's size is {pool['vmSize']}")
    require(pool["count"] == 1, f"its pool has {pool['count']} nodes")
    return f"GET: {names.CLUSTER} has one node of {names.SIZE}, and its state is Succeeded"


def feature(way: Way) -> str:
    path = f"/providers/Microsoft.Features/providers/{names.PROVIDER}/features/{names.FEATURE}"
    state = way.azure.get(path)["properties"]["state"]
    require(state == "Registered", f"the feature is {state}")
    of_feature = way.azure.requests_for("POST", f"{path}/register")
    of_provider = way.azure.requests_for("POST", f"{names.PROVIDER}/register")
    require(of_feature and of_provider, "the feature or the provider was never registered")
    wait = (of_provider[-1].time - of_feature[0].time).total_seconds()
    takes = FEATURE_SECONDS * TIME_SCALE
    require(
        wait >= takes,
        f"the provider was registered {wait:.1f} s after the feature, which takes {takes:.1f} s",
    )
    used = [put for put in way.azure.requests() if put.header(names.IMAGE_HEADER)]
    require(used, "nothing was created with the image")
    is_later = used[0].time > of_provider[-1].time
    require(is_later, "the image was used before the provider was registered")
    polls = [get for get in way.azure.requests() if get.method == "GET" and "/features" in get.path]
    return (
        f"log: POST of the feature; {len(polls)} GETs of its state; POST of the provider after "
        f"{wait:.0f} s (the feature took {takes:.0f} s); then the first PUT with the header"
    )


def new_cluster(way: Way) -> str:
    put = _last_put(way, names.cluster_path(names.NEW_GROUP))
    _sent_with(put, SPECIALIZED)
    kubectl = way.cluster(names.NEW_GROUP)
    plugins = kubectl.items("daemonsets", "--all-namespaces")
    require(not plugins, f"the cluster has {len(plugins)} DaemonSets")
    return f"{_offers_gpus(kubectl, names.FIRST_POOL)}, and the cluster has no DaemonSet"


def existing_cluster(way: Way) -> str:
    return _specialized_pool(way, names.SPECIALIZED_POOL, names.SIZE, SPECIALIZED)


def generation_2(way: Way) -> str:
    return _specialized_pool(
        way, names.GENERATION_2_POOL, names.GENERATION_2_SIZE, SPECIALIZED_GENERATION_2
    )


def regular_image(way: Way) -> str:
    regular = _last_put(way, names.cluster_path(names.GROUP))
    sent = [name for name in SPECIALIZED_GENERATION_2 if regular.header(name)]
    require(not sent, f"the cluster was created with {', '.join(sent)}")
    later = _last_put(way, names.pool_path(names.SPECIALIZED_POOL))
    require(later.is_accepted, f"the PUT of its specialized pool returned {later.status}")
    require(later.time > regular.time, "its specialized pool is older than the cluster")
    return (
        f"log: the cluster's PUT ({regular.status}) has neither header; later the PUT of its pool "
        f"{names.SPECIALIZED_POOL} ({later.status}) has one"
    )


def _specialized_pool(way: Way, pool: str, size: str, headers: Mapping[str, str]) -> str:
    path = names.pool_path(pool)
    _sent_with(_last_put(way, path), headers)
    properties = way.azure.get(path)["properties"]
    require(properties["vmSize"] == size, f"GET: the size is {properties['vmSize']}")
    require(properties["count"] == 1, f"GET: the pool has {properties['count']} nodes")
    kubectl = way.cluster(names.GROUP)
    node = kubectl.nodes(pool)[0]["metadata"]["name"]
    on_node = ("--field-selector", f"spec.nodeName={node}")
    plugins = kubectl.items("pods", "-n", names.NAMESPACE, *on_node)
    require(not plugins, "the DaemonSet's plugin runs on its node")
    sent = ", ".join(f"{name}: {value}" for name, value in headers.items())
    return f"log: PUT with {sent}; {_offers_gpus(kubectl, pool)}, without the DaemonSet"


def _offers_gpus(kubectl: Kubectl, pool: str) -> str:
    (node,) = kubectl.nodes(pool)
    require(gpus(node) == ("1", "1"), f"its node has GPUs (capacity, allocatable): {gpus(node)}")
    return f"kubectl: the node of {pool} has 1 GPU, allocatable"


def _sent_with(put: Request, headers: Mapping[str, str]) -> None:
    require(put.is_accepted, f"its PUT returned {put.status}")
    sent = {name: put.header(name) for name in SPECIALIZED_GENERATION_2 if put.header(name)}
    require(sent == headers, f"its PUT had the headers {sent}")


def _nothing_was_sent(way: Way) -> None:
    sent = [
        request
        for request in way.azure.requests()
        if request.method != "GET" and names.REFUSED_GROUP.lower() in request.path.lower()
    ]
    require("refused" in way.outputs, "the stack was not refused")
    require(not sent, f"{len(sent)} requests for the refused stack reached ARM")
    require(way.azure.get(names.group_path(names.REFUSED_GROUP)) is None, "its group exists")


def _last_put(way: Way, path: str) -> Request:
    puts = way.azure.requests_for("PUT", path)
    if not puts:
        raise NotShownError(f"no PUT of {path} reached ARM")
    return puts[-1]
