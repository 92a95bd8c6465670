"""Proofs of the article's rows from Kubernetes: the API server and kubectl."""

import re
from collections.abc import Iterable
from typing import Any

import yaml

from aks_catalogue.device_plugin import CONFLICT_CONDITION, GPU
from aks_catalogue.images import CUDA_MISMATCH
from aks_catalogue.sizes import find
from kube_client.objects import is_true
from tests.article import names
from tests.article.kubectl import Kubectl, gpus
from tests.article.steps import NotShownError, Proof, Way, require

Json = Any

# The oldest version that can schedule GPUs.
LOWEST = (1, 10)

KIBIBYTES_PER_GIBIBYTE = 1 << 20

# The article's own node.
NODE = (
    ("capacity", "cpu", "6"),
    ("capacity", "memory", "57713784Ki"),
    ("allocatable", "cpu", "5916m"),
    ("allocatable", "memory", "51702904Ki"),
)
NODE_NAME = re.compile(rf"aks-{names.FIRST_POOL}-\d{{8}}-\d+")
PROVIDER_ID = re.compile(
    rf"azure:///subscriptions/[0-9a-f-]{{36}}/resourceGroups/MC_{names.GROUP}_{names.CLUSTER}_"
    rf"{names.LOCATION}/providers/Microsoft\.Compute/.+"
)
DEVICE = re.compile(r"Found device 0 with properties:.* name: (.+)")


def smallest_size(way: Way) -> str:
    capacity = _first_node(way)["status"]["capacity"]
    gibibytes = int(capacity["memory"].removesuffix("Ki")) / KIBIBYTES_PER_GIBIBYTE
    require(capacity["cpu"] == "6", f"it has {capacity['cpu']} CPUs")
    # Firmware and kernel use some of the 56 GiB.
    require(55 < gibibytes <= 56, f"it has {gibibytes:.2f} GiB")
    require(capacity.get(GPU) == "1", f"it has {capacity.get(GPU)} GPUs")
    devices = _devices(way)
    require("Tesla K80" in devices, f"the GPU found is {devices}")
    return (
        f"kubectl: a node of {names.SIZE} has 6 CPUs, {gibibytes:.2f} of 56 GiB, 1 GPU; the job's "
        "log calls it Tesla K80"
    )


def version_and(refusal: Proof) -> Proof:
    """The proof that the cluster's version is sufficient, and that a lower one is refused."""

    def proof(way: Way) -> str:
        refused = refusal(way)
        served = way.cluster(names.GROUP).json("version")["serverVersion"]
        version = (int(served["major"]), int(served["minor"]))
        require(version >= LOWEST, f"the API server is {served['gitVersion']}")
        return f"kubectl: the API server is {served['gitVersion']}; {refused}"

    return proof


def credentials(way: Way) -> str:
    lists = [
        *way.azure.requests_for("POST", "/listClusterUserCredential"),
        *way.azure.requests_for("POST", "/listClusterAdminCredential"),
    ]
    require(any(each.is_accepted for each in lists), "ARM got no request for the credentials")
    nodes = way.cluster(names.GROUP).read("get", "nodes", "-o", "name").split()
    require(nodes, "kubectl sees no node")
    return (
        f"log: POST {lists[0].path.rpartition('/')[2]}; kubectl accepts them, nodes: {len(nodes)}"
    )


def namespace(way: Way) -> str:
    phase = way.cluster(names.GROUP).json("get", "namespace", names.NAMESPACE)["status"]["phase"]
    require(phase == "Active", f"it is {phase}")
    return f"kubectl: the namespace {names.NAMESPACE} is Active"


def device_plugin(way: Way) -> str:
    kubectl = way.cluster(names.GROUP)
    live = kubectl.json("get", "daemonset", names.DAEMON_SET, "-n", names.NAMESPACE)
    _as_in(names.DAEMON_SET_FILE, live)
    ready = live["status"]["numberReady"]
    require(ready >= 1, "none of its pods is ready")
    return f"kubectl: the DaemonSet has every value of the article's; ready: {ready}"


def warning_by_hand(way: Way) -> str:
    """The conflict, recorded while the DaemonSet ran on the specialized image."""
    seen = way.outputs["conflict"]
    require(seen == "1 0 True", f"capacity, allocatable and {CONFLICT_CONDITION} were {seen}")
    return (
        "kubectl: with the DaemonSet on the specialized image, the node had 1 GPU and 0 of them "
        f"allocatable ({CONFLICT_CONDITION}); without it, 1"
    )


def warning_by_program(way: Way) -> str:
    kubectl = way.cluster(names.GROUP)
    pods = kubectl.items("pods", "-n", names.NAMESPACE)
    require(pods, "the DaemonSet has no pods at all")
    plugin_nodes = {pod["spec"]["nodeName"] for pod in pods}
    for pool in (names.SPECIALIZED_POOL, names.GENERATION_2_POOL):
        (node,) = kubectl.nodes(pool)
        name = node["metadata"]["name"]
        require(name not in plugin_nodes, f"a pod of the DaemonSet is on {pool}")
        require(not is_true(node, CONFLICT_CONDITION), f"two plugins are on the node of {pool}")
        require(gpus(node) == ("1", "1"), f"the node of {pool} has GPUs: {gpus(node)}")
    return f"kubectl: the DaemonSet's pods are only on {', '.join(sorted(plugin_nodes))}"


def confirmed(way: Way) -> str:
    kubectl = way.cluster(names.GROUP)
    node = _first_node(way)
    name = node["metadata"]["name"]
    require(NODE_NAME.fullmatch(name), f"the node is named {name}")
    require(PROVIDER_ID.fullmatch(node["spec"]["providerID"]), node["spec"]["providerID"])
    (line,) = [line for line in kubectl.read("get", "nodes").splitlines() if name in line]
    require(line.split()[1] == "Ready", f"kubectl get nodes: {line}")
    described = kubectl.read("describe", "node", name)
    count = len(re.findall(rf"{re.escape(GPU)}: +1$", described, re.MULTILINE))
    require(count == 2, f"kubectl describe node shows {GPU}: 1 {count} times, not twice")
    require("accelerator=nvidia" in described, "the node has no label accelerator=nvidia")
    for part, resource, value in NODE:
        actual = node["status"][part][resource]
        require(actual == value, f"{part} of {resource} is {actual}, not {value}")
    return (
        f"kubectl: {name} is Ready; {GPU}: 1 under Capacity and Allocatable; accelerator=nvidia; "
        f"CPU and memory are the article's; {node['status']['capacity']['pods']} pods"
    )


def job(way: Way) -> str:
    live = way.cluster(names.GROUP).json("get", "job", names.JOB)
    _as_in(names.JOB_FILE, live)
    return "kubectl: the job has every value of the article's"


def driver_note(way: Way) -> str:
    path = names.pool_path(names.NO_DRIVER_POOL, names.NEW_GROUP)
    driver = way.azure.get(path)["properties"]["gpuProfile"]["driver"]
    require(driver == "None", f"GET: the pool's driver is {driver}")
    pods = ("--selector", f"app={names.JOB}-nodriver")
    log = way.cluster(names.NEW_GROUP).read("logs", *pods, "--tail=-1")
    require(CUDA_MISMATCH in log, f"the log says: {log}")
    return f'a pool with driver None: kubectl logs says "{CUDA_MISMATCH}"'


def watched_by_hand(way: Way) -> str:
    seen = [line.split()[2] for line in way.outputs["watch"].splitlines()[1:]]
    require(seen[0] == "0/1" and seen[-1] == "1/1", f"COMPLETIONS went {', '.join(seen)}")
    return f"kubectl get jobs --watch: COMPLETIONS went from {seen[0]} to {seen[-1]}"


def watched_by_program(way: Way) -> str:
    output = way.cluster(names.GROUP).read("get", "jobs", names.JOB)
    require("1/1" in output, output)
    return "kubectl get jobs: COMPLETIONS is 1/1"


def logged(way: Way) -> str:
    devices = _devices(way)
    require("Tesla K80" in devices, f"the devices found are {devices}")
    return f"kubectl logs of the pods by app={names.JOB}: {', '.join(devices)}; accuracy per step"


def cleaned_up(way: Way) -> str:
    objects = way.cluster(names.GROUP).items("jobs,pods", "--selector", f"app={names.JOB}")
    require(not objects, f"{len(objects)} objects of the job still exist")
    return "kubectl: neither the job nor a pod of it exists"


def _first_node(way: Way) -> Json:
    (node,) = way.cluster(names.GROUP).nodes(names.FIRST_POOL)
    return node


def _devices(way: Way) -> list[str]:
    """The device that each run of the sample found; it must be the GPU of the node's size."""
    devices = [
        _device(kubectl, pod)
        for kubectl in way.clusters.values()
        for pod in kubectl.items("pods", "--selector", f"app={names.JOB}")
    ]
    require(devices, f"there is no pod with app={names.JOB}")
    return devices


def _device(kubectl: Kubectl, pod: Json) -> str:
    log = kubectl.read("logs", pod["metadata"]["name"])
    device = DEVICE.search(log)
    node = kubectl.json("get", "node", pod["spec"]["nodeName"])
    size = find(node["metadata"]["labels"]["node.kubernetes.io/instance-type"])
    if device is None or size is None:
        raise NotShownError(f"the log names no device: {log}")
    require(size.gpu_model in device[1], f"on {size.name} the log names {device[1]}")
    steps = re.findall(r"Accuracy at step (\d+): [\d.]+", log)
    require(steps[:1] == ["0"] and len(steps) > 1, "the log names no accuracy per step")
    return device[1].strip()


def _as_in(file: str, live: Json) -> None:
    expected = yaml.safe_load((names.MANIFESTS / file).read_text(encoding="utf-8"))
    paths = list(missing(expected, live))
    require(not paths, f"not as in the article: {', '.join(paths)}")


def missing(expected: Json, live: Json, path: str = "") -> Iterable[str]:
    """The paths of expected values that are missing or differ; other values do not matter."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            below = live.get(name) if isinstance(live, dict) else None
            yield from missing(value, below, f"{path}.{name}".removeprefix("."))
    elif isinstance(expected, list):
        items = live if isinstance(live, list) else []
        for number, value in enumerate(expected):
            if not any(not list(missing(value, each)) for each in items):
                yield f"{path}[{number}]"
    # A quantity is a number in the article, and a string in the API server's response.
    elif str(expected) != str(live):
        yield path
